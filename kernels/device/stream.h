// Quantised rows on their way from memory into a wave's own LDS, for decode. Raw blocks travel in 16-byte pieces that lie
// side by side in memory, whatever the block size, one chunk of ROWS rows a step: by the copy engine, K_AHEAD chunks
// before their use, where there is one; else a chunk ahead in registers.
#pragma once
#include "blocks_256.h"

namespace hb {

constexpr u32 LANE_UNITS = WAVE;  // units of a row in one chunk: one a lane

// ALIGNED: every row is a whole number of 16-byte pieces. WHOLE: every row is a whole number of chunks.
template <class Format, u32 ROWS, bool ALIGNED, bool WHOLE>
struct Chunk {
    static constexpr u32 BLOCK_UNITS = Format::WEIGHTS / 32;
    static constexpr u32 BYTES = LANE_UNITS / BLOCK_UNITS * Format::BYTES;
    static constexpr bool SHIFTS = !ALIGNED || BYTES % 16 != 0;  // whether a chunk may begin inside a piece
    static constexpr bool ROWS_SHIFT = !ALIGNED;                 // whether that differs from row to row
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
        return (C::ROWS_SHIFT ? (u32)first + offset(r, into_row) : into_row) & 15;
    }
    // Whether whole pieces may be read anywhere in these rows; the same in all lanes.
    DEVICE_MEMBER bool is_inside() const { return first + (u64)A_MATRIX * row_bytes + 16 <= total_bytes; }
};

// The steps of a wave: the chunks of a block of rows, for each of SOURCES matrices, then the next block of rows.
template <u32 CHUNKS, u32 SOURCES = 1>
struct Walk {
    u32 chunk = 0, source = 0, pass = 0;

    DEVICE_MEMBER bool ends_rows() const { return chunk + 1 == CHUNKS; }
    DEVICE_MEMBER bool ends_pass() const { return ends_rows() && source + 1 == SOURCES; }
    DEVICE_MEMBER void advance() {
        if (++chunk < CHUNKS) return;
        chunk = 0;
        if (++source < SOURCES) return;
        source = 0, ++pass;
    }
};

// One lane's share of a chunk, piece by piece: visit(j, from, bytes, to) for pieces whose first `bytes` bytes (the
// others are not to be read) lie at `from` and go to byte `to` of the buffer. INSIDE: all may be read.
template <class C, bool WHOLE, bool INSIDE, u32 ROWS, u32 MATRICES, class Visit>
DEVICE void visit_pieces(const RowBlock<ROWS, MATRICES>& rows, u32 chunk, const Visit& visit) {
    const u32 into_row = chunk * C::BYTES;
#pragma unroll
    for (u32 j = 0; j < C::CARRIED; ++j) {
        const u32 index = j * WAVE + lane(), r = index / C::PIECES, p = index % C::PIECES;
        if ((j + 1) * WAVE > ROWS * C::PIECES && r >= ROWS) continue;
        const u32 shift = rows.template shift<C>(r, into_row);
        const i32 at = (i32)(rows.offset(r, into_row) + p * 16) - (i32)shift;
        u32 bytes = 16;
        if (!WHOLE && p * 16 >= shift + smaller(C::BYTES, rows.row_bytes - into_row)) bytes = 0;
        if constexpr (!INSIDE) {
            const i64 left = (i64)(rows.total_bytes - rows.first) - at;
            if (left < 16) bytes = left < 0 ? 0 : smaller(bytes, (u32)left);
        }
        visit(j, rows.base(r) + at, bytes, r * C::ROW_STRIDE + C::place(p));
    }
}
template <class C, bool WHOLE, u32 ROWS, u32 MATRICES, class Visit>
DEVICE void each_piece(const RowBlock<ROWS, MATRICES>& rows, u32 chunk, const Visit& visit) {
    if (uniform(rows.is_inside())) {
        visit_pieces<C, WHOLE, true>(rows, chunk, visit);
    } else {
        visit_pieces<C, WHOLE, false>(rows, chunk, visit);
    }
}

#if HB_ASYNC_COPY

template <class C, bool WHOLE, u32 ROWS, u32 MATRICES>
struct Stream {
    static constexpr u32 AHEAD = K_AHEAD, SLOT = ROWS * C::ROW_STRIDE, BYTES = (AHEAD + 1) * SLOT;
    u8* slots;
    u32 filling = 0, used = 0;  // bytes into the slots

    DEVICE_MEMBER explicit Stream(u8* own) : slots(own) {}
    DEVICE_MEMBER static u32 after(u32 slot) { return slot == AHEAD * SLOT ? 0 : slot + SLOT; }

    // Starts the next chunk, if there is one.
    DEVICE_MEMBER void bring(const RowBlock<ROWS, MATRICES>& rows, u32 chunk, bool is_there) {
        u8* target = slots + filling;
        if (is_there) {
            each_piece<C, WHOLE>(rows, chunk, [&](u32, const u8* from, u32 bytes, u32 to) {
                copy_async(target + to, bytes ? from : rows.matrix[0], bytes);
            });
        }
        commit_copies();
        filling = after(filling);
    }
    // The oldest chunk, once it is there. All lanes are done with the one before.
    DEVICE_MEMBER const u8* arrive() {
        wait_groups<AHEAD - 1>();
        wave_fence();
        const u8* found = slots + used;
        used = after(used);
        return found;
    }
};

#else

template <class C, bool WHOLE, u32 ROWS, u32 MATRICES>
struct Stream {
    static constexpr u32 AHEAD = 1, BYTES = ROWS * C::ROW_STRIDE;
    static_assert(K_AHEAD == AHEAD);
    u8* buffer;
    U32x4 piece[C::CARRIED];

    DEVICE_MEMBER explicit Stream(u8* own) : buffer(own) {}

    DEVICE_MEMBER void bring(const RowBlock<ROWS, MATRICES>& rows, u32 chunk, bool is_there) {
        if (!is_there) return;
        each_piece<C, WHOLE>(rows, chunk, [&](u32 j, const u8* from, u32 bytes, u32) {
            piece[j] = {0, 0, 0, 0};
            if (bytes == 16) {
                piece[j] = *(const U32x4*)from;
            } else {
                const u32* word = (const u32*)from;
                if (bytes >= 4) piece[j].x = word[0];
                if (bytes >= 8) piece[j].y = word[1];
                if (bytes >= 12) piece[j].z = word[2];
            }
        });
    }
    DEVICE_MEMBER const u8* arrive() {
        wave_fence();
#pragma unroll
        for (u32 j = 0; j < C::CARRIED; ++j) {
            const u32 index = j * WAVE + lane(), r = index / C::PIECES, p = index % C::PIECES;
            if ((j + 1) * WAVE <= ROWS * C::PIECES || r < ROWS)
                *(U32x4*)(buffer + r * C::ROW_STRIDE + C::place(p)) = piece[j];
        }
        wave_fence();
        return buffer;
    }
};

#endif

}  // namespace hb
