// One row of WIDTH values held by one wave, and what is done to rows before they are stored: RMS norm, rotation of the
// tail, the Hadamard transform, and the two simulated low-precision formats of the model's caches. Value j * 32 + l is
// register j of lane l, so a rotated pair sits in lanes 2i and 2i + 1 and 32 neighbouring values share a register index.
#pragma once
#include "portable.h"

namespace hb {

template <u32 WIDTH>
struct Row {
    static_assert(WIDTH % WAVE == 0, "a row is a whole number of registers");
    static constexpr u32 REGISTERS = WIDTH / WAVE;
    float v[REGISTERS];
};

// 2^n as a float, -126 <= n <= 127.
DEVICE float power_of_two(i32 n) { return as_float((u32)(n + 127) << 23); }

// The smallest n with top * 2^n >= amax, where top = 1.fraction * 2^top_exponent; exact, by comparing mantissas.
DEVICE i32 scale_exponent(float amax, u32 top_fraction, i32 top_exponent) {
    const u32 bits = as_bits(amax);
    return (i32)(bits >> 23) - 127 - top_exponent + ((bits & 0x7fffffu) > top_fraction ? 1 : 0);
}

// x to the nearest float of `fraction` mantissa bits whose exponent is at least `lowest` (below it: fixed point), ties
// to the even mantissa.
DEVICE float round_mantissa(float x, i32 fraction, i32 lowest) {
    const i32 exponent = (i32)(as_bits(x) >> 23 & 255u) - 127;
    const i32 step = (exponent > lowest ? exponent : lowest) - fraction;
    return round_even(x * power_of_two(-step)) * power_of_two(step);
}

template <u32 WIDTH>
DEVICE void normalise(Row<WIDTH>& row, float epsilon) {
    float squares = 0.0f;
#pragma unroll
    for (u32 j = 0; j < Row<WIDTH>::REGISTERS; ++j) squares = fused(row.v[j], row.v[j], squares);
    const float scale = 1.0f / square_root(wave_sum(squares) * (1.0f / WIDTH) + epsilon);
#pragma unroll
    for (u32 j = 0; j < Row<WIDTH>::REGISTERS; ++j) row.v[j] *= scale;
}

// The cosines and signed sines of this lane's values among the last ROTARY of a row.
template <u32 ROTARY, u32 WIDTH>
struct Angles {
    static constexpr u32 PLAIN = WIDTH - ROTARY, FIRST = PLAIN / WAVE, COUNT = Row<WIDTH>::REGISTERS - FIRST;
    float cosine[COUNT > 0 ? COUNT : 1], sine[COUNT > 0 ? COUNT : 1];

    DEVICE_MEMBER void load(const float* cosines, const float* sines) {
#pragma unroll
        for (u32 i = 0; i < COUNT; ++i) {
            const u32 at = (FIRST + i) * WAVE + lane();
            cosine[i] = 1.0f, sine[i] = 0.0f;
            if (at < PLAIN) continue;
            const float s = sines[(at - PLAIN) / 2];
            cosine[i] = cosines[(at - PLAIN) / 2], sine[i] = at % 2 ? s : -s;
        }
    }
};

// Rotates the last ROTARY values as adjacent pairs.
template <u32 ROTARY, u32 WIDTH>
DEVICE void rotate(Row<WIDTH>& row, const Angles<ROTARY, WIDTH>& angles) {
    using A = Angles<ROTARY, WIDTH>;
#pragma unroll
    for (u32 i = 0; i < A::COUNT; ++i) {
        const u32 j = A::FIRST + i;
        const float other = lane_xor<1>(row.v[j]);
        if (j * WAVE + lane() >= A::PLAIN) row.v[j] = row.v[j] * angles.cosine[i] + other * angles.sine[i];
    }
}
template <u32 ROTARY, u32 WIDTH>
DEVICE void rotate(Row<WIDTH>& row, const float* cosines, const float* sines) {
    Angles<ROTARY, WIDTH> angles;
    angles.load(cosines, sines);
    rotate(row, angles);
}

// E4M3 with one power-of-two scale for each 64 of the first COUNT values; the rest stays as it is.
template <u32 COUNT, u32 WIDTH>
DEVICE void round_e4m3(Row<WIDTH>& row) {
#pragma unroll
    for (u32 j = 0; j * WAVE < COUNT; j += 2) {
        float amax = 1e-4f;
#pragma unroll
        for (u32 i = j; i < j + 2 && i * WAVE < COUNT; ++i)
            if (i * WAVE + lane() < COUNT) amax = larger(amax, magnitude(row.v[i]));
        const i32 n = scale_exponent(wave_max(amax), 0x600000u, 8);  // 448 = 1.75 * 2^8
#pragma unroll
        for (u32 i = j; i < j + 2 && i * WAVE < COUNT; ++i) {
            const float scaled = smaller(larger(row.v[i] * power_of_two(-n), -448.0f), 448.0f);
            const float rounded = round_mantissa(scaled, 3, -6) * power_of_two(n);
            if (i * WAVE + lane() < COUNT) row.v[i] = rounded;
        }
    }
}

// E2M1 (0, 0.5, 1, 1.5, 2, 3, 4, 6) with one power-of-two scale for each 32 values.
template <u32 WIDTH>
DEVICE void round_e2m1(Row<WIDTH>& row) {
#pragma unroll
    for (u32 j = 0; j < Row<WIDTH>::REGISTERS; ++j) {
        const float amax = wave_max(larger(magnitude(row.v[j]), 6.0f * 0x1p-126f));
        const i32 n = scale_exponent(amax, 0x400000u, 2);  // 6 = 1.5 * 2^2
        const float scaled = smaller(larger(row.v[j] * power_of_two(-n), -6.0f), 6.0f);
        row.v[j] = round_mantissa(scaled, 1, 0) * power_of_two(n);
    }
}

template <u32 MASK, u32 WIDTH>
DEVICE void butterfly_lanes(Row<WIDTH>& row) {
#pragma unroll
    for (u32 j = 0; j < Row<WIDTH>::REGISTERS; ++j) {
        const float other = lane_xor<MASK>(row.v[j]);
        row.v[j] = lane() & MASK ? other - row.v[j] : row.v[j] + other;
    }
}

// The orthonormal Walsh-Hadamard transform in natural order; WIDTH is a power of two.
template <u32 WIDTH>
DEVICE void hadamard(Row<WIDTH>& row) {
    butterfly_lanes<1>(row), butterfly_lanes<2>(row), butterfly_lanes<4>(row);
    butterfly_lanes<8>(row), butterfly_lanes<16>(row);
#pragma unroll
    for (u32 half = 1; half < Row<WIDTH>::REGISTERS; half *= 2) {
#pragma unroll
        for (u32 j = 0; j < Row<WIDTH>::REGISTERS; ++j) {
            if (j & half) continue;
            const float a = row.v[j], b = row.v[j + half];
            row.v[j] = a + b, row.v[j + half] = a - b;
        }
    }
    const float scale = 1.0f / square_root((float)WIDTH);
#pragma unroll
    for (u32 j = 0; j < Row<WIDTH>::REGISTERS; ++j) row.v[j] *= scale;
}

// How stored values lose precision: not at all, as cache rows, or as indexer rows and queries (after the transform).
enum Rounding : u32 { ROUND_NONE = 0, ROUND_E4M3 = 1, ROUND_E2M1 = 2 };

template <u32 ROUNDING, u32 ROTARY, u32 WIDTH>
DEVICE void round_stored(Row<WIDTH>& row) {
    if constexpr (ROUNDING == ROUND_E4M3) round_e4m3<WIDTH - ROTARY>(row);
    if constexpr (ROUNDING == ROUND_E2M1) {
        hadamard(row);
        round_e2m1(row);
    }
}

template <u32 WIDTH>
DEVICE void load_row(Row<WIDTH>& row, const float* source) {
#pragma unroll
    for (u32 j = 0; j < Row<WIDTH>::REGISTERS; ++j) row.v[j] = source[j * WAVE + lane()];
}
template <u32 WIDTH>
DEVICE void store_row(const Row<WIDTH>& row, float* target) {
#pragma unroll
    for (u32 j = 0; j < Row<WIDTH>::REGISTERS; ++j) target[j * WAVE + lane()] = row.v[j];
}
template <u32 WIDTH>
DEVICE void store_row(const Row<WIDTH>& row, u16* target) {
#pragma unroll
    for (u32 j = 0; j < Row<WIDTH>::REGISTERS; ++j) target[j * WAVE + lane()] = float_to_half(row.v[j]);
}

}  // namespace hb
