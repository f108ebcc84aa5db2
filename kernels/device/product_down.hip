// The second half of the experts for many tokens; experts_combine adds the results token by token.
//
//   K_FORMAT, K_WIDTH   as in product
#include "product.h"

using namespace hb;

using Format = K_FORMAT;
constexpr u32 ROW_BYTES = K_WIDTH / Format::WEIGHTS * Format::BYTES;

// inner [pairs, K_WIDTH] F16, sorted; matrix [experts, rows, K_WIDTH] in blocks; tiles from expert_lists -> outputs
// [pairs, rows] F32, sorted. Grid (rows / 256, most tiles).
KERNEL(256) product_down(const u16* inner, const u8* matrix, const i32* tiles, const i32* tile_count, float* outputs,
                         u32 rows, u32 all_experts) {
    SHARED_POOL(pool, K_POOL_BYTES);
    SHARED u32 table[Format::TABLE_WORDS + 1];
    static_assert(K_POOL_BYTES == PRODUCT_POOL<Format>, "kernels.ops.products must ask for this size");
    if (group_y() >= (u32)tile_count[0]) return;
    const i32* tile_entry = tiles + group_y() * 4;
    const u32 expert = (u32)tile_entry[0], first_row = (u32)tile_entry[1], live = (u32)tile_entry[2];
    const u32 first_column = group_x() * TILE_COLUMNS;
    ActivationRows activations;
#pragma unroll
    for (u32 i = 0; i < 2; ++i) {
        const u32 row = first_row + smaller(ActivationRows::tile_row(i), live - 1);
        activations.row[i] = inner + (u64)row * K_WIDTH + ActivationRows::column();
    }
    const u64 first = ((u64)expert * rows + first_column) * ROW_BYTES, total_bytes = (u64)all_experts * rows * ROW_BYTES;
    const WeightRows weights{matrix, matrix, first, total_bytes, rows - 1 - first_column, ROW_BYTES, false};
    WaveTile tile;
    multiply_tile<Format, K_WIDTH / 32>(tile, activations, weights, live, pool, table);

    tile.each([&](u32 row, u32 at, float value) {
        const u32 output = first_column + at;
        if (row < live && output < rows) outputs[(u64)(first_row + row) * rows + output] = value;
    });
}
EXPORT_KERNEL(product_down)
