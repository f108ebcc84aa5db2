// Quantised weights times many tokens (prefill): the dense projections and the shared expert's down matrix.
//
//   K_FORMAT   a format of blocks.h or blocks_256.h
//   K_WIDTH    weights in a row
#include "product.h"

using namespace hb;

using Format = K_FORMAT;
constexpr u32 ROW_BYTES = K_WIDTH / Format::WEIGHTS * Format::BYTES;

// x [tokens, input_stride] F16, of which K_WIDTH values from `first_input` on; matrix [rows, K_WIDTH] in blocks -> y
// [tokens, output_stride] F32, columns first_output .. + rows. Grid (rows / 256, tokens / 128).
KERNEL(256) product(const u16* x, const u8* matrix, float* y, u32 tokens, u32 rows, u32 input_stride, u32 first_input,
                    u32 output_stride, u32 first_output) {
    SHARED_POOL(pool, K_POOL_BYTES);
    SHARED u32 table[Format::TABLE_WORDS + 1];
    static_assert(K_POOL_BYTES == PRODUCT_POOL<Format>, "kernels.ops.products must ask for this size");
    const u32 first_token = group_y() * TILE_ROWS, live = smaller(tokens - first_token, TILE_ROWS);
    const u32 first_column = group_x() * TILE_COLUMNS;
    ActivationRows activations;
#pragma unroll
    for (u32 i = 0; i < 2; ++i) {
        const u32 token = first_token + smaller(ActivationRows::tile_row(i), live - 1);
        activations.row[i] = x + (u64)token * input_stride + first_input + ActivationRows::column();
    }
    const u64 total_bytes = (u64)rows * ROW_BYTES;
    const WeightRows weights{matrix, matrix, (u64)first_column * ROW_BYTES, total_bytes, rows - 1 - first_column, ROW_BYTES, false};
    WaveTile tile;
    multiply_tile<Format, K_WIDTH / 32>(tile, activations, weights, live, pool, table);

    tile.each([&](u32 row, u32 at, float value) {
        const u32 column = first_column + at;
        if (row < live && column < rows) y[(u64)(first_token + row) * output_stride + first_output + column] = value;
    });
}
EXPORT_KERNEL(product)
