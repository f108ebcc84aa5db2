// The tile of a matrix product with quantised weights: 128 rows of F16 activations times 256 rows of weights, decoded to
// F16 on the way, F32 accumulation on matrix cores. Two forms with the same calls: product_lds.h (gfx11) decodes into LDS,
// product_registers.h (NVIDIA) into the operands of the products. Both are eight waves, go through k in steps of one unit
// (32), skip rows that a tile does not have, and add over k in one order whatever the number of rows.
#pragma once
#include "blocks_256.h"
#include "matrix.h"

namespace hb {

constexpr u32 TILE_ROWS = 128, TILE_COLUMNS = 256, TILE_THREADS = 256;
// Of 2 * PAIRED_ROWS weight rows of a tile with gate and up, the first half are rows of gate and the second the same of up.
constexpr u32 PAIRED_ROWS = HB_ASYNC_COPY ? 16 : 32;

// Where a thread finds the activations that it brings: four neighbouring threads share the 64 bytes of a row's unit, and
// each serves two rows.
struct ActivationRows {
    const u16* row[2];  // at this thread's column

    DEVICE_MEMBER static u32 tile_row(u32 which) { return which * 64 + thread_index() / 4; }
    DEVICE_MEMBER static u32 column() { return thread_index() % 4 * 8; }
};

// The weight rows of a tile: row r begins at byte offset(r) of matrix(r). Rows past the end repeat the last one.
struct WeightRows {
    const u8* gate;
    const u8* up;       // the same matrix where rows are not paired
    u64 first;          // byte offset of the first row
    u64 total_bytes;    // of a matrix
    u32 last, row_bytes;
    bool is_paired;

    DEVICE_MEMBER const u8* matrix(u32 r) const { return is_paired && r % (2 * PAIRED_ROWS) >= PAIRED_ROWS ? up : gate; }
    DEVICE_MEMBER u32 after_first(u32 r) const {
        return smaller(is_paired ? r / (2 * PAIRED_ROWS) * PAIRED_ROWS + r % PAIRED_ROWS : r, last) * row_bytes;
    }
    DEVICE_MEMBER u64 offset(u32 r) const { return first + after_first(r); }
};

}  // namespace hb

#if HB_ASYNC_COPY
#include "product_registers.h"
#else
#include "product_lds.h"
#endif
