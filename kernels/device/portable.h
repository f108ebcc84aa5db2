// The one header through which kernel sources see a machine. It gives types, thread coordinates, LDS, barriers, wave
// exchanges, F16 conversion and packed integer arithmetic the same names on gfx11 (hiprtc or plain clang), on sm_80 and
// later (NVRTC or nvcc), and on the CPU block emulator of the tests. A wave has 32 lanes everywhere; a workgroup is
// one-dimensional and a whole number of waves. No vendor header is included, so every compiler sees the same text.
#pragma once

namespace hb {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i8 = signed char;
using i32 = int;
using i64 = long long;

// Wide accesses to memory that is also seen as single elements. clang's own vectors stay in registers where a structure
// that is filled under a condition would go to scratch.
#if defined(__AMDGCN__)
typedef u32 U32x2 __attribute__((ext_vector_type(2), may_alias));
typedef u32 U32x4 __attribute__((ext_vector_type(4), may_alias));
typedef float F32x2 __attribute__((ext_vector_type(2), may_alias));
typedef float F32x4 __attribute__((ext_vector_type(4), may_alias));
#else
struct __attribute__((aligned(8), may_alias)) U32x2 { u32 x, y; };
struct __attribute__((aligned(16), may_alias)) U32x4 { u32 x, y, z, w; };
struct __attribute__((aligned(8), may_alias)) F32x2 { float x, y; };
struct __attribute__((aligned(16), may_alias)) F32x4 { float x, y, z, w; };
#endif

constexpr u32 WAVE = 32;
constexpr float EMPTY_SCORE = -1e30f;  // the score of a row or window entry that is not there

}  // namespace hb

#if defined(HALOBAND_EMULATOR)
#include "emulator.h"
#elif defined(__CUDACC__) || defined(__CUDACC_RTC__)
#include "target_nvidia.h"
#else
#include "target_amd.h"
#endif

namespace hb {

DEVICE u32 lane() { return thread_index() % WAVE; }
DEVICE u32 wave() { return uniform(thread_index() / WAVE); }

DEVICE float as_float(u32 bits) { return __builtin_bit_cast(float, bits); }
DEVICE u32 as_bits(float value) { return __builtin_bit_cast(u32, value); }

DEVICE u32 smaller(u32 a, u32 b) { return a < b ? a : b; }
DEVICE u32 larger(u32 a, u32 b) { return a > b ? a : b; }
DEVICE float larger(float a, float b) { return a > b ? a : b; }
DEVICE float smaller(float a, float b) { return a < b ? a : b; }
// Bits that compare as unsigned integers the way numbers compare; +0 and -0 are one number.
DEVICE u32 ordered_bits(float a) {
    const u32 bits = as_bits(a + 0.0f);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
DEVICE float magnitude(float a) { return as_float(as_bits(a) & 0x7fffffffu); }
DEVICE u32 ceil_div(u32 a, u32 b) { return (a + b - 1) / b; }

template <u32 MASK>
DEVICE float lane_xor(float value) { return as_float(lane_xor<MASK>(as_bits(value))); }
DEVICE float lane_read(float value, u32 source) { return as_float(lane_read(as_bits(value), source)); }

// A sum over groups of LANES neighbouring lanes, every lane of a group left with the same bits: the tree is the
// butterfly 1, 2, 4, 8, 16. The result is pinned: some AMD compilers sink the last exchange under `if (lane == 0)`,
// where the other half of the wave is switched off.
template <u32 LANES = WAVE>
DEVICE float wave_sum(float value) {
    if constexpr (LANES > 1) value += lane_xor<1>(value);
    if constexpr (LANES > 2) value += lane_xor<2>(value);
    if constexpr (LANES > 4) value += lane_xor<4>(value);
    if constexpr (LANES > 8) value += lane_xor<8>(value);
    if constexpr (LANES > 16) value += lane_xor<16>(value);
    pin(value);
    return value;
}

template <u32 LANES = WAVE>
DEVICE float wave_max(float value) {
    if constexpr (LANES > 1) value = larger(value, lane_xor<1>(value));
    if constexpr (LANES > 2) value = larger(value, lane_xor<2>(value));
    if constexpr (LANES > 4) value = larger(value, lane_xor<4>(value));
    if constexpr (LANES > 8) value = larger(value, lane_xor<8>(value));
    if constexpr (LANES > 16) value = larger(value, lane_xor<16>(value));
    pin(value);
    return value;
}

// COUNT wave sums at once (a power of two): lane l is left with the sum of value[l % COUNT]. Lanes trade halves of the list
// while they add, so that eight sums take nine exchanges and not forty.
template <u32 COUNT, u32 STEP = 1>
DEVICE float wave_sums(const float (&value)[COUNT]) {
    if constexpr (COUNT == 1) {
        float sum = value[0];
        if constexpr (STEP <= 1) sum += lane_xor<1>(sum);
        if constexpr (STEP <= 2) sum += lane_xor<2>(sum);
        if constexpr (STEP <= 4) sum += lane_xor<4>(sum);
        if constexpr (STEP <= 8) sum += lane_xor<8>(sum);
        sum += lane_xor<16>(sum);
        pin(sum);
        return sum;
    } else {
        float half[COUNT / 2];
        const bool odd = lane() & STEP;
#pragma unroll
        for (u32 i = 0; i < COUNT / 2; ++i) {
            const float given = odd ? value[2 * i] : value[2 * i + 1];
            half[i] = (odd ? value[2 * i + 1] : value[2 * i]) + lane_xor<STEP>(given);
        }
        return wave_sums<COUNT / 2, STEP * 2>(half);
    }
}

// A sum over the workgroup, in wave order; `scratch` holds one float a wave. Ends with a barrier, so it may be reused.
template <u32 THREADS>
DEVICE float group_sum(float value, float* scratch) {
    value = wave_sum(value);
    if (lane() == 0) scratch[wave()] = value;
    barrier();
    float total = 0.0f;
    for (u32 w = 0; w < THREADS / WAVE; ++w) total += scratch[w];
    barrier();
    return total;
}

DEVICE u32 lanes_below(u32 mask) { return count_bits(mask & ((1u << lane()) - 1u)); }

// The sum of `value` over the lanes before this one.
DEVICE u32 wave_prefix(u32 value) {
    u32 sum = value;
    for (u32 step = 1; step < WAVE; step *= 2) {
        const u32 before = lane_read(sum, lane() - step);
        if (lane() >= step) sum += before;
    }
    return sum - value;
}

// e^x by the machine's exp2: within 2 units in the last place times |x|, and exactly 0 for x <= -1e29.
DEVICE float exponential(float x) { return power2(x * 1.4426950408889634f); }

DEVICE float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }
DEVICE float silu(float x) { return x / (1.0f + exponential(-x)); }

// ln(1 + e^x) without overflow, and accurate where e^x is far below 1 (Kahan's log1p).
DEVICE float softplus(float x) {
    const float u = exponential(-magnitude(x));
    const float w = 1.0f + u;
    const float log1p = w == 1.0f ? u : natural_log(w) * u / (w - 1.0f);
    return larger(x, 0.0f) + log1p;
}

DEVICE u32 pack_halves(float low, float high) { return float_to_half(low) | (u32)float_to_half(high) << 16; }
DEVICE float low_half(u32 pair) { return half_to_float((u16)pair); }
DEVICE float high_half(u32 pair) { return half_to_float((u16)(pair >> 16)); }

// Signed byte `index` (0..3) of a word.
DEVICE i32 signed_byte(u32 word, u32 index) { return (i32)(word << (24 - 8 * index)) >> 24; }

}  // namespace hb
