// Products of quantised rows with one activation vector, for decode. A wave streams ROWS rows at a time (stream.h); each
// lane takes one unit of 32 weights of every row.
//
// Activations are normalised for each unit of 32 by its largest value, to 16-bit integers in the order of the format's
// codes, or to F16 where the weights are; units are added in F32 in the order of the lanes' butterfly. Nothing depends on
// the grid.
#pragma once
#include "stream.h"
#include "unit_dots.h"

namespace hb {

constexpr u32 VECTOR_STRIDE = 20;  // words between units in LDS: 16 and a pad that keeps 16-byte reads free of conflicts
constexpr float LEAST_ACTIVATION = 1e-34f;  // a unit without larger ones counts as zero

// The values of half `half` of a vector, 16 of unit half / 2, in the order of `Order`.
template <class Order>
DEVICE void load_half(float (&value)[16], const float* x, u32 half) {
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
        const F32x4 four = ((const F32x4*)(x + half / 2 * 32))[Order::quad(half % 2, i)];
        value[4 * i] = four.x, value[4 * i + 1] = four.y, value[4 * i + 2] = four.z, value[4 * i + 3] = four.w;
    }
}
// The largest magnitude in a unit, of which the neighbouring lane has the other half. NaN counts as the largest.
DEVICE float largest_in_unit(const float (&value)[16]) {
    u32 largest = 0;
#pragma unroll
    for (u32 i = 0; i < 16; ++i) largest = larger(largest, as_bits(magnitude(value[i])));
    return as_float(larger(largest, lane_xor<1>(largest)));
}

template <u32 COUNT>
DEVICE void load_quads(u32 (&words)[COUNT], const u32* source) {
#pragma unroll
    for (u32 i = 0; i < COUNT; i += 4) {
        const U32x4 four = *(const U32x4*)(source + i);
        words[i] = four.x, words[i + 1] = four.y, words[i + 2] = four.z, words[i + 3] = four.w;
    }
}

// A vector in LDS as integers.
template <class Format>
struct Activations {
    using Order = typename Dot<Format>::ORDER;
    static constexpr u32 WORDS_A_UNIT = VECTOR_STRIDE + 3;
    static constexpr float TOP = 32639.0f;  // the largest whose high plane, rounded, fits a signed byte
    u32* planes;   // [units][VECTOR_STRIDE]: eight words of the high plane, eight of the low one
    float* scale;  // [units]
    i32* sums;     // [units][2]

    DEVICE_MEMBER static Activations at(u32* words, u32 units) {
        return {words, (float*)(words + units * VECTOR_STRIDE), (i32*)(words + units * (VECTOR_STRIDE + 1))};
    }
    DEVICE_MEMBER void store(const float (&value)[16], u32 half, bool is_there) const {
        const float amax = largest_in_unit(value), to_top = amax > LEAST_ACTIVATION ? TOP / amax : 0.0f;
        if (!is_there) return;
        u32 biased[16], high[4], low[4];
        // 1.5 * 2^23 + 128 leaves the rounded integer, plus 128, in the low 16 bits: the high plane rounds to nearest.
#pragma unroll
        for (u32 i = 0; i < 16; ++i) biased[i] = as_bits(fused(value[i], to_top, 12583040.0f));
        i32 high_sum = 0, low_sum = 0;
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
            const u32 first = permute<0x5140>(biased[Order::element(j, 0)], biased[Order::element(j, 1)]);
            const u32 second = permute<0x5140>(biased[Order::element(j, 2)], biased[Order::element(j, 3)]);
            high[j] = permute<0x7632>(first, second), low[j] = permute<0x5410>(first, second) ^ 0x80808080u;
            high_sum = dot4(high[j], 0x01010101u, high_sum), low_sum = dot4(low[j], 0x01010101u, low_sum);
        }
        U32x4* target = (U32x4*)(planes + half / 2 * VECTOR_STRIDE + half % 2 * 4);
        target[0] = {high[0], high[1], high[2], high[3]};
        target[2] = {low[0], low[1], low[2], low[3]};
        sums[half] = high_sum * 256 + low_sum;
        if (half % 2 == 0) scale[half / 2] = amax * (1.0f / TOP);
    }
    DEVICE_MEMBER PlaneUnit read(u32 unit) const {
        PlaneUnit x;
        load_quads(x.high, planes + unit * VECTOR_STRIDE), load_quads(x.low, planes + unit * VECTOR_STRIDE + 8);
        x.sum[0] = sums[2 * unit], x.sum[1] = sums[2 * unit + 1];
        x.scale = scale[unit];
        return x;
    }
};

// The same for F16 weights: pairs of F16, of which no product overflows.
struct PairUnit {
    u32 pairs[16];
    float scale;
};
template <>
struct Dot<F16> : NoTable {
    DEVICE_MEMBER static float dot(const u32* w, u32, const u32*, const PairUnit& x) { return dot_pairs<16>(w, x.pairs); }
};
template <>
struct Activations<F16> {
    using Order = InOrder;
    static constexpr u32 WORDS_A_UNIT = VECTOR_STRIDE + 1;
    u32* pairs;    // [units][VECTOR_STRIDE]
    float* scale;  // [units]

    DEVICE_MEMBER static Activations at(u32* words, u32 units) { return {words, (float*)(words + units * VECTOR_STRIDE)}; }
    DEVICE_MEMBER void store(const float (&value)[16], u32 half, bool is_there) const {
        const float amax = largest_in_unit(value), to_one = amax > LEAST_ACTIVATION ? 1.0f / amax : 0.0f;
        if (!is_there) return;
        u32 words[8];
#pragma unroll
        for (u32 i = 0; i < 8; ++i) words[i] = pack_halves(value[2 * i] * to_one, value[2 * i + 1] * to_one);
        U32x4* target = (U32x4*)(pairs + half / 2 * VECTOR_STRIDE + half % 2 * 8);
        target[0] = {words[0], words[1], words[2], words[3]};
        target[1] = {words[4], words[5], words[6], words[7]};
        if (half % 2 == 0) scale[half / 2] = amax;
    }
    DEVICE_MEMBER PairUnit read(u32 unit) const {
        PairUnit x;
        load_quads(x.pairs, pairs + unit * VECTOR_STRIDE);
        x.scale = scale[unit];
        return x;
    }
};

// A vector x [UNITS * 32] on its way into LDS; a thread takes half a unit, its neighbour the other half. All threads ask
// for their first values at once (three halves each are all there are of six experts), long before they store them.
template <class Format, u32 THREADS, u32 UNITS>
struct VectorLoad {
    static constexpr u32 HALVES = 2 * UNITS, BATCH = 3, STEP = BATCH * THREADS;
    const float* x;
    float value[BATCH][16];

    DEVICE_MEMBER explicit VectorLoad(const float* source) : x(source) { load(0); }
    DEVICE_MEMBER void load(u32 first) {
#pragma unroll
        for (u32 b = 0; b < BATCH; ++b) {
            const u32 half = first + b * THREADS + thread_index();
            if (first + b * THREADS < HALVES)
                load_half<typename Activations<Format>::Order>(value[b], x, smaller(half, HALVES - 2 + half % 2));
        }
    }
    DEVICE_MEMBER void store(const Activations<Format>& target) {
#pragma unroll
        for (u32 first = 0; first < HALVES; first += STEP) {
            if (first > 0) load(first);
#pragma unroll
            for (u32 b = 0; b < BATCH; ++b) {
                const u32 half = first + b * THREADS + thread_index();
                if (first + b * THREADS < HALVES) target.store(value[b], half, half < HALVES);
            }
        }
    }
};

// Adds one chunk's products to `sum`: lane l takes unit chunk * 32 + l of each row, and of the vector unit
// first_unit + chunk * 32 + l.
template <class Format, class C, bool WHOLE, u32 ROWS, u32 MATRICES>
DEVICE void add_chunk(float (&sum)[ROWS], const u8* buffer, const RowBlock<ROWS, MATRICES>& rows, u32 chunk, u32 units,
                      const Activations<Format>& activations, u32 first_unit, const u32* table) {
    if (!WHOLE && chunk * LANE_UNITS + lane() >= units) return;
    const auto x = activations.read(first_unit + chunk * LANE_UNITS + lane());
#pragma unroll
    for (u32 r = 0; r < ROWS; ++r) {
        u32 words[Format::WORDS + 1];
        const u32 within = lane() % C::BLOCK_UNITS;
        const u32 shift = rows.template shift<C>(r, chunk * C::BYTES);
        Format::load(words, buffer + r * C::ROW_STRIDE, shift + lane() / C::BLOCK_UNITS * C::UNIT_STRIDE, within);
        sum[r] = fused(x.scale, Dot<Format>::dot(words, within, table, x), sum[r]);
    }
}

}  // namespace hb
