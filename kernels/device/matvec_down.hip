// The second half of the experts for single tokens: out = shared + sum over the token's experts, in slot order, of
// weight * (down matrix times inner). One wave adds all experts of a row, so no buffer and no second pass is needed.
//
//   K_FORMAT, K_ROWS, K_WIDTH, K_ALIGNED, K_AHEAD   as in matvec
//   K_USED                                          experts a token uses
#include "matvec.h"
#include "overlap.h"

using namespace hb;

using Format = K_FORMAT;
constexpr u32 THREADS = 256, WAVES = THREADS / WAVE, UNITS = K_WIDTH / 32;
constexpr u32 CHUNKS = (UNITS + LANE_UNITS - 1) / LANE_UNITS;
constexpr u32 VECTOR_WORDS = (K_USED * UNITS * Activations<Format>::WORDS_A_UNIT + 3) / 4 * 4;
constexpr bool WHOLE = UNITS % LANE_UNITS == 0;
using C = Chunk<Format, K_ROWS, K_ALIGNED, WHOLE>;
using Rows = RowBlock<K_ROWS, 1>;
using RowStream = Stream<C, WHOLE, K_ROWS, 1>;
static_assert(K_POOL_BYTES == VECTOR_WORDS * 4 + WAVES * RowStream::BYTES, "kernels.ops.matvec must ask for this size");

// inner [tokens, K_USED, K_WIDTH], matrix [all experts, rows, K_WIDTH] in blocks, experts and weights [tokens, K_USED],
// shared [tokens, rows] -> out [tokens, rows] (may be shared). Grid (rows / (8 * K_ROWS * passes), tokens).
KERNEL(256) matvec_down(const float* inner, const u8* matrix, const i32* experts, const float* weights,
                        const float* shared, float* out, u32 rows, u32 all_experts, u32 row_bytes, u32 passes) {
    SHARED_POOL(pool, K_POOL_BYTES);
    SHARED u32 table[Dot<Format>::TABLE_WORDS + 1];
    Dot<Format>::template prepare<THREADS>(table);
    await_inputs();
    const u32 token = group_y(), first = (group_x() * passes * WAVES + wave()) * K_ROWS;
    const i32* chosen = experts + token * K_USED;
    const u64 total_bytes = (u64)all_experts * rows * row_bytes;
    const Activations<Format> activations = Activations<Format>::at((u32*)pool, K_USED * UNITS);
    VectorLoad<Format, THREADS, K_USED * UNITS> vector(inner + (u64)token * K_USED * K_WIDTH);
    auto rows_of = [&](const Walk<CHUNKS, K_USED>& at) {
        const u64 expert_first = (u64)uniform((u32)chosen[at.source]) * rows;
        return Rows{{matrix}, (expert_first + first + at.pass * WAVES * K_ROWS) * row_bytes, total_bytes, row_bytes};
    };
    Walk<CHUNKS, K_USED> now, ahead;
    RowStream stream(pool + VECTOR_WORDS * 4 + wave() * RowStream::BYTES);
    auto bring_next = [&] {
        stream.bring(rows_of(ahead), ahead.chunk, ahead.pass < passes);
        ahead.advance();
    };
#pragma unroll
    for (u32 i = 0; i < RowStream::AHEAD; ++i) bring_next();
    vector.store(activations);
    barrier();

    float sum[K_ROWS], total[K_ROWS];
#pragma unroll
    for (u32 r = 0; r < K_ROWS; ++r) sum[r] = 0.0f, total[r] = 0.0f;
#pragma unroll 1
    while (now.pass < passes) {
        const u8* buffer = stream.arrive();
        bring_next();
        add_chunk<Format, C, WHOLE, K_ROWS, 1>(sum, buffer, rows_of(now), now.chunk, UNITS, activations,
                                               now.source * UNITS, table);
        if (now.ends_rows()) {
            const float share = weights[token * K_USED + now.source];
#pragma unroll
            for (u32 r = 0; r < K_ROWS; ++r) total[r] = fused(share, sum[r], total[r]), sum[r] = 0.0f;
        }
        if (now.ends_pass()) {
            const u32 row = first + now.pass * WAVES * K_ROWS + lane();
            const float mine = wave_sums(total);
#pragma unroll
            for (u32 r = 0; r < K_ROWS; ++r) total[r] = 0.0f;
            if (lane() < K_ROWS && row < rows) out[(u64)token * rows + row] = shared[(u64)token * rows + row] + mine;
        }
        now.advance();
    }
}
EXPORT_KERNEL(matvec_down)
