// Shapes B and C: streaming attention on matrix cores. A workgroup holds K_QUERIES x K_GROUP_HEADS (query, head) pairs as
// the rows of A; K_ROWS cache rows at a time are brought into LDS once and serve as keys and as values. Wave w owns
// channels w * K_WIDTH / K_WAVES and on: its share of every dot product, and its part of the answer. The shares are added
// in wave order; softmax state is F32; weights are rounded to F16 and their sum is the sum of the rounded ones.
//
// With one query (shape B) rows may come from an id list; several queries (shape C) share one walk over analytic
// bounds. Tiles begin at multiples of K_ROWS in absolute position (raw rows) or list index (compressed rows) and a row
// that a query does not see has weight 0, so a query's bits do not depend on its neighbours or on the step.
//
// The shape macros are those of attention_walk.h; K_ROWS is 16 or 32, K_BUFFERS 1 or 2.
#include "attention_band.h"

using namespace hb;

static_assert(K_PARTS == K_WAVES && K_STAGES == 1);
static_assert(PAIRS * ROW_STRIDE * 2 <= WEIGHTS_AT, "queries are staged where rows and shares will be");

// q, out [T, K_HEADS, K_WIDTH] F32 (out may be q); arguments as in attention_rows, and `tokens` = T. Grid (T / K_QUERIES,
// K_HEADS / K_GROUP_HEADS), both rounded up.
KERNEL(THREADS) attention_matrix(const float* q, const u16* raw, const u16* compressed, const i32* ids,
                                 const i32* counts, const float* sinks, const float* cosines, const float* sines,
                                 float* out, const u32* start, u32 first_token, u32 tokens, u32 ratio,
                                 u32 compressed_rows, u32 plan, u32 top_k, u32 selected_from, u32 is_ring,
                                 float epsilon) {
    SHARED_POOL(pool, K_POOL_BYTES);
    u16* rows = (u16*)pool;
    float* shares = (float*)(pool + SHARES_AT);
    const u16* weights = (const u16*)(pool + WEIGHTS_AT);
    const Band band{first_token, tokens, group_x() * K_QUERIES, group_y() * K_GROUP_HEADS};
    const Walk walk = walk_of({start[0], ratio, K_WINDOW, compressed_rows}, band, raw, compressed, ids, counts, plan, top_k,
                              selected_from, is_ring, (i32*)(pool + IDS_AT));
    stage_queries(rows, band, q, cosines, sines, epsilon);
    barrier();
    Fragment query[PAIR_TILES][OWN_TILES];
#pragma unroll
    for (u32 p = 0; p < PAIR_TILES; ++p)
#pragma unroll
        for (u32 k = 0; k < OWN_TILES; ++k)
            load_a(query[p][k], rows + p * 16 * ROW_STRIDE + wave() * OWN + k * 16, ROW_STRIDE);
    barrier();

    Softmax softmax;
    softmax.start(walk, band.t_first(), band.t_last());
    Accumulator sum[PAIR_TILES][OWN_TILES];
#pragma unroll
    for (u32 p = 0; p < PAIR_TILES; ++p)
#pragma unroll
        for (u32 c = 0; c < OWN_TILES; ++c) sum[p][c].clear();

    Pieces pieces;
    begin_rows(pieces, walk, 0, rows);
    finish_rows(pieces, rows);
#pragma unroll 1
    for (u32 tile = 0; tile < walk.tiles; ++tile) {
        u16* here = rows + tile % K_BUFFERS * (ROW_BYTES / 2);
        u16* there = rows + (tile + 1) % K_BUFFERS * (ROW_BYTES / 2);
        const bool has_next = tile + 1 < walk.tiles;
        barrier();
        if (has_next && (K_BUFFERS == 2 || !HB_ASYNC_COPY)) begin_rows(pieces, walk, tile + 1, there);
#pragma unroll
        for (u32 r = 0; r < ROW_TILES; ++r) {
            Fragment key[OWN_TILES];
#pragma unroll
            for (u32 k = 0; k < OWN_TILES; ++k) load_b(key[k], here + r * 16 * ROW_STRIDE + wave() * OWN + k * 16, ROW_STRIDE);
#pragma unroll
            for (u32 p = 0; p < PAIR_TILES; ++p) {
                Accumulator share;
                share.clear();
#pragma unroll
                for (u32 k = 0; k < OWN_TILES; ++k) multiply(share, query[p][k], key[k]);
                store_tile(share, shares + (wave() * PAIRS + p * 16) * SHARE_STRIDE + r * 16, SHARE_STRIDE);
            }
        }
        barrier();
        softmax.weigh(pool, walk, tile);
        barrier();
        const float* keep = (const float*)(pool + KEEP_AT);
#pragma unroll
        for (u32 p = 0; p < PAIR_TILES; ++p)
#pragma unroll
            for (u32 i = 0; i < 8; ++i) {
                const float factor = keep[p * 16 + tile_row(i)];
#pragma unroll
                for (u32 c = 0; c < OWN_TILES; ++c) sum[p][c].v[i] *= factor;
            }
#pragma unroll
        for (u32 r = 0; r < ROW_TILES; ++r) {
            Fragment weight[PAIR_TILES];
#pragma unroll
            for (u32 p = 0; p < PAIR_TILES; ++p) load_a(weight[p], weights + p * 16 * WEIGHT_STRIDE + r * 16, WEIGHT_STRIDE);
#pragma unroll
            for (u32 c = 0; c < OWN_TILES; ++c) {
                Fragment value;
                load_b_transposed(value, here + r * 16 * ROW_STRIDE + wave() * OWN + c * 16, ROW_STRIDE);
#pragma unroll
                for (u32 p = 0; p < PAIR_TILES; ++p) multiply(sum[p][c], weight[p], value);
            }
        }
        if (!has_next) continue;
        if (K_BUFFERS == 1) barrier();
        if (K_BUFFERS == 1 && HB_ASYNC_COPY) begin_rows(pieces, walk, tile + 1, there);
        finish_rows(pieces, there);
    }

    softmax.publish(pool);
    barrier();
    const float* largest = (const float*)(pool + LARGEST_AT);
    const float* total = (const float*)(pool + TOTAL_AT);
    write_answers(sum, band, largest, total, sinks, cosines, sines, out);
}
EXPORT_KERNEL(attention_matrix)
