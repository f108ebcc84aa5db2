// Indexer scores of single tokens (decode): the heads of one token are the B operand. A workgroup scores 64 rows, so that
// a short context still fills the machine. Heads are added in the order of index_scores, so that both give the same bits.
//
//   K_HEADS, K_WIDTH   64, 128 (V4-Flash); 8, 32 (embedded)
#include "matrix.h"
#include "overlap.h"
#include "visibility.h"

using namespace hb;

constexpr u32 THREADS = 128, ROWS = THREADS / WAVE * 16;
constexpr u32 HEAD_TILES = (K_HEADS + 15) / 16, PADDED_HEADS = HEAD_TILES * 16;
constexpr u32 DOT_STRIDE = 17, STEPS = K_WIDTH / 16, STRIDE = K_WIDTH + 8, CHUNKS_A_ROW = K_WIDTH / 8;
static_assert(K_WIDTH % 16 == 0);

// queries [tokens, K_HEADS, K_WIDTH], head_weights [tokens, K_HEADS], rows [stored, K_WIDTH] -> scores as index_scores.
// Grid (stored / 64, tokens).
KERNEL(128) index_scores_one(const u16* queries, const float* head_weights, const u16* rows, float* scores,
                             const u32* start, u32 first_token, u32 stored, u32 ratio, u32 score_stride) {
    SHARED u16 key_tile[ROWS * STRIDE] __attribute__((aligned(16)));
    SHARED u16 query_tile[PADDED_HEADS * STRIDE] __attribute__((aligned(16)));
    SHARED float weights[PADDED_HEADS];
    SHARED float dots[THREADS / WAVE][16][DOT_STRIDE];
    allow_next();
    await_inputs();
    const u32 first_row = group_x() * ROWS, token = group_y();
    const Visibility view{start[0] + first_token, ratio, 0, stored};
    for (u32 i = thread_index(); i < ROWS * CHUNKS_A_ROW; i += THREADS) {
        const u32 row = first_row + i / CHUNKS_A_ROW;
        U32x4 piece = {0, 0, 0, 0};
        if (row < stored) piece = ((const U32x4*)(rows + (u64)row * K_WIDTH))[i % CHUNKS_A_ROW];
        *(U32x4*)(key_tile + i / CHUNKS_A_ROW * STRIDE + i % CHUNKS_A_ROW * 8) = piece;
    }
    for (u32 i = thread_index(); i < PADDED_HEADS * CHUNKS_A_ROW; i += THREADS) {
        U32x4 piece = {0, 0, 0, 0};
        if (i < K_HEADS * CHUNKS_A_ROW) piece = ((const U32x4*)(queries + (u64)token * K_HEADS * K_WIDTH))[i];
        *(U32x4*)(query_tile + i / CHUNKS_A_ROW * STRIDE + i % CHUNKS_A_ROW * 8) = piece;
    }
    for (u32 i = thread_index(); i < PADDED_HEADS; i += THREADS)
        weights[i] = i < K_HEADS ? head_weights[(u64)token * K_HEADS + i] : 0.0f;
    barrier();

    Fragment key[STEPS];
#pragma unroll
    for (u32 k = 0; k < STEPS; ++k) load_a(key[k], key_tile + wave() * 16 * STRIDE + k * 16, STRIDE);
    float* own = dots[wave()][0];
    float score = 0.0f;
#pragma unroll 1
    for (u32 tile = 0; tile < HEAD_TILES; ++tile) {
        Accumulator dot;
        dot.clear();
#pragma unroll
        for (u32 k = 0; k < STEPS; ++k) {
            Fragment query;
            load_b(query, query_tile + tile * 16 * STRIDE + k * 16, STRIDE);
            multiply(dot, key[k], query);
        }
#pragma unroll
        for (u32 i = 0; i < 8; ++i) own[tile_row(i) * DOT_STRIDE + tile_column(i)] = dot.v[i];
        wave_fence();
        for (u32 h = 0; h < smaller(16, K_HEADS - tile * 16); ++h)
            score = fused(weights[tile * 16 + h], larger(own[lane() % 16 * DOT_STRIDE + h], 0.0f), score);
        wave_fence();
    }
    const u32 row = first_row + wave() * 16 + lane();
    if (lane() < 16 && row < stored)
        scores[(u64)token * score_stride + row] = row < view.visible(token) ? score : EMPTY_SCORE;
}
EXPORT_KERNEL(index_scores_one)
