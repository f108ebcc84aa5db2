// Octets: eight neighbouring weights, a quarter of a unit (see blocks.h), as four pairs of F16 in natural order. Four lanes
// that share a weight row decode one octet each, straight into the operands of a matrix product (product_registers.h). A
// weight has the bits that decode_weights of product_lds.h gives it.
//
// A specialisation gives `decode`: octet q (0..3) of unit `unit` of the block at byte `at` of `bytes`, a row in LDS that is
// aligned to 16; and `prepare` of the format's table, in no more words than the format has.
#pragma once
#include "blocks_256.h"

namespace hb {

template <class Format>
struct Octet;

DEVICE void scale_octet(u32* pairs, float scale) {
    const u32 scales = pack_halves(scale, scale);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) pairs[i] = pair_multiply(pairs[i], scales);
}
DEVICE void scale_octet(u32* pairs, float scale, float offset) {
    const u32 scales = pack_halves(scale, scale), offsets = pack_halves(offset, offset);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) pairs[i] = pair_fma(pairs[i], scales, offsets);
}
DEVICE float rocm_scale_at(const u8* bytes, u32 at) {
    float scale, none;
    rocm_scales(bytes[at], scale, none);
    return scale;
}
// Bytes below 128 to pairs.
DEVICE void expand_small(u32 bytes, u32* pairs) {
    pairs[0] = pair_add(permute<0x4140>(bytes, 0x64646464u), 0xe400e400u);
    pairs[1] = pair_add(permute<0x4342>(bytes, 0x64646464u), 0xe400e400u);
}

template <>
struct Octet<F16> : NoTable {
    DEVICE_MEMBER static void decode(const u8* bytes, u32 at, u32, u32 q, const u32*, u32* pairs) {
        const U32x4 weights = *(const U32x4*)(bytes + at + 16 * q);
        pairs[0] = weights.x, pairs[1] = weights.y, pairs[2] = weights.z, pairs[3] = weights.w;
    }
};

template <>
struct Octet<Q8_0> : NoTable {
    DEVICE_MEMBER static void decode(const u8* bytes, u32 at, u32, u32 q, const u32*, u32* pairs) {
        u32 codes[2];
        load_words<2, 2>(codes, bytes, at + 2 + 8 * q);
        expand_biased(codes[0] ^ 0x80808080u, pairs), expand_biased(codes[1] ^ 0x80808080u, pairs + 2);
        scale_octet(pairs, half_to_float(((const u16*)bytes)[at / 2]));
    }
};

template <>
struct Octet<RocmFp8> : NoTable {
    DEVICE_MEMBER static void decode(const u8* bytes, u32 at, u32, u32 q, const u32*, u32* pairs) {
        u32 codes[2];
        load_words<2, 1>(codes, bytes, at + 8 * q);
        expand_biased(codes[0] ^ 0x80808080u, pairs), expand_biased(codes[1] ^ 0x80808080u, pairs + 2);
        scale_octet(pairs, rocm_scale_at(bytes, at + 32));
    }
};

// Nibbles: octets 0 and 1 lie in the low halves of 16 bytes, 2 and 3 in the high halves. `first` is the byte of element 0.
template <u32 TABLE_LOW, u32 TABLE_HIGH>
DEVICE void decode_nibble_octet(const u8* bytes, u32 first, u32 q, u32* pairs) {
    u32 codes[2], lows, highs;
    load_words<2, 1>(codes, bytes, first + q % 2 * 8);
    const u32 shift = q / 2 * 4;
    const u32 both = (codes[0] >> shift & 0x0f0f0f0fu) | (codes[1] << (4 - shift) & 0xf0f0f0f0u);
    look_up_halves(TABLE_LOW, TABLE_HIGH, both, lows, highs);
    expand_high(and_or(both << 4, 0x80808080u, lows), pairs);
    expand_high(and_or(both, 0x80808080u, highs), pairs + 2);
}

template <>
struct Octet<Mxfp4> : NoTable {
    DEVICE_MEMBER static void decode(const u8* bytes, u32 at, u32, u32 q, const u32*, u32* pairs) {
        const u32 x = bytes[at];
        decode_nibble_octet<LEVELS_0123, LEVELS_468C>(bytes, at + 1, q, pairs);
        scale_octet(pairs, as_float(x > 1 ? (x - 1) << 23 : 0x200000u << x));  // 2^(x - 128)
    }
};

template <>
struct Octet<RocmFp4> : NoTable {
    DEVICE_MEMBER static void decode(const u8* bytes, u32 at, u32, u32 q, const u32*, u32* pairs) {
        decode_nibble_octet<LEVELS_0123, LEVELS_468A>(bytes, at, q, pairs);
        scale_octet(pairs, rocm_scale_at(bytes, at + 16 + q / 2));
    }
};

template <>
struct Octet<RocmFp4Fast> : NoTable {
    DEVICE_MEMBER static void decode(const u8* bytes, u32 at, u32, u32 q, const u32*, u32* pairs) {
        decode_nibble_octet<LEVELS_0123, LEVELS_468A>(bytes, at, q, pairs);
        scale_octet(pairs, rocm_scale_at(bytes, at + 16));
    }
};

// Two-bit codes: an octet is a half word. Pairs of (code + bias), with -(1024 - bias) and -(64 - bias) as pairs of F16.
template <u32 NEGATIVE_BIAS, u32 NEGATIVE_BIAS_16>
DEVICE void decode_two_bits(const u8* bytes, u32 at, u32 q, u32* pairs) {
    const u32 codes = ((const u16*)bytes)[at / 2 + q];
    const u32 apart = codes | codes << 14;  // code 2 m at bits 4 m, code 2 m + 1 at bits 16 + 4 m
#pragma unroll
    for (u32 i = 0; i < 4; i += 2) {
        pairs[i] = pair_add(planted(apart >> 4 * i, 0x00030003u), NEGATIVE_BIAS);
        pairs[i + 1] = pair_fma(planted(apart >> 4 * i, 0x00300030u), 0x2c002c00u, NEGATIVE_BIAS_16);
    }
}

template <>
struct Octet<RocmFp2> : NoTable {
    DEVICE_MEMBER static void decode(const u8* bytes, u32 at, u32, u32 q, const u32*, u32* pairs) {
        decode_two_bits<0xe401e401u, 0xd410d410u>(bytes, at, q, pairs);  // -1025, -65
        scale_octet(pairs, rocm_scale_at(bytes, at + 8 + q / 2));
    }
};

template <>
struct Octet<RocmFp2S40> : NoTable {
    DEVICE_MEMBER static void decode(const u8* bytes, u32 at, u32, u32 q, const u32*, u32* pairs) {
        decode_two_bits<0xe400e400u, 0xd400d400u>(bytes, at, q, pairs);  // -1024, -64
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
            const u32 odd = pair_fma(pairs[i], 0x40004000u, 0xc200c200u);    // 2 c - 3: -3, -1, 1, 3
            pairs[i] = pair_multiply(odd, pair_fma(odd, odd, 0x4dc04dc0u));  // times (its square + 23): 24 levels
        }
        scale_octet(pairs, rocm_scale_at(bytes, at + 8 + q / 2) * RocmFp2S40::CODE_UNIT);
    }
};

template <>
struct Octet<RocmFp2Affine> : NoTable {
    DEVICE_MEMBER static void decode(const u8* bytes, u32 at, u32, u32 q, const u32*, u32* pairs) {
        float scale, below;
        rocm_scales(((const u16*)bytes)[at / 2 + 4], scale, below);
        decode_two_bits<0xe401e401u, 0xd410d410u>(bytes, at, q, pairs);
        scale_octet(pairs, scale, scale - below);
    }
};

template <>
struct Octet<RocmFp3> : NoTable {
    DEVICE_MEMBER static void decode(const u8* bytes, u32 at, u32, u32 q, const u32*, u32* pairs) {
        u32 codes, halves[4];
        load_words<1, 1>(&codes, bytes, at + 3 * q);
        const u32 split = (codes & 0xfffu) | (codes << 4 & 0x0fff0000u);  // four codes in each half word
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
            const u32 exponent = i < 3 ? split << (10 - 3 * i) : split << 1;
            halves[i] = pair_multiply(and_or(exponent, 0x0c000c00u, split << (13 - 3 * i) & 0x80008000u), 0x74007400u);
        }
        pairs[0] = permute<0x5410>(halves[0], halves[1]), pairs[1] = permute<0x5410>(halves[2], halves[3]);
        pairs[2] = permute<0x7632>(halves[0], halves[1]), pairs[3] = permute<0x7632>(halves[2], halves[3]);
        scale_octet(pairs, rocm_scale_at(bytes, at + 12 + q / 2));
    }
};

template <>
struct Octet<Q2_K> : NoTable {
    DEVICE_MEMBER static void decode(const u8* bytes, u32 at, u32 unit, u32 q, const u32*, u32* pairs) {
        u32 codes[2];
        load_words<2, 4>(codes, bytes, at + 16 + unit / 4 * 32 + 8 * q);
        const u32 both = bytes[at + 2 * unit + q / 2], dm = *(const u32*)(bytes + at + 80), shift = unit % 4 * 2;
        expand_small(codes[0] >> shift & 0x03030303u, pairs), expand_small(codes[1] >> shift & 0x03030303u, pairs + 2);
        scale_octet(pairs, low_half(dm) * (float)(both & 15u), -high_half(dm) * (float)(both >> 4));
    }
};

template <>
struct Octet<Q4_K> : NoTable {
    DEVICE_MEMBER static void decode(const u8* bytes, u32 at, u32 unit, u32 q, const u32*, u32* pairs) {
        u32 codes[2];
        load_words<2, 4>(codes, bytes, at + 16 + unit / 2 * 32 + 8 * q);
        const u32 dm = *(const u32*)(bytes + at), shift = unit % 2 * 4;
        const u32 a = bytes[at + 4 + unit % 4], b = bytes[at + 8 + unit % 4], c = bytes[at + 12 + unit % 4];
        const u32 scale = unit < 4 ? a & 63u : (c & 15u) | a >> 6 << 4;
        const u32 minimum = unit < 4 ? b & 63u : c >> 4 | b >> 6 << 4;
        expand_small(codes[0] >> shift & 0x0f0f0f0fu, pairs), expand_small(codes[1] >> shift & 0x0f0f0f0fu, pairs + 2);
        scale_octet(pairs, low_half(dm) * (float)scale, -high_half(dm) * (float)minimum);
    }
};

// The code book is the only table: a second one, of signs, would cost more in bank conflicts than spreading them does.
// Nibble n of a selector is element n / 2 + n % 2 * 4, since a product with SPREAD takes sign i of eight to bit 2 of that
// nibble; bits 0 and 1 are the magnitude.
template <>
struct Octet<Iq2Xxs> {
    static constexpr u32 SPREAD = 1u << 2 | 1u << 9 | 1u << 16 | 1u << 23;

    template <u32 THREADS>
    DEVICE_MEMBER static void prepare(u32* table) {
        for (u32 i = thread_index(); i < 256; i += THREADS) {
            u32 selectors = 0;
            for (u32 n = 0; n < 8; ++n) selectors |= (IQ2_XXS_GRID[i] >> 2 * (n / 2 + n % 2 * 4) & 3u) << 4 * n;
            table[i] = selectors;
        }
    }
    DEVICE_MEMBER static void decode(const u8* bytes, u32 at, u32 unit, u32 q, const u32* table, u32* pairs) {
        const u32 here = at + 2 + 8 * unit, magnitudes = table[bytes[here + q]];
        u32 word, first, second;
        load_words<1, 2>(&word, bytes, here + 4);
        const u32 signs = word >> 7 * q & 127u, eighth = count_bits(signs) << 30;  // makes their number even
        const u32 selectors = and_or(eighth, 0x40000000u, and_or(signs * SPREAD, 0x04444444u, magnitudes));
        look_up(0x00ab9988u, 0x00556778u, selectors, first, second);  // 128 + (8, 25, 43), 128 - (8, 25, 43)
        pairs[0] = pair_add(permute<0x4240>(first, 0x64646464u), 0xe480e480u);
        pairs[1] = pair_add(permute<0x4240>(second, 0x64646464u), 0xe480e480u);
        pairs[2] = pair_add(permute<0x4341>(first, 0x64646464u), 0xe480e480u);
        pairs[3] = pair_add(permute<0x4341>(second, 0x64646464u), 0xe480e480u);
        scale_octet(pairs, half_to_float(((const u16*)bytes)[at / 2]) * (0.5f + (float)(word >> 28)) * 0.25f);
    }
};

}  // namespace hb
