// The second half of the experts for single tokens: out = shared + sum over the token's experts, in slot order, of
// weight * (down matrix times inner). One wave adds all experts of a row, so no buffer and no second pass is needed.
//
//   K_FORMAT, K_ROWS, K_WIDTH, K_ALIGNED   as in matvec
//   K_USED                                 experts a token uses
#include "matvec.h"

using namespace hb;

using Format = K_FORMAT;
constexpr u32 THREADS = 256, WAVES = THREADS / WAVE, UNITS = K_WIDTH / 32;
constexpr u32 CHUNKS = (UNITS + LANE_UNITS - 1) / LANE_UNITS;
constexpr u32 VECTOR_WORDS = (UNITS * Activations<Format>::WORDS_A_UNIT + 3) / 4 * 4;
constexpr bool WHOLE = UNITS % LANE_UNITS == 0;
using C = Chunk<Format, K_ROWS, K_ALIGNED, WHOLE>;
static_assert(K_POOL_BYTES == K_USED * VECTOR_WORDS * 4, "kernels.ops.matvec must ask for the vectors' size");

// Walks the steps of a wave: chunks of a row block, the experts of the token, blocks of rows.
struct Walk {
    u32 chunk, source, pass;

    DEVICE_MEMBER void advance() {
        if (++chunk < CHUNKS) return;
        chunk = 0;
        if (++source < K_USED) return;
        source = 0, ++pass;
    }
};

// inner [tokens, K_USED, K_WIDTH], matrix [all experts, rows, K_WIDTH] in blocks, experts and weights [tokens, K_USED],
// shared [tokens, rows] -> out [tokens, rows] (may be shared). Grid (rows / (8 * K_ROWS * passes), tokens).
KERNEL(256) matvec_down(const float* inner, const u8* matrix, const i32* experts, const float* weights,
                        const float* shared, float* out, u32 rows, u32 all_experts, u32 row_bytes, u32 passes) {
    SHARED_POOL(pool, K_POOL_BYTES);
    SHARED u8 raw[WAVES][K_ROWS * C::ROW_STRIDE] __attribute__((aligned(16)));
    SHARED u32 table[Format::TABLE_WORDS + 1];
    SHARED float share[K_USED];
    SHARED u32 chosen[K_USED];
    const u32 token = group_y(), first = (group_x() * passes * WAVES + wave()) * K_ROWS;
    u32* vectors = (u32*)pool;
    if (thread_index() < K_USED) {
        share[thread_index()] = weights[token * K_USED + thread_index()];
        chosen[thread_index()] = (u32)experts[token * K_USED + thread_index()];
    }
    Format::template prepare<THREADS>(table);
    barrier();

    auto rows_of = [&](const Walk& at) {
        const u64 expert_first = (u64)uniform(chosen[at.source]) * rows;
        return RowBlock<K_ROWS, 1>{{matrix},
                                   (expert_first + first + at.pass * WAVES * K_ROWS) * row_bytes,
                                   (u64)all_experts * rows * row_bytes,
                                   row_bytes};
    };
    Walk now{0, 0, 0}, ahead{0, 0, 0};
    Carrier<C, WHOLE, K_ROWS, 1> carrier;
    carrier.load(rows_of(ahead), 0);
    for (u32 k = 0; k < K_USED; ++k)
        Activations<Format>::at(vectors + k * VECTOR_WORDS, UNITS)
            .template fill<THREADS>(inner + ((u64)token * K_USED + k) * K_WIDTH, UNITS);
    barrier();

    float sum[K_ROWS], total[K_ROWS];
#pragma unroll
    for (u32 r = 0; r < K_ROWS; ++r) sum[r] = 0.0f, total[r] = 0.0f;
#pragma unroll 1
    while (now.pass < passes) {
        wave_fence();
        carrier.store(raw[wave()]);
        wave_fence();
        ahead.advance();
        if (ahead.pass < passes) carrier.load(rows_of(ahead), ahead.chunk);
        const Activations<Format> x = Activations<Format>::at(vectors + now.source * VECTOR_WORDS, UNITS);
        add_chunk<Format, C, WHOLE, K_ROWS, 1>(sum, raw[wave()], rows_of(now), now.chunk, UNITS, x, table);
        if (now.chunk + 1 == CHUNKS) {
#pragma unroll
            for (u32 r = 0; r < K_ROWS; ++r) total[r] = fused(share[now.source], sum[r], total[r]), sum[r] = 0.0f;
        }
        if (now.chunk + 1 == CHUNKS && now.source + 1 == K_USED) {
            const u32 row = first + now.pass * WAVES * K_ROWS + lane();
            const float mine = wave_sums(total);
#pragma unroll
            for (u32 r = 0; r < K_ROWS; ++r) total[r] = 0.0f;
            if (lane() < K_ROWS && row < rows) out[(u64)token * rows + row] = shared[(u64)token * rows + row] + mine;
        }
        now = ahead;
    }
}
EXPORT_KERNEL(matvec_down)
