// Products of quantised rows with one activation vector, for decode. A wave streams ROWS rows at a time (stream.h); each
// lane takes one unit of 32 weights of every row.
//
// Activations are F16 pairs in the format's slot order, normalised for each unit of 32 by its largest value, so that no
// product overflows; units are added in F32 in the order of the lanes' butterfly. Nothing depends on the grid.
#pragma once
#include "stream.h"

namespace hb {

constexpr u32 VECTOR_STRIDE = 20;  // words between units in LDS: 16 and a pad that keeps 16-byte reads free of conflicts

// An activation vector of `units` units in LDS.
template <class Format>
struct Activations {
    u32* pairs;    // [units][VECTOR_STRIDE]
    float* scale;  // [units]
    float* sums;   // [units][2], only for formats with offsets

    static constexpr u32 WORDS_A_UNIT = VECTOR_STRIDE + 1 + 2 * Format::OFFSETS;
    static constexpr float TOP = Format::CODE_UNIT > 1.0f ? Format::CODE_UNIT : 1.0f;  // the largest normalised value

    DEVICE_MEMBER static Activations at(u32* words, u32 units) {
        return {words, (float*)(words + units * VECTOR_STRIDE), (float*)(words + units * (VECTOR_STRIDE + 1))};
    }

    // All threads: normalise x [UNITS * 32]; a thread takes half a unit, its neighbour the other half.
    template <u32 THREADS, u32 UNITS>
    DEVICE_MEMBER void fill(const float* x) const {
#pragma unroll
        for (u32 first = 0; first < 2 * UNITS; first += THREADS) {
            const u32 half = first + thread_index(), inside = smaller(half, 2 * UNITS - 1);
            float value[16], amax = 0.0f;
#pragma unroll
            for (u32 i = 0; i < 4; ++i) {
                const F32x4 four = ((const F32x4*)(x + inside * 16))[i];
                value[4 * i] = four.x, value[4 * i + 1] = four.y, value[4 * i + 2] = four.z, value[4 * i + 3] = four.w;
            }
#pragma unroll
            for (u32 i = 0; i < 16; ++i) amax = larger(amax, magnitude(value[i]));
            amax = larger(amax, lane_xor<1>(amax));
            if (half < 2 * UNITS) store(value, amax, half);
        }
    }

    DEVICE_MEMBER void store(const float (&value)[16], float amax, u32 half) const {
        const float to_top = amax > 0.0f ? TOP / amax : 0.0f;
        u32 words[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        float sum = 0.0f;
#pragma unroll
        for (u32 i = 0; i < 16; ++i) {
            const u16 rounded = float_to_half(value[i] * to_top);
            words[Format::slot(i) / 2] |= (u32)rounded << 16 * (Format::slot(i) % 2);
            sum += half_to_float(rounded);
        }
        U32x4* target = (U32x4*)(pairs + half / 2 * VECTOR_STRIDE + half % 2 * 8);
        target[0] = {words[0], words[1], words[2], words[3]};
        target[1] = {words[4], words[5], words[6], words[7]};
        const float back = amax / TOP;
        if (half % 2 == 0) scale[half / 2] = back * Format::CODE_UNIT;
        if constexpr (Format::OFFSETS) sums[half] = sum * back;
    }
};

// Adds one chunk's products to `sum`: lane l takes unit chunk * 32 + l of each row, and of the vector unit
// first_unit + chunk * 32 + l.
template <class Format, class C, bool WHOLE, u32 ROWS, u32 MATRICES>
DEVICE void add_chunk(float (&sum)[ROWS], const u8* buffer, const RowBlock<ROWS, MATRICES>& rows, u32 chunk, u32 units,
                      const Activations<Format>& x, u32 first_unit, const u32* table) {
    if (!WHOLE && chunk * LANE_UNITS + lane() >= units) return;
    const u32 unit_index = first_unit + chunk * LANE_UNITS + lane();
    u32 vector[16];
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
        const U32x4 four = ((const U32x4*)(x.pairs + unit_index * VECTOR_STRIDE))[i];
        vector[4 * i] = four.x, vector[4 * i + 1] = four.y, vector[4 * i + 2] = four.z, vector[4 * i + 3] = four.w;
    }
    const float scale = x.scale[unit_index];
#pragma unroll
    for (u32 r = 0; r < ROWS; ++r) {
        u32 words[Format::WORDS + 1];
        Unit unit;
        const u32 within = lane() % C::BLOCK_UNITS;
        const u32 shift = rows.template shift<C>(r, chunk * C::BYTES);
        Format::load(words, buffer + r * C::ROW_STRIDE, shift + lane() / C::BLOCK_UNITS * C::UNIT_STRIDE, within);
        Format::decode(words, within, table, unit);
        float dot;
        if constexpr (Format::SCALES == 1) {
            dot = unit.scale[0] * dot_pairs<16>(unit.pairs, vector);
        } else {
            dot = fused(unit.scale[0], dot_pairs<8>(unit.pairs, vector), unit.scale[1] * dot_pairs<8>(unit.pairs + 8, vector + 8));
        }
        sum[r] = fused(scale, dot, sum[r]);
        if constexpr (Format::OFFSETS && Format::SCALES == 1)
            sum[r] = fused(unit.offset[0], x.sums[2 * unit_index] + x.sums[2 * unit_index + 1], sum[r]);
        if constexpr (Format::OFFSETS && Format::SCALES == 2) {
            sum[r] = fused(unit.offset[0], x.sums[2 * unit_index], sum[r]);
            sum[r] = fused(unit.offset[1], x.sums[2 * unit_index + 1], sum[r]);
        }
    }
}

}  // namespace hb
