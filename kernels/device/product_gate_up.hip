// The first half of the experts for many tokens: gate and up rows of one expert in one tile, SwiGLU in registers. A tile
// comes from the list of expert_lists; a lane holds gate and up of the same outputs.
//
//   K_FORMAT, K_WIDTH   as in product
#include "product.h"

using namespace hb;

using Format = K_FORMAT;
constexpr u32 OUTPUTS = TILE_COLUMNS / 2, ROW_BYTES = K_WIDTH / Format::WEIGHTS * Format::BYTES;

// x [tokens, K_WIDTH] F16; gate and up [experts, rows, K_WIDTH] in blocks; order and tiles from expert_lists, a pair p
// being token p / used -> inner [pairs, rows] F16, sorted. Grid (rows / 128, most tiles).
KERNEL(256) product_gate_up(const u16* x, const u8* gate, const u8* up, const i32* order, const i32* tiles,
                            const i32* tile_count, u16* inner, u32 rows, u32 all_experts, u32 used,
                            float limit) {
    SHARED_POOL(pool, K_POOL_BYTES);
    SHARED u32 table[Format::TABLE_WORDS + 1];
    static_assert(K_POOL_BYTES == PRODUCT_POOL<Format>, "kernels.ops.products must ask for this size");
    if (group_y() >= (u32)tile_count[0]) return;
    const i32* tile_entry = tiles + group_y() * 4;
    const u32 expert = (u32)tile_entry[0], first_row = (u32)tile_entry[1], live = (u32)tile_entry[2];
    const u32 first_output = group_x() * OUTPUTS;
    ActivationRows activations;
#pragma unroll
    for (u32 i = 0; i < 2; ++i) {
        const u32 pair = (u32)order[first_row + smaller(ActivationRows::tile_row(i), live - 1)];
        activations.row[i] = x + (u64)(pair / used) * K_WIDTH + ActivationRows::column();
    }
    const u64 first = ((u64)expert * rows + first_output) * ROW_BYTES, total_bytes = (u64)all_experts * rows * ROW_BYTES;
    const WeightRows weights{gate, up, first, total_bytes, rows - 1 - first_output, ROW_BYTES, true};
    WaveTile tile;
    multiply_tile<Format, K_WIDTH / 32>(tile, activations, weights, live, pool, table);

    tile.each_pair([&](u32 row, u32 at, float gate_sum, float up_sum) {
        const u32 column = first_output + at;
        const float g = smaller(gate_sum, limit), u = smaller(larger(up_sum, -limit), limit);
        if (row < live && column < rows) inner[(u64)(first_row + row) * rows + column] = float_to_half(silu(g) * u);
    });
}
EXPORT_KERNEL(product_gate_up)
