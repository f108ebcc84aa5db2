// Quantised weights to plain F16 or F32: for dense products by a library, and for checks.
//
//   K_FORMAT   a format of blocks.h or blocks_256.h
//   K_OUTPUT   u16 (F16) or float
//
// A wave takes 64 neighbouring units, two a lane: their raw blocks come in as 16-byte pieces that lie side by side, and
// the weights leave through the same LDS as pieces that lie side by side, whatever the sizes of block and number.
#include "blocks_256.h"

using namespace hb;

using Format = K_FORMAT;
using Output = K_OUTPUT;

constexpr u32 THREADS = 256, WAVES = THREADS / WAVE, LANE_UNITS = 2, WAVE_UNITS = LANE_UNITS * WAVE;
constexpr u32 BLOCK_UNITS = Format::WEIGHTS / 32, BYTES = WAVE_UNITS / BLOCK_UNITS * Format::BYTES;
constexpr u32 PIECES = BYTES / 16, CARRIED = (PIECES + WAVE - 1) / WAVE;
constexpr u32 PASSES = sizeof(Output) / 2;  // a lane stages 64 bytes at a time: a unit as F16, half a unit as F32
constexpr u32 STAGE_STRIDE = 80;            // bytes between them: 16-byte accesses then meet all banks
constexpr u32 RAW_BYTES = BYTES + 16;       // decoders may read one word too many
constexpr u32 POOL_BYTES = RAW_BYTES > WAVE * STAGE_STRIDE ? RAW_BYTES : WAVE * STAGE_STRIDE;
static_assert(BYTES % 16 == 0);

// The wave's raw blocks, of which `left` bytes are there, into its LDS.
DEVICE void fetch_blocks(u8* own, const u8* blocks, u64 left) {
    if (uniform(left >= BYTES)) {
        U32x4 piece[CARRIED];
#pragma unroll
        for (u32 i = 0; i < CARRIED; ++i) piece[i] = ((const U32x4*)blocks)[smaller(i * WAVE + lane(), PIECES - 1)];
#pragma unroll
        for (u32 i = 0; i < CARRIED; ++i) ((U32x4*)own)[smaller(i * WAVE + lane(), PIECES - 1)] = piece[i];
    } else {
        for (u32 at = lane(); at < left; at += WAVE) own[at] = blocks[at];
    }
}

DEVICE float weight_at(const Unit& unit, u32 e) {
    const u32 slot = Format::slot(e), pair = unit.pairs[slot / 2];
    const float code = slot % 2 ? high_half(pair) : low_half(pair);
    return unit.scale[e / 16] * Format::CODE_UNIT * code + (Format::OFFSETS ? unit.offset[e / 16] : 0.0f);
}

// This lane's 64 bytes of pass `pass` into its place of the stage.
DEVICE void stage_weights(u8* stage, const Unit& unit, u32 pass) {
    u32 word[16];
#pragma unroll
    for (u32 i = 0; i < 16; ++i) {
        if constexpr (PASSES == 1) {
            word[i] = pack_halves(weight_at(unit, 2 * i), weight_at(unit, 2 * i + 1));
        } else {
            word[i] = as_bits(weight_at(unit, pass * 16 + i));
        }
    }
    U32x4* own = (U32x4*)(stage + lane() * STAGE_STRIDE);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) own[i] = {word[4 * i], word[4 * i + 1], word[4 * i + 2], word[4 * i + 3]};
}

// weights: `units` units of 32 in blocks -> out [units * 32]. Grid (units / 512).
KERNEL(256) unpack(const u8* weights, K_OUTPUT* out, u64 units) {
    SHARED u32 table[Format::TABLE_WORDS + 1];
    SHARED u8 pool[WAVES][POOL_BYTES] __attribute__((aligned(16)));
    u8* own = pool[wave()];
    const u64 first = ((u64)group_x() * WAVES + wave()) * WAVE_UNITS, total = units / BLOCK_UNITS * Format::BYTES;
    const u64 begin = first / BLOCK_UNITS * Format::BYTES;
    if (begin < total) fetch_blocks(own, weights + begin, total - begin);
    Format::template prepare<THREADS>(table);
    if constexpr (Format::TABLE_WORDS > 0) barrier();
    wave_fence();
    u32 words[LANE_UNITS][Format::WORDS + 1];
#pragma unroll
    for (u32 j = 0; j < LANE_UNITS; ++j) {
        const u32 at = j * WAVE + lane();
        Format::load(words[j], own, at / BLOCK_UNITS * Format::BYTES, at % BLOCK_UNITS);
    }
#pragma unroll
    for (u32 j = 0; j < LANE_UNITS; ++j) {
        Unit unit;
        Format::decode(words[j], (j * WAVE + lane()) % BLOCK_UNITS, table, unit);
#pragma unroll
        for (u32 pass = 0; pass < PASSES; ++pass) {
            wave_fence();
            stage_weights(own, unit, pass);
            wave_fence();
#pragma unroll
            for (u32 i = 0; i < 4; ++i) {
                const u32 source = (i * WAVE + lane()) / 4, quarter = lane() % 4;
                const u64 target = first + j * WAVE + source;
                const U32x4 four = *(const U32x4*)(own + source * STAGE_STRIDE + quarter * 16);
                if (target < units) *(U32x4*)((u8*)out + (target * PASSES + pass) * 64 + quarter * 16) = four;
            }
        }
    }
}
EXPORT_KERNEL(unpack)
