// The formats with blocks of 256 weights, eight units each (see blocks.h).
#pragma once
#include "blocks.h"

namespace hb {

struct Q2_K : EvenOdd, NoTable {
    static constexpr u32 WEIGHTS = 256, BYTES = 84, WORDS = 10, OFFSETS = 1;
    static constexpr float CODE_UNIT = 1.0f;

    DEVICE_MEMBER static void load(u32* w, const u8* bytes, u64 at, u32 unit) {
        load_words<8, 4>(w, bytes, at + 16 + unit / 4 * 32);
        w[8] = ((const u16*)bytes)[at / 2 + unit];  // scale and minimum of the unit's two halves
        w[9] = ((const u32*)bytes)[at / 4 + 20];    // d, m
    }
    DEVICE_MEMBER static void decode(const u32* w, u32 index, const u32*, Unit& unit) {
        const float d = low_half(w[9]), m = high_half(w[9]);
        unit.scale[0] = d * (float)(w[8] & 15u), unit.scale[1] = d * (float)(w[8] >> 8 & 15u);
        unit.offset[0] = -m * (float)(w[8] >> 4 & 15u), unit.offset[1] = -m * (float)(w[8] >> 12 & 15u);
        const u32 shift = index % 4 * 2;
#pragma unroll
        for (u32 i = 0; i < 8; ++i) {
            const u32 codes = w[i] >> shift;  // one code in the low bits of each byte
            unit.pairs[2 * i] = pair_add(planted(codes, 0x00030003u), 0xe400e400u);
            unit.pairs[2 * i + 1] = pair_fma(planted(codes, 0x03000300u), 0x1c001c00u, 0xc400c400u);  // / 256, - 4
        }
    }
};

struct Q4_K : EvenOdd, NoTable {
    static constexpr u32 WEIGHTS = 256, BYTES = 144, WORDS = 12, OFFSETS = 1;
    static constexpr float CODE_UNIT = 1.0f;

    DEVICE_MEMBER static void load(u32* w, const u8* bytes, u64 at, u32 unit) {
        load_words<8, 16>(w, bytes, at + 16 + unit / 2 * 32);
        load_words<4, 16>(w + 8, bytes, at);  // d, m, then twelve bytes of 6-bit scales and minima
    }
    DEVICE_MEMBER static void scale_codes(const u32* w, u32 index, u32& scale, u32& minimum) {
        const u32 at = index % 4 * 8;
        const u32 a = w[9] >> at & 0xffu, b = w[10] >> at & 0xffu, c = w[11] >> at & 0xffu;
        scale = index < 4 ? a & 63u : (c & 15u) | a >> 6 << 4;
        minimum = index < 4 ? b & 63u : c >> 4 | b >> 6 << 4;
    }
    DEVICE_MEMBER static void decode(const u32* w, u32 index, const u32*, Unit& unit) {
        const float d = low_half(w[8]), m = high_half(w[8]);
        u32 scale, minimum;
        scale_codes(w, index, scale, minimum);
        unit.scale[0] = unit.scale[1] = d * (float)scale;
        unit.offset[0] = unit.offset[1] = -m * (float)minimum;
        const u32 shift = index % 2 * 4;
#pragma unroll
        for (u32 i = 0; i < 8; ++i) {
            const u32 codes = w[i] >> shift;
            unit.pairs[2 * i] = pair_add(planted(codes, 0x000f000fu), 0xe400e400u);
            unit.pairs[2 * i + 1] = pair_add(planted(codes >> 8, 0x000f000fu), 0xe400e400u);
        }
    }
};

// One word of the code book a row: two bits a magnitude (8, 25, 43), element k at bits 2k.
CONSTANT u16 IQ2_XXS_GRID[256] = {
#include "iq2_xxs_grid.h"
};

struct Iq2Xxs : Natural {
    static constexpr u32 WEIGHTS = 256, BYTES = 66, WORDS = 3, OFFSETS = 0;
    static constexpr float CODE_UNIT = 1.0f;
    static constexpr u32 TABLE_WORDS = 256 + 128;

    // Selectors for look_up, a nibble an element: the grid's magnitude in bits 0 and 1, the sign in bit 2.
    template <u32 THREADS>
    DEVICE_MEMBER static void prepare(u32* table) {
        for (u32 i = thread_index(); i < TABLE_WORDS; i += THREADS) {
            u32 selectors = 0;
            if (i < 256) {
                const u32 row = IQ2_XXS_GRID[i];
                for (u32 k = 0; k < 8; ++k) selectors |= (row >> 2 * k & 3u) << 4 * k;
            } else {
                const u32 signs = (i - 256) | (count_bits(i - 256) & 1u) << 7;  // the eighth makes their number even
                for (u32 k = 0; k < 8; ++k) selectors |= (signs >> k & 1u) << (4 * k + 2);
            }
            table[i] = selectors;
        }
    }
    DEVICE_MEMBER static void load(u32* w, const u8* bytes, u64 at, u32 unit) {
        w[2] = ((const u16*)bytes)[at / 2];
        load_words<2, 2>(w, bytes, at + 2 + unit * 8);
    }
    DEVICE_MEMBER static float scale(const u32* w) {
        return half_to_float((u16)w[2]) * (0.5f + (float)(w[1] >> 28)) * 0.25f;
    }
    DEVICE_MEMBER static void decode(const u32* w, u32, const u32* table, Unit& unit) {
        unit.scale[0] = unit.scale[1] = scale(w);
#pragma unroll
        for (u32 l = 0; l < 4; ++l) {
            const u32 selectors = table[byte_of(w[0], l)] | table[256 + (w[1] >> 7 * l & 127u)];
            u32 first, second;
            look_up(0x00ab9988u, 0x00556778u, selectors, first, second);  // 128 + (8, 25, 43), 128 - (8, 25, 43)
            expand_biased(first, unit.pairs + 4 * l);
            expand_biased(second, unit.pairs + 4 * l + 2);
        }
    }
};

// Plain F16 weights in the same clothes: the codes are the weights.
struct F16 : Natural, NoTable {
    static constexpr u32 WEIGHTS = 32, BYTES = 64, WORDS = 16, OFFSETS = 0;
    static constexpr float CODE_UNIT = 1.0f;

    DEVICE_MEMBER static void load(u32* w, const u8* bytes, u64 at, u32) {
        load_words<16, 16>(w, bytes, at);
    }
    DEVICE_MEMBER static void decode(const u32* w, u32, const u32*, Unit& unit) {
        unit.scale[0] = unit.scale[1] = 1.0f;
#pragma unroll
        for (u32 i = 0; i < 16; ++i) unit.pairs[i] = w[i];
    }
};

}  // namespace hb
