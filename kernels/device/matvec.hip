// Matrix times vector from quantised blocks, for decode: the projections, the shared expert's down matrix, the head.
//
//   K_FORMAT   a format of blocks.h or blocks_256.h
//   K_ROWS     rows a wave streams at a time
//   K_WIDTH    weights in a row: the vector's length
//   K_ALIGNED  1: a row is a whole number of 16-byte pieces
#include "matvec.h"

using namespace hb;

using Format = K_FORMAT;
constexpr u32 THREADS = 256, WAVES = THREADS / WAVE, UNITS = K_WIDTH / 32;
constexpr u32 CHUNKS = (UNITS + LANE_UNITS - 1) / LANE_UNITS;
constexpr u32 VECTOR_WORDS = (UNITS * Activations<Format>::WORDS_A_UNIT + 3) / 4 * 4;
constexpr bool WHOLE = UNITS % LANE_UNITS == 0;
using C = Chunk<Format, K_ROWS, K_ALIGNED, WHOLE>;

// x [tokens, inputs, K_WIDTH], matrix [rows, K_WIDTH] in blocks -> y [tokens, rows]. Rows come in `inputs` groups of
// rows_an_input, each with its own vector (the grouped output projection; elsewhere there is one). A workgroup takes
// 8 * K_ROWS * passes rows, all of one group. Grid (rows / that, tokens).
KERNEL(256) matvec(const float* x, const u8* matrix, float* y, u32 rows, u32 rows_an_input, u32 row_bytes, u32 passes) {
    SHARED_POOL(pool, K_POOL_BYTES);
    static_assert(K_POOL_BYTES == VECTOR_WORDS * 4, "kernels.ops.matvec must ask for the vector's size");
    SHARED u8 raw[WAVES][K_ROWS * C::ROW_STRIDE] __attribute__((aligned(16)));
    SHARED u32 table[Format::TABLE_WORDS + 1];
    const u32 token = group_y(), group_rows = WAVES * K_ROWS * passes, first_row = group_x() * group_rows;
    const u32 inputs = rows / rows_an_input;
    RowBlock<K_ROWS, 1> block{{matrix}, 0, (u64)rows * row_bytes, row_bytes};
    const Activations<Format> activations = Activations<Format>::at((u32*)pool, UNITS);

    const u32 first = first_row + wave() * K_ROWS, steps = passes * CHUNKS;
    block.first = (u64)first * row_bytes;
    Carrier<C, WHOLE, K_ROWS, 1> carrier;
    carrier.load(block, 0);
    Format::template prepare<THREADS>(table);
    activations.template fill<THREADS>(x + ((u64)token * inputs + first_row / rows_an_input) * K_WIDTH, UNITS);
    barrier();

    float sum[K_ROWS];
#pragma unroll
    for (u32 r = 0; r < K_ROWS; ++r) sum[r] = 0.0f;
    RowBlock<K_ROWS, 1> next = block;
#pragma unroll 1
    for (u32 step = 0, chunk = 0; step < steps; ++step) {
        wave_fence();
        carrier.store(raw[wave()]);
        wave_fence();
        const bool ends_rows = chunk + 1 == CHUNKS;
        if (ends_rows) next.first += (u64)WAVES * K_ROWS * row_bytes;
        if (step + 1 < steps) carrier.load(next, ends_rows ? 0 : chunk + 1);
        add_chunk<Format, C, WHOLE, K_ROWS, 1>(sum, raw[wave()], block, chunk, UNITS, activations, table);
        chunk = ends_rows ? 0 : chunk + 1;
        if (!ends_rows) continue;
        const u32 row = first + step / CHUNKS * WAVES * K_ROWS;
        const float mine = wave_sums(sum);
#pragma unroll
        for (u32 r = 0; r < K_ROWS; ++r) sum[r] = 0.0f;
        if (lane() < K_ROWS && row + lane() < rows) y[(u64)token * rows + row + lane()] = mine;
        block = next;
    }
}
EXPORT_KERNEL(matvec)
