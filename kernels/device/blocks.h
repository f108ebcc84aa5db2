// Quantised weights. Every format is seen as units of 32 neighbouring weights: 16 pairs of small integers ("codes",
// exact in F16), with weight = scale[half] * code + offset[half], half 0 being elements 0..15. Block layouts are those
// of the GGUF files; nothing is repacked.
//
// A format gives: WEIGHTS and BYTES of a block; WORDS it loads for a unit; OFFSETS, whether offsets are not zero;
// TABLE_WORDS of lookup table that `prepare` fills in LDS; CODE_UNIT, what a code of 1 stands for (a power of two, folded
// into the scales by the user of the codes); `load` (a unit of the block at byte `at` of memory whose start is aligned to
// 4) and `decode`; and `slot(e)`, the place (pair * 2 + high half) where element e of a unit lands, always inside its own
// half of the unit. Decode needs `load` alone: its codes stay integers (unit_dots.h).
#pragma once
#include "portable.h"

namespace hb {

struct Unit {
    u32 pairs[16];
    float scale[2], offset[2];
};

// Loads COUNT words from `bytes` + offset, for any alignment of the offset that is a multiple of ALIGN. The base is
// aligned to 4. A word that holds no wanted byte is never read.
template <u32 COUNT, u32 ALIGN>
DEVICE void load_words(u32* words, const u8* bytes, u64 offset) {
    const u32* source = (const u32*)(bytes + (offset & ~(u64)3));
    if constexpr (ALIGN % 16 == 0) {
#pragma unroll
        for (u32 i = 0; i < COUNT; i += 4) {
            const U32x4 four = *(const U32x4*)(source + i);
            words[i] = four.x, words[i + 1] = four.y, words[i + 2] = four.z, words[i + 3] = four.w;
        }
    } else if constexpr (ALIGN % 4 == 0) {
#pragma unroll
        for (u32 i = 0; i < COUNT; ++i) words[i] = source[i];
    } else {
        const u32 bits = (u32)(offset & 3) * 8;
        u32 current = source[0];
#pragma unroll
        for (u32 i = 0; i < COUNT; ++i) {
            const u32 next = i + 1 < COUNT || bits ? source[i + 1] : 0;
            words[i] = funnel_right(current, next, bits);
            current = next;
        }
    }
}

DEVICE u32 byte_of(u32 word, u32 index) { return word >> 8 * index & 0xffu; }

// Bytes that are the high halves of F16 numbers, or biased integers b = code + 128, to pairs in natural order.
DEVICE void expand_high(u32 bytes, u32* pairs) {
    pairs[0] = permute<0x1404>(bytes, 0), pairs[1] = permute<0x3424>(bytes, 0);
}
DEVICE void expand_biased(u32 bytes, u32* pairs) {  // 0x64bb is 1024 + b
    pairs[0] = pair_add(permute<0x4140>(bytes, 0x64646464u), 0xe480e480u);
    pairs[1] = pair_add(permute<0x4342>(bytes, 0x64646464u), 0xe480e480u);
}
// The codes at bits [shift, shift + bits) of both half words, where mask covers them in place: 1024 + code * 2^shift.
DEVICE u32 planted(u32 word, u32 mask) { return and_or(word, mask, 0x64006400u); }

// Two scale bytes of the ROCmFP formats (the low bytes of a word): unsigned E4M3 of half the usual range, bytes above 0x7e
// invalid and read as 0. Seven bits up, the byte is an F16 number 2^7 times too small, zero exponents included.
DEVICE void rocm_scales(u32 bytes, float& first, float& second) {
    const u32 apart = permute<0x4140>(bytes, 0), invalid = (apart + 0x00810081u) >> 8 & 0x00010001u;
    const u32 halves = pair_multiply(apart << 7 & ~(invalid * 0xffffu), 0x58005800u);
    first = low_half(halves), second = high_half(halves);
}
// One such byte.
DEVICE float rocm_scale(u32 byte) { return byte > 0x7eu ? 0.0f : low_half(byte << 7) * 128.0f; }

struct Natural {
    DEVICE_MEMBER static constexpr u32 slot(u32 e) { return e; }
};
// Pairs hold elements 0 and 2, then 1 and 3, of each four.
struct EvenOdd {
    DEVICE_MEMBER static constexpr u32 slot(u32 e) { return (e & ~3u) | (e & 1u) << 1 | (e >> 1 & 1u); }
};
// A format without lookup tables.
struct NoTable {
    static constexpr u32 TABLE_WORDS = 0;
    template <u32 THREADS>
    DEVICE_MEMBER static void prepare(u32*) {}
};

struct Q8_0 : Natural, NoTable {
    static constexpr u32 WEIGHTS = 32, BYTES = 34, WORDS = 9, OFFSETS = 0;
    static constexpr float CODE_UNIT = 1.0f;

    DEVICE_MEMBER static void load(u32* w, const u8* bytes, u64 at, u32) {
        w[8] = ((const u16*)bytes)[at / 2];
        load_words<8, 2>(w, bytes, at + 2);
    }
    DEVICE_MEMBER static void decode(const u32* w, u32, const u32*, Unit& unit) {
        unit.scale[0] = unit.scale[1] = half_to_float((u16)w[8]);
#pragma unroll
        for (u32 i = 0; i < 8; ++i) expand_biased(w[i] ^ 0x80808080u, unit.pairs + 2 * i);
    }
};

struct RocmFp8 : Natural, NoTable {
    static constexpr u32 WEIGHTS = 32, BYTES = 33, WORDS = 9, OFFSETS = 0;
    static constexpr float CODE_UNIT = 1.0f;

    DEVICE_MEMBER static void load(u32* w, const u8* bytes, u64 at, u32) {
        load_words<8, 1>(w, bytes, at);
        w[8] = bytes[at + 32];
    }
    DEVICE_MEMBER static void decode(const u32* w, u32, const u32*, Unit& unit) {
        rocm_scales(w[8], unit.scale[0], unit.scale[1]);
        unit.scale[1] = unit.scale[0];
#pragma unroll
        for (u32 i = 0; i < 8; ++i) expand_biased(w[i] ^ 0x80808080u, unit.pairs + 2 * i);
    }
};

// Nibbles that select from eight magnitudes and a sign; byte i holds elements i and i + 16. The tables are the high bytes
// of the magnitudes as F16.
template <u32 TABLE_LOW, u32 TABLE_HIGH>
DEVICE void decode_nibbles(const u32* codes, u32* pairs) {
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
        u32 lows, highs;
        look_up_halves(TABLE_LOW, TABLE_HIGH, codes[i], lows, highs);
        expand_high(and_or(codes[i] << 4, 0x80808080u, lows), pairs + 2 * i);
        expand_high(and_or(codes[i], 0x80808080u, highs), pairs + 8 + 2 * i);
    }
}
constexpr u32 LEVELS_0123 = 0x42403c00u, LEVELS_468C = 0x4a484644u, LEVELS_468A = 0x49484644u;

struct Mxfp4 : Natural, NoTable {
    static constexpr u32 WEIGHTS = 32, BYTES = 17, WORDS = 5, OFFSETS = 0;
    static constexpr float CODE_UNIT = 1.0f;

    DEVICE_MEMBER static void load(u32* w, const u8* bytes, u64 at, u32) {
        w[4] = bytes[at];
        load_words<4, 1>(w, bytes, at + 1);
    }
    // 2^(x - 128), also below the normal floats.
    DEVICE_MEMBER static float scale(u32 x) { return as_float(x > 1 ? (x - 1) << 23 : 0x200000u << x); }
    DEVICE_MEMBER static void decode(const u32* w, u32, const u32*, Unit& unit) {
        unit.scale[0] = unit.scale[1] = scale(w[4]);
        decode_nibbles<LEVELS_0123, LEVELS_468C>(w, unit.pairs);
    }
};

struct RocmFp4 : Natural, NoTable {
    static constexpr u32 WEIGHTS = 32, BYTES = 18, WORDS = 5, OFFSETS = 0;
    static constexpr float CODE_UNIT = 1.0f;

    DEVICE_MEMBER static void load(u32* w, const u8* bytes, u64 at, u32) {
        load_words<4, 2>(w, bytes, at);
        w[4] = ((const u16*)bytes)[at / 2 + 8];
    }
    DEVICE_MEMBER static void decode(const u32* w, u32, const u32*, Unit& unit) {
        rocm_scales(w[4], unit.scale[0], unit.scale[1]);
        decode_nibbles<LEVELS_0123, LEVELS_468A>(w, unit.pairs);
    }
};

struct RocmFp4Fast : Natural, NoTable {
    static constexpr u32 WEIGHTS = 32, BYTES = 17, WORDS = 5, OFFSETS = 0;
    static constexpr float CODE_UNIT = 1.0f;

    DEVICE_MEMBER static void load(u32* w, const u8* bytes, u64 at, u32) {
        load_words<4, 1>(w, bytes, at);
        w[4] = bytes[at + 16];
    }
    DEVICE_MEMBER static void decode(const u32* w, u32, const u32*, Unit& unit) {
        rocm_scales(w[4], unit.scale[0], unit.scale[1]);
        unit.scale[1] = unit.scale[0];
        decode_nibbles<LEVELS_0123, LEVELS_468A>(w, unit.pairs);
    }
};

// Two-bit codes: bits 2i of a word are element i; pairs hold elements i and i + 8 of a half.
struct TwoBit : NoTable {
    static constexpr u32 WEIGHTS = 32, BYTES = 10, WORDS = 3;
    DEVICE_MEMBER static constexpr u32 slot(u32 e) { return (e & 16u) | (e & 7u) << 1 | (e >> 3 & 1u); }

    DEVICE_MEMBER static void load(u32* w, const u8* bytes, u64 at, u32) {
        load_words<2, 2>(w, bytes, at);
        w[2] = ((const u16*)bytes)[at / 2 + 4];
    }
    // Pairs of (code + bias), where negative_bias[j] is the F16 pair -(1024 / 4^j - bias).
    DEVICE_MEMBER static void codes(const u32* w, const u32 (&negative_bias)[4], u32* pairs) {
        constexpr u32 SHARE[4] = {0x3c003c00u, 0x34003400u, 0x2c002c00u, 0x24002400u};  // 4^-j
#pragma unroll
        for (u32 half = 0; half < 2; ++half)
#pragma unroll
            for (u32 j = 0; j < 8; ++j)
                pairs[half * 8 + j] = pair_fma(planted(j < 4 ? w[half] : w[half] >> 8, 0x00030003u << 2 * (j % 4)),
                                               SHARE[j % 4], negative_bias[j % 4]);
    }
};

struct RocmFp2 : TwoBit {  // levels -1, 0, 1, 2
    static constexpr u32 OFFSETS = 0;
    static constexpr float CODE_UNIT = 1.0f;

    DEVICE_MEMBER static void decode(const u32* w, u32, const u32*, Unit& unit) {
        constexpr u32 BIAS[4] = {0xe401e401u, 0xdc04dc04u, 0xd410d410u, 0xcc40cc40u};  // -1025, -257, -65, -17
        rocm_scales(w[2], unit.scale[0], unit.scale[1]);
        codes(w, BIAS, unit.pairs);
    }
};

struct RocmFp2S40 : TwoBit {  // levels -4, -1, 1, 4
    static constexpr u32 OFFSETS = 0;
    static constexpr float CODE_UNIT = 1.0f / 24.0f;

    DEVICE_MEMBER static void decode(const u32* w, u32, const u32*, Unit& unit) {
        constexpr u32 BIAS[4] = {0xe400e400u, 0xdc00dc00u, 0xd400d400u, 0xcc00cc00u};  // -1024, -256, -64, -16
        rocm_scales(w[2], unit.scale[0], unit.scale[1]);
        codes(w, BIAS, unit.pairs);
#pragma unroll
        for (u32 i = 0; i < 16; ++i) {
            const u32 odd = pair_fma(unit.pairs[i], 0x40004000u, 0xc200c200u);      // 2 c - 3: -3, -1, 1, 3
            unit.pairs[i] = pair_multiply(odd, pair_fma(odd, odd, 0x4dc04dc0u));  // times (its square + 23): 24 levels
        }
    }
};

struct RocmFp2Affine : TwoBit {  // c * scale(e0) - scale(e1), as (c - 1) * scale(e0) + (scale(e0) - scale(e1))
    static constexpr u32 OFFSETS = 1;
    static constexpr float CODE_UNIT = 1.0f;

    DEVICE_MEMBER static void decode(const u32* w, u32, const u32*, Unit& unit) {
        constexpr u32 BIAS[4] = {0xe401e401u, 0xdc04dc04u, 0xd410d410u, 0xcc40cc40u};  // small codes round less in sums
        float below;
        rocm_scales(w[2], unit.scale[0], below);
        unit.scale[1] = unit.scale[0];
        unit.offset[0] = unit.offset[1] = unit.scale[0] - below;
        codes(w, BIAS, unit.pairs);
    }
};

// Three-bit codes, a magnitude 0, 1, 2, 4 and a sign: as an F16 exponent, the magnitude's two bits are 0, 2^-14, 2^-13,
// 2^-12. Pairs hold elements i and i + 4 of each eight.
struct RocmFp3 : NoTable {
    static constexpr u32 WEIGHTS = 32, BYTES = 14, WORDS = 4, OFFSETS = 0;
    static constexpr float CODE_UNIT = 16384.0f;
    DEVICE_MEMBER static constexpr u32 slot(u32 e) { return (e & ~7u) | (e & 3u) << 1 | (e >> 2 & 1u); }

    DEVICE_MEMBER static void load(u32* w, const u8* bytes, u64 at, u32) {
        load_words<3, 2>(w, bytes, at);
        w[3] = ((const u16*)bytes)[at / 2 + 6];
    }
    DEVICE_MEMBER static void decode(const u32* w, u32, const u32*, Unit& unit) {
        rocm_scales(w[3], unit.scale[0], unit.scale[1]);
        const u32 group[4] = {w[0], funnel_right(w[0], w[1], 24), funnel_right(w[1], w[2], 16), w[2] >> 8};
#pragma unroll
        for (u32 g = 0; g < 4; ++g) {
            const u32 split = (group[g] & 0xfffu) | (group[g] << 4 & 0x0fff0000u);  // four codes in each half word
#pragma unroll
            for (u32 i = 0; i < 4; ++i) {
                const u32 exponent = i < 3 ? split << (10 - 3 * i) : split << 1;
                unit.pairs[4 * g + i] = and_or(exponent, 0x0c000c00u, split << (13 - 3 * i) & 0x80008000u);
            }
        }
    }
};

}  // namespace hb
