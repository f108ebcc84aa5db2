// Integer dot products of a unit of 32 quantised weights with 32 activations, for decode. Codes are spread to bytes, four
// to a word and never to F16; activations are 16-bit integers in two planes of signed bytes, 256 * high + low, so that
// `dot4` takes both sides exactly and only the scales are multiplied in F32. See blocks.h for the formats themselves.
//
// Dot<Format> gives: ORDER, which activations meet in a word; TABLE_WORDS of lookup table that `prepare` fills in LDS; and
// `dot`, the sum of weight * activation over the unit as Format::load has brought it.
#pragma once
#include "blocks_256.h"

namespace hb {

// 32 activations as integers, and the sums of both halves of them.
struct PlaneUnit {
    u32 high[8], low[8];
    i32 sum[2];
    float scale;  // what 1 stands for
};

// Half h of a unit is four groups of four neighbours, quad(h, 0..3), whose 16 values lie in words as element(word, byte).
struct InOrder {
    DEVICE_MEMBER static constexpr u32 quad(u32 h, u32 i) { return 4 * h + i; }
    DEVICE_MEMBER static constexpr u32 element(u32 word, u32 byte) { return 4 * word + byte; }
};
// Byte b of word j is element 4 b + j: two-bit codes of a word, two bits apart.
struct Strided : InOrder {
    DEVICE_MEMBER static constexpr u32 element(u32 word, u32 byte) { return 4 * byte + word; }
};
// Elements 0, 4, 1, 5 and 2, 6, 3, 7 of each eight.
struct FourApart : InOrder {
    DEVICE_MEMBER static constexpr u32 element(u32 word, u32 byte) {
        return word / 2 * 8 + byte % 2 * 4 + word % 2 * 2 + byte / 2;
    }
};
// Nibbles as they lie in memory where byte i holds elements i and i + 16. A half is eight of the low and eight of the high.
struct Crossed {
    DEVICE_MEMBER static constexpr u32 quad(u32 h, u32 i) { return 2 * h + i % 2 + i / 2 * 4; }
    DEVICE_MEMBER static constexpr u32 element(u32 word, u32 byte) { return 2 * word + byte / 2 + byte % 2 * 8; }
};
template <bool CROSSED>
struct NibbleOrder : InOrder {};
template <>
struct NibbleOrder<true> : Crossed {};

// start + the products of COUNT words of signed or unsigned codes with words FIRST onward of x.
template <u32 FIRST, u32 COUNT, bool UNSIGNED = false>
DEVICE i32 dot_words(const u32* codes, const PlaneUnit& x, i32 start = 0) {
    i32 high = 0, low = start;
#pragma unroll
    for (u32 i = 0; i < COUNT; ++i) {
        if constexpr (UNSIGNED) {
            high = dot4_unsigned(codes[i], x.high[FIRST + i], high), low = dot4_unsigned(codes[i], x.low[FIRST + i], low);
        } else {
            high = dot4(codes[i], x.high[FIRST + i], high), low = dot4(codes[i], x.low[FIRST + i], low);
        }
    }
    return high * 256 + low;
}

template <class Format>
struct Dot;

template <>
struct Dot<Q8_0> : NoTable {
    using ORDER = InOrder;
    DEVICE_MEMBER static float dot(const u32* w, u32, const u32*, const PlaneUnit& x) {
        return half_to_float((u16)w[8]) * (float)dot_words<0, 8>(w, x);
    }
};

template <>
struct Dot<RocmFp8> : NoTable {
    using ORDER = InOrder;
    DEVICE_MEMBER static float dot(const u32* w, u32, const u32*, const PlaneUnit& x) {
        return rocm_scale(w[8]) * (float)dot_words<0, 8>(w, x);
    }
};

// Levels of nibbles as bytes 192 + level: all top bits are set, and as signed bytes they are level - 64.
constexpr i32 LEVEL_BIAS = 64;
struct Levels12 {  // 0, 1, 2, 3, 4, 6, 8, 12, then their negatives
    static constexpr u32 TABLE[4] = {0xc3c2c1c0u, 0xccc8c6c4u, 0xbdbebfc0u, 0xb4b8babcu};
};
struct Levels10 {  // the same up to 10
    static constexpr u32 TABLE[4] = {0xc3c2c1c0u, 0xcac8c6c4u, 0xbdbebfc0u, 0xb6b8babcu};
};

template <class Levels>
DEVICE i32 dot_nibbles(const u32* w, const PlaneUnit& x) {
    constexpr u32 T1 = Levels::TABLE[1], T3 = Levels::TABLE[3];
    const u32 plus = in_register(Levels::TABLE[0]), minus = in_register(Levels::TABLE[2]);
    u32 codes[8];
#pragma unroll
    for (u32 i = 0; i < 4; ++i)
        look_up_16(plus, T1, minus, T3, w[i], codes[NIBBLES_IN_ORDER ? 2 * i : i],
                   codes[NIBBLES_IN_ORDER ? 2 * i + 1 : 4 + i]);
    return dot_words<0, 8>(codes, x, LEVEL_BIAS * (x.sum[0] + x.sum[1]));
}

template <>
struct Dot<Mxfp4> : NoTable {
    using ORDER = NibbleOrder<NIBBLES_IN_ORDER>;
    DEVICE_MEMBER static float dot(const u32* w, u32, const u32*, const PlaneUnit& x) {
        return Mxfp4::scale(w[4]) * (float)dot_nibbles<Levels12>(w, x);
    }
};

template <>
struct Dot<RocmFp4Fast> : NoTable {
    using ORDER = NibbleOrder<NIBBLES_IN_ORDER>;
    DEVICE_MEMBER static float dot(const u32* w, u32, const u32*, const PlaneUnit& x) {
        return rocm_scale(w[4]) * (float)dot_nibbles<Levels10>(w, x);
    }
};

template <>
struct Dot<RocmFp4> : NoTable {
    using ORDER = InOrder;
    DEVICE_MEMBER static float dot(const u32* w, u32, const u32*, const PlaneUnit& x) {
        constexpr u32 T1 = Levels10::TABLE[1], T3 = Levels10::TABLE[3];
        const u32 plus = in_register(Levels10::TABLE[0]), minus = in_register(Levels10::TABLE[2]);
        u32 lows[4], highs[4];
#pragma unroll
        for (u32 i = 0; i < 4; ++i)
            look_up_halves_16(plus, T1, minus, T3, w[i], lows[i], highs[i]);
        float first, second;
        rocm_scales(w[4], first, second);
        const float low = (float)dot_words<0, 4>(lows, x, LEVEL_BIAS * x.sum[0]);
        return fused(first, low, second * (float)dot_words<4, 4>(highs, x, LEVEL_BIAS * x.sum[1]));
    }
};

// The 16 two-bit codes of a word, each in the low bits of a byte.
DEVICE void spread_pairs(u32 word, u32* codes) {
#pragma unroll
    for (u32 j = 0; j < 4; ++j) codes[j] = word >> 2 * j & 0x03030303u;
}

template <>
struct Dot<RocmFp2> : NoTable {  // levels c - 1
    using ORDER = Strided;
    DEVICE_MEMBER static float dot(const u32* w, u32, const u32*, const PlaneUnit& x) {
        u32 codes[8];
        spread_pairs(w[0], codes), spread_pairs(w[1], codes + 4);
        float first, second;
        rocm_scales(w[2], first, second);
        const float low = (float)dot_words<0, 4>(codes, x, -x.sum[0]);
        return fused(first, low, second * (float)dot_words<4, 4>(codes + 4, x, -x.sum[1]));
    }
};

template <>
struct Dot<RocmFp2S40> : NoTable {  // levels -4, -1, 1, 4; 5 c + 1 less its low bit is 0, 6, 10, 16, twice the level plus 8
    using ORDER = Strided;
    DEVICE_MEMBER static float dot(const u32* w, u32, const u32*, const PlaneUnit& x) {
        u32 codes[8];
        spread_pairs(w[0], codes), spread_pairs(w[1], codes + 4);
#pragma unroll
        for (u32 i = 0; i < 8; ++i) codes[i] = (codes[i] * 5 + 0x01010101u) & 0x1e1e1e1eu;
        float first, second;
        rocm_scales(w[2], first, second);
        const float low = (float)dot_words<0, 4>(codes, x, -8 * x.sum[0]);
        return 0.5f * fused(first, low, second * (float)dot_words<4, 4>(codes + 4, x, -8 * x.sum[1]));
    }
};

template <>
struct Dot<RocmFp2Affine> : NoTable {  // c * scale(e0) - scale(e1)
    using ORDER = Strided;
    DEVICE_MEMBER static float dot(const u32* w, u32, const u32*, const PlaneUnit& x) {
        u32 codes[8];
        spread_pairs(w[0], codes), spread_pairs(w[1], codes + 4);
        float scale, below;
        rocm_scales(w[2], scale, below);
        return fused(scale, (float)dot_words<0, 8>(codes, x), -below * (float)(x.sum[0] + x.sum[1]));
    }
};

template <>
struct Dot<RocmFp3> : NoTable {
    using ORDER = InOrder;

    // Eight codes of three bits, the low 24 bits of a word, to a nibble each; the top bits of nibbles are 0.
    DEVICE_MEMBER static u32 nibbles(u32 word) {
        const u32 apart = (word & 0xfffu) + (word & 0xfff000u) * 16;    // four to a half word,
        const u32 pairs = apart + (apart & 0x0fc00fc0u) * 3;            // two to a byte
        return pairs + (pairs & 0x38383838u);
    }
    DEVICE_MEMBER static float dot(const u32* w, u32, const u32*, const PlaneUnit& x) {
        const u32 group[4] = {w[0], funnel_right(w[0], w[1], 24), funnel_right(w[1], w[2], 16), w[2] >> 8};
        const u32 plus = in_register(0x04020100u);  // 0, 1, 2, 4
        u32 codes[8];
#pragma unroll
        for (u32 g = 0; g < 4; ++g)
            look_up(plus, 0xfcfeff00u, nibbles(group[g]), codes[2 * g], codes[2 * g + 1]);
        float first, second;
        rocm_scales(w[3], first, second);
        return fused(first, (float)dot_words<0, 4>(codes, x), second * (float)dot_words<4, 4>(codes + 4, x));
    }
};

template <>
struct Dot<Q2_K> : NoTable {
    using ORDER = InOrder;
    DEVICE_MEMBER static float dot(const u32* w, u32 index, const u32*, const PlaneUnit& x) {
        const u32 shift = index % 4 * 2, mask = 0x03030303u << shift;
        u32 codes[8];  // times 4^(index % 4), where they lie
#pragma unroll
        for (u32 i = 0; i < 8; ++i) codes[i] = w[i] & mask;
        const i32 low = dot_words<0, 4, true>(codes, x) >> shift, high = dot_words<4, 4, true>(codes + 4, x) >> shift;
        const i32 scaled = low * (i32)(w[8] & 15u) + high * (i32)(w[8] >> 8 & 15u);
        const i32 minima = x.sum[0] * (i32)(w[8] >> 4 & 15u) + x.sum[1] * (i32)(w[8] >> 12);
        return fused(low_half(w[9]), (float)scaled, -high_half(w[9]) * (float)minima);
    }
};

template <>
struct Dot<Q4_K> : NoTable {
    using ORDER = InOrder;
    DEVICE_MEMBER static float dot(const u32* w, u32 index, const u32*, const PlaneUnit& x) {
        const u32 shift = index % 2 * 4, mask = 0x0f0f0f0fu << shift;
        u32 codes[8];  // times 16^(index % 2), where they lie
#pragma unroll
        for (u32 i = 0; i < 8; ++i) codes[i] = w[i] & mask;
        u32 scale, minimum;
        Q4_K::scale_codes(w, index, scale, minimum);
        const i32 scaled = (dot_words<0, 8, true>(codes, x) >> shift) * (i32)scale;
        const i32 minima = (x.sum[0] + x.sum[1]) * (i32)minimum;
        return fused(low_half(w[8]), (float)scaled, -high_half(w[8]) * (float)minima);
    }
};

// A nibble an element selects from the magnitudes (bits 0 and 1, from the code book) and their negatives (bit 2). Nibble n
// is element n / 2 + n % 2 * 4, since a product with SPREAD takes sign i of eight to bit 2 of that nibble.
template <>
struct Dot<Iq2Xxs> {
    using ORDER = FourApart;
    static constexpr u32 TABLE_WORDS = 256, SPREAD = 1u << 2 | 1u << 9 | 1u << 16 | 1u << 23;

    template <u32 THREADS>
    DEVICE_MEMBER static void prepare(u32* table) {
        for (u32 i = thread_index(); i < TABLE_WORDS; i += THREADS) {
            u32 selectors = 0;
            for (u32 n = 0; n < 8; ++n) selectors |= (IQ2_XXS_GRID[i] >> 2 * (n / 2 + n % 2 * 4) & 3u) << 4 * n;
            table[i] = selectors;
        }
    }
    DEVICE_MEMBER static float dot(const u32* w, u32, const u32* table, const PlaneUnit& x) {
        // Bit 7 l of `parity` is that of the seven signs from there on: the eighth makes the number of signs even.
        const u32 twos = w[1] ^ w[1] >> 1, fours = twos ^ twos >> 2, parity = fours ^ twos >> 4 ^ w[1] >> 6;
        const u32 plus = in_register(0x002b1908u);  // 8, 25, 43
        u32 codes[8];
#pragma unroll
        for (u32 l = 0; l < 4; ++l) {
            const u32 signs = (w[1] >> 7 * l & 127u) * SPREAD;
            const u32 selectors = and_or(signs, 0x04444444u, table[byte_of(w[0], l)]);
            look_up(plus, 0x00d5e7f8u, and_or(parity << (30 - 7 * l), 0x40000000u, selectors), codes[2 * l],
                    codes[2 * l + 1]);
        }
        return Iq2Xxs::scale(w) * (float)dot_words<0, 8>(codes, x);
    }
};

}  // namespace hb
