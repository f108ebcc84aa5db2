// Quantised weights to F32, one unit of 32 a thread: what a matrix product multiplies with, for checks and for tensors
// that other code wants plain.
//
//   K_FORMAT   a format of blocks.h or blocks_256.h
#include "blocks_256.h"

using namespace hb;

// weights: `units` units of 32 in blocks -> out [units * 32]. Grid (units / 128).
KERNEL(128) unpack(const u8* weights, float* out, u64 units) {
    using Format = K_FORMAT;
    SHARED u32 table[Format::TABLE_WORDS + 1];
    Format::template prepare<128>(table);
    barrier();
    constexpr u32 UNITS = Format::WEIGHTS / 32;
    const u64 at = (u64)group_x() * 128 + thread_index();
    if (at >= units) return;
    u32 words[Format::WORDS + 1];
    Unit unit;
    Format::load(words, weights, at / UNITS * Format::BYTES, (u32)(at % UNITS));
    Format::decode(words, (u32)(at % UNITS), table, unit);
#pragma unroll
    for (u32 e = 0; e < 32; ++e) {
        const u32 slot = Format::slot(e), pair = unit.pairs[slot / 2];
        const float code = slot % 2 ? high_half(pair) : low_half(pair);
        const float offset = Format::OFFSETS ? unit.offset[e / 16] : 0.0f;
        out[at * 32 + e] = unit.scale[e / 16] * Format::CODE_UNIT * code + offset;
    }
}
EXPORT_KERNEL(unpack)
