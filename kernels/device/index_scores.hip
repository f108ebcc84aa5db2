// Indexer scores of many tokens: sum over heads of w relu(q . k), on matrix cores, ReLU and head weights fused in F32.
// A workgroup scores 16 tokens against 256 rows. Rows are the A operand and stay in registers for all heads; tokens are
// the B operand, so that a lane's head weight is the same for all the rows it holds.
//
//   K_HEADS, K_WIDTH   64, 128 (V4-Flash); 8, 32 (embedded)
#include "matrix.h"
#include "visibility.h"

using namespace hb;

constexpr u32 THREADS = 256, WAVES = THREADS / WAVE;
constexpr u32 TOKENS = 16, ROW_TILES = 2, STAGED_ROWS = WAVES * 16, ROWS = ROW_TILES * STAGED_ROWS;
constexpr u32 STEPS = K_WIDTH / 16, STRIDE = K_WIDTH + 8;
constexpr u32 HEADS_STAGED = K_HEADS < 4 ? K_HEADS : 4, CHUNKS_A_ROW = K_WIDTH / 8;
constexpr u32 QUERY_CHUNKS = TOKENS * HEADS_STAGED * CHUNKS_A_ROW, QUERY_HALVES = TOKENS * HEADS_STAGED * STRIDE;
constexpr u32 CARRIED = (QUERY_CHUNKS + THREADS - 1) / THREADS;
constexpr u32 OUTPUT_STRIDE = ROWS + 4;
constexpr u32 larger_of(u32 a, u32 b) { return a > b ? a : b; }
constexpr u32 POOL_HALVES = larger_of(larger_of(STAGED_ROWS * STRIDE, 2 * QUERY_HALVES), TOKENS * OUTPUT_STRIDE * 2);
static_assert(K_HEADS % HEADS_STAGED == 0 && K_WIDTH % 16 == 0);

// The pieces of HEADS_STAGED heads of 16 tokens that this thread carries to LDS; tokens past the end become zeros.
struct Carried {
    U32x4 piece[CARRIED];

    DEVICE_MEMBER void load(const u16* queries, u32 first_token, u32 tokens, u32 first_head) {
#pragma unroll
        for (u32 c = 0; c < CARRIED; ++c) {
            const u32 at = thread_index() + c * THREADS;
            const u32 token = first_token + at / (HEADS_STAGED * CHUNKS_A_ROW), within = at % (HEADS_STAGED * CHUNKS_A_ROW);
            piece[c] = {0, 0, 0, 0};
            if (at < QUERY_CHUNKS && token < tokens)
                piece[c] = ((const U32x4*)(queries + ((u64)token * K_HEADS + first_head) * K_WIDTH))[within];
        }
    }
    DEVICE_MEMBER void store(u16* staged) const {  // [head][token][STRIDE]
#pragma unroll
        for (u32 c = 0; c < CARRIED; ++c) {
            const u32 at = thread_index() + c * THREADS;
            const u32 token = at / (HEADS_STAGED * CHUNKS_A_ROW), within = at % (HEADS_STAGED * CHUNKS_A_ROW);
            const u32 row = within / CHUNKS_A_ROW * TOKENS + token;
            if (at < QUERY_CHUNKS) *(U32x4*)(staged + row * STRIDE + within % CHUNKS_A_ROW * 8) = piece[c];
        }
    }
};

// queries [tokens, K_HEADS, K_WIDTH] and rows [stored, K_WIDTH] as stored (F16), head_weights [tokens, K_HEADS] ->
// scores [tokens, score_stride]: columns below `stored` are written, EMPTY_SCORE where the row is not visible. Token t
// has position start[0] + first_token + t. Grid (stored / 256, tokens / 16).
KERNEL(256) index_scores(const u16* queries, const float* head_weights, const u16* rows, float* scores,
                         const u32* start, u32 first_token, u32 tokens, u32 stored, u32 ratio, u32 score_stride) {
    SHARED u16 pool[POOL_HALVES] __attribute__((aligned(16)));
    SHARED float weights[K_HEADS][TOKENS];
    const u32 first_row = group_x() * ROWS, token0 = group_y() * TOKENS;
    const Visibility view{start[0] + first_token, ratio, 0, stored};
    const bool any_visible = first_row < view.visible(smaller(token0 + TOKENS, tokens) - 1);

    float sum[ROW_TILES][8];
#pragma unroll
    for (u32 r = 0; r < ROW_TILES; ++r)
#pragma unroll
        for (u32 i = 0; i < 8; ++i) sum[r][i] = 0.0f;

    if (any_visible) {
        Carried carried;
        carried.load(queries, token0, tokens, 0);
        for (u32 i = thread_index(); i < K_HEADS * TOKENS; i += THREADS) {
            const u32 token = token0 + i / K_HEADS;
            weights[i % K_HEADS][i / K_HEADS] = token < tokens ? head_weights[(u64)token * K_HEADS + i % K_HEADS] : 0.0f;
        }
        Fragment key[ROW_TILES][STEPS];
#pragma unroll
        for (u32 r = 0; r < ROW_TILES; ++r) {
            for (u32 i = thread_index(); i < STAGED_ROWS * CHUNKS_A_ROW; i += THREADS) {
                const u32 row = first_row + r * STAGED_ROWS + i / CHUNKS_A_ROW;
                U32x4 piece = {0, 0, 0, 0};
                if (row < stored) piece = ((const U32x4*)(rows + (u64)row * K_WIDTH))[i % CHUNKS_A_ROW];
                *(U32x4*)(pool + i / CHUNKS_A_ROW * STRIDE + i % CHUNKS_A_ROW * 8) = piece;
            }
            barrier();
#pragma unroll
            for (u32 k = 0; k < STEPS; ++k) load_a(key[r][k], pool + wave() * 16 * STRIDE + k * 16, STRIDE);
            barrier();
        }
        carried.store(pool);

#pragma unroll 1
        for (u32 head0 = 0; head0 < K_HEADS; head0 += HEADS_STAGED) {
            const u32 half = head0 / HEADS_STAGED % 2;
            barrier();
            if (head0 + HEADS_STAGED < K_HEADS) carried.load(queries, token0, tokens, head0 + HEADS_STAGED);
#pragma unroll 1
            for (u32 h = 0; h < HEADS_STAGED; ++h) {
                Accumulator dot[ROW_TILES];
#pragma unroll
                for (u32 r = 0; r < ROW_TILES; ++r) dot[r].clear();
#pragma unroll
                for (u32 k = 0; k < STEPS; ++k) {
                    Fragment query;
                    load_b(query, pool + half * QUERY_HALVES + h * TOKENS * STRIDE + k * 16, STRIDE);
#pragma unroll
                    for (u32 r = 0; r < ROW_TILES; ++r) multiply(dot[r], key[r][k], query);
                }
#pragma unroll
                for (u32 i = 0; i < 8; ++i) {
                    const float weight = weights[head0 + h][tile_column(i)];
#pragma unroll
                    for (u32 r = 0; r < ROW_TILES; ++r) sum[r][i] = fused(weight, larger(dot[r].v[i], 0.0f), sum[r][i]);
                }
            }
            if (head0 + HEADS_STAGED < K_HEADS) carried.store(pool + (1 - half) * QUERY_HALVES);
        }
        barrier();
    }

    // Through LDS, so that the scores of a token leave side by side.
    float* output = (float*)pool;
#pragma unroll
    for (u32 r = 0; r < ROW_TILES; ++r)
#pragma unroll
        for (u32 i = 0; i < 8; ++i)
            output[tile_column(i) * OUTPUT_STRIDE + r * STAGED_ROWS + wave() * 16 + tile_row(i)] = sum[r][i];
    barrier();
    for (u32 i = thread_index(); i < TOKENS * ROWS; i += THREADS) {
        const u32 token = token0 + i / ROWS, row = first_row + i % ROWS;
        if (token >= tokens || row >= stored) continue;
        const float score = output[i / ROWS * OUTPUT_STRIDE + i % ROWS];
        scores[(u64)token * score_stride + row] = row < view.visible(token) ? score : EMPTY_SCORE;
    }
}
EXPORT_KERNEL(index_scores)
