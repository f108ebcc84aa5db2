// Matrix times vector from quantised blocks, for decode: the projections, the shared expert's down matrix, the head.
//
//   K_FORMAT   a format of blocks.h or blocks_256.h
//   K_ROWS     rows a wave streams at a time
//   K_WIDTH    weights in a row: the vector's length
//   K_ALIGNED  1: a row is a whole number of 16-byte pieces
//   K_AHEAD    chunks in flight ahead of their use
#include "matvec.h"
#include "overlap.h"

using namespace hb;

using Format = K_FORMAT;
constexpr u32 THREADS = 256, WAVES = THREADS / WAVE, UNITS = K_WIDTH / 32;
constexpr u32 CHUNKS = (UNITS + LANE_UNITS - 1) / LANE_UNITS;
constexpr u32 VECTOR_WORDS = (UNITS * Activations<Format>::WORDS_A_UNIT + 3) / 4 * 4;
constexpr bool WHOLE = UNITS % LANE_UNITS == 0;
using C = Chunk<Format, K_ROWS, K_ALIGNED, WHOLE>;
using Rows = RowBlock<K_ROWS, 1>;
using RowStream = Stream<C, WHOLE, K_ROWS, 1>;
static_assert(K_POOL_BYTES == VECTOR_WORDS * 4 + WAVES * RowStream::BYTES, "kernels.ops.matvec must ask for this size");

// x [tokens, inputs, K_WIDTH], matrix [rows, K_WIDTH] in blocks -> y [tokens, rows]. Rows come in `inputs` groups of
// rows_an_input, each with its own vector (the grouped output projection; elsewhere there is one). A workgroup takes
// 8 * K_ROWS * passes rows, all of one group. Grid (rows / that, tokens).
KERNEL(256) matvec(const float* x, const u8* matrix, float* y, u32 rows, u32 rows_an_input, u32 row_bytes, u32 passes) {
    SHARED_POOL(pool, K_POOL_BYTES);
    SHARED u32 table[Dot<Format>::TABLE_WORDS + 1];
    const u32 token = group_y(), first_row = group_x() * WAVES * K_ROWS * passes, inputs = rows / rows_an_input;
    const Activations<Format> activations = Activations<Format>::at((u32*)pool, UNITS);
    const u32 first = first_row + wave() * K_ROWS;
    auto rows_of = [&](const Walk<CHUNKS>& at) {
        return Rows{{matrix}, (u64)(first + at.pass * WAVES * K_ROWS) * row_bytes, (u64)rows * row_bytes, row_bytes};
    };
    Walk<CHUNKS> now, ahead;
    RowStream stream(pool + VECTOR_WORDS * 4 + wave() * RowStream::BYTES);
    auto bring_next = [&] {
        stream.bring(rows_of(ahead), ahead.chunk, ahead.pass < passes);
        ahead.advance();
    };
#pragma unroll
    for (u32 i = 0; i < RowStream::AHEAD; ++i) bring_next();
    Dot<Format>::template prepare<THREADS>(table);
    await_inputs();  // weights are on their way by then; the grid fills the device, so the next kernel stays out
    VectorLoad<Format, THREADS, UNITS> vector(x + ((u64)token * inputs + first_row / rows_an_input) * K_WIDTH);
    vector.store(activations);
    barrier();

    float sum[K_ROWS];
#pragma unroll
    for (u32 r = 0; r < K_ROWS; ++r) sum[r] = 0.0f;
#pragma unroll 1
    while (now.pass < passes) {
        const u8* buffer = stream.arrive();
        bring_next();
        add_chunk<Format, C, WHOLE, K_ROWS, 1>(sum, buffer, rows_of(now), now.chunk, UNITS, activations, 0, table);
        if (now.ends_rows()) {
            const u32 row = first + now.pass * WAVES * K_ROWS + lane();
            const float mine = wave_sums(sum);
#pragma unroll
            for (u32 r = 0; r < K_ROWS; ++r) sum[r] = 0.0f;
            if (lane() < K_ROWS && row < rows) y[(u64)token * rows + row] = mine;
        }
        now.advance();
    }
}
EXPORT_KERNEL(matvec)
