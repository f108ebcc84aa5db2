// Products of quantised rows with one activation vector, for decode. A wave streams ROWS rows at a time: raw blocks go
// from memory to the wave's own LDS in 16-byte pieces (coalesced whatever the block size), the next pieces being in
// flight in registers while the present ones are used; then each lane takes one unit of 32 weights of every row.
//
// Activations are F16 pairs in the format's slot order, normalised for each unit of 32 by its largest value, so that no
// product overflows; units are added in F32 in the order of the lanes' butterfly. Nothing depends on the grid.
#pragma once
#include "blocks_256.h"

namespace hb {

constexpr u32 LANE_UNITS = WAVE;  // units of a row in one chunk: one a lane
constexpr u32 VECTOR_STRIDE = 20;  // words between units in LDS: 16 and a pad that keeps 16-byte reads free of conflicts

// ALIGNED: every row is a whole number of 16-byte pieces. WHOLE: every row is a whole number of chunks.
template <class Format, u32 ROWS, bool ALIGNED, bool WHOLE>
struct Chunk {
    static constexpr u32 BLOCK_UNITS = Format::WEIGHTS / 32;
    static constexpr u32 BYTES = LANE_UNITS / BLOCK_UNITS * Format::BYTES;
    static constexpr bool SHIFTS = !ALIGNED || BYTES % 16 != 0;  // whether a chunk may begin inside a piece
    static constexpr u32 PIECES = (BYTES + (!ALIGNED ? 12 : BYTES % 16) + 15) / 16;
    // Units of 64 bytes (F16) lie 80 apart, so that 16-byte reads of a wave meet all banks.
    static constexpr bool PADDED = Format::BYTES == 64 && BLOCK_UNITS == 1;
    static constexpr u32 UNIT_STRIDE = PADDED ? 80 : Format::BYTES;
    static constexpr u32 ROW_STRIDE = (PADDED ? PIECES * 20 : PIECES * 16) + 16;  // decoders may read one word too many
    static_assert(!PADDED || !SHIFTS);
    DEVICE_MEMBER static constexpr u32 place(u32 p) { return PADDED ? p / 4 * 80 + p % 4 * 16 : p * 16; }
    static constexpr u32 CARRIED = (ROWS * PIECES + WAVE - 1) / WAVE;
};

// Where a wave's rows are: from byte `first` on, in one matrix or, half of them each, in two of one shape. Rows past the
// last are memory that belongs to the matrix or is read as zero; their products are never stored.
template <u32 ROWS, u32 MATRICES>
struct RowBlock {
    static constexpr u32 A_MATRIX = ROWS / MATRICES;
    const u8* matrix[MATRICES];
    u64 first;        // byte offset of the first row, the same in every matrix
    u64 total_bytes;  // of a matrix
    u32 row_bytes;

    DEVICE_MEMBER const u8* base(u32 r) const {
        const u8* chosen = matrix[0];
        if constexpr (MATRICES == 2) chosen = r < A_MATRIX ? matrix[0] : matrix[1];
        return chosen + first;
    }
    // Bytes from `first` to byte `into_row` of row r.
    DEVICE_MEMBER u32 offset(u32 r, u32 into_row) const { return r % A_MATRIX * row_bytes + into_row; }
    // How far into a 16-byte piece that byte lies.
    template <class C>
    DEVICE_MEMBER u32 shift(u32 r, u32 into_row) const {
        if constexpr (!C::SHIFTS) return 0;
        return ((u32)first + offset(r, into_row)) & 15;
    }
    // Whether whole pieces may be read anywhere in these rows; the same in all lanes.
    DEVICE_MEMBER bool is_inside() const { return first + (u64)A_MATRIX * row_bytes + 16 <= total_bytes; }
};

// A chunk on its way from memory to LDS, in registers.
template <class C, bool WHOLE, u32 ROWS, u32 MATRICES>
struct Carrier {
    U32x4 piece[C::CARRIED];

    DEVICE_MEMBER void load(const RowBlock<ROWS, MATRICES>& rows, u32 chunk) {
        const u32 into_row = chunk * C::BYTES;
        if (uniform(rows.is_inside())) {
            load_pieces<true>(rows, into_row);
        } else {
            load_pieces<false>(rows, into_row);
        }
    }
    template <bool INSIDE>
    DEVICE_MEMBER void load_pieces(const RowBlock<ROWS, MATRICES>& rows, u32 into_row) {
#pragma unroll
        for (u32 j = 0; j < C::CARRIED; ++j) {
            const u32 index = j * WAVE + lane(), r = index / C::PIECES, p = index % C::PIECES;
            piece[j] = {0, 0, 0, 0};
            if ((j + 1) * WAVE > ROWS * C::PIECES && r >= ROWS) continue;
            const u32 shift = rows.template shift<C>(r, into_row);
            if (!WHOLE && p * 16 >= shift + smaller(C::BYTES, rows.row_bytes - into_row)) continue;
            const i32 at = (i32)(rows.offset(r, into_row) + p * 16) - (i32)shift;
            const u8* source = rows.base(r) + at;
            if constexpr (INSIDE) {
                piece[j] = *(const U32x4*)source;
            } else {
                const u32* word = (const u32*)source;
                const i64 left = (i64)(rows.total_bytes - rows.first) - at;
                if (left >= 4) piece[j].x = word[0];
                if (left >= 8) piece[j].y = word[1];
                if (left >= 12) piece[j].z = word[2];
                if (left >= 16) piece[j].w = word[3];
            }
        }
    }
    DEVICE_MEMBER void store(u8* buffer) const {
#pragma unroll
        for (u32 j = 0; j < C::CARRIED; ++j) {
            const u32 index = j * WAVE + lane(), r = index / C::PIECES, p = index % C::PIECES;
            if ((j + 1) * WAVE <= ROWS * C::PIECES || r < ROWS)
                *(U32x4*)(buffer + r * C::ROW_STRIDE + C::place(p)) = piece[j];
        }
    }
};

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

    // All threads: normalise x [units * 32]; a thread takes half a unit, its neighbour the other half.
    template <u32 THREADS>
    DEVICE_MEMBER void fill(const float* x, u32 units) const {
        for (u32 first = 0; first < 2 * units; first += THREADS) {
            const u32 half = first + thread_index(), inside = smaller(half, 2 * units - 1);
            float value[16], amax = 0.0f;
#pragma unroll
            for (u32 i = 0; i < 4; ++i) {
                const F32x4 four = ((const F32x4*)(x + inside * 16))[i];
                value[4 * i] = four.x, value[4 * i + 1] = four.y, value[4 * i + 2] = four.z, value[4 * i + 3] = four.w;
            }
#pragma unroll
            for (u32 i = 0; i < 16; ++i) amax = larger(amax, magnitude(value[i]));
            amax = larger(amax, lane_xor<1>(amax));
            if (half < 2 * units) store(value, amax, half);
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

// Adds one chunk's products to `sum`: lane l takes unit chunk * 32 + l of each row.
template <class Format, class C, bool WHOLE, u32 ROWS, u32 MATRICES>
DEVICE void add_chunk(float (&sum)[ROWS], const u8* buffer, const RowBlock<ROWS, MATRICES>& rows, u32 chunk, u32 units,
                      const Activations<Format>& x, const u32* table) {
    const u32 unit_index = chunk * LANE_UNITS + lane();
    if (!WHOLE && unit_index >= units) return;
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
