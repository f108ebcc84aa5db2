// Decode attention, first half: one split of one token's rows for K_GROUP_HEADS heads a workgroup, on matrix cores as in
// attention_matrix but without a walk, so that a token fills the machine. attention_combine adds the splits in order.
//
// The shape macros are those of attention_walk.h, with one query and one row buffer; K_ROWS is the rows of a split.
#include "attention_band.h"
#include "attention_splits.h"
#include "overlap.h"

using namespace hb;

static_assert(K_QUERIES == 1 && K_BUFFERS == 1 && K_PARTS == K_WAVES && K_STAGES == 1 && K_MOST_IDS == 0);
static_assert(PAIRS * ROW_STRIDE * 2 <= POOL_BYTES - SHARES_AT, "queries are staged where shares and weights will be");

// q [1, K_HEADS, K_WIDTH] F32 as projected; raw: the ring [K_WINDOW, K_WIDTH]; compressed: room for `compressed_rows`; ids
// [top_k] and counts [1] under PLAN_INDEXED -> work [splits, WORK_HEADS, PARTIAL_WIDTH]. Grid (splits, WORK_HEADS / K_GROUP_HEADS).
KERNEL(THREADS) attention_split(const float* q, const u16* raw, const u16* compressed, const i32* ids,
                                const i32* counts, const float* cosines, const float* sines, float* work,
                                const u32* start, u32 ratio, u32 compressed_rows, u32 plan, u32 top_k, float epsilon) {
    SHARED_POOL(pool, K_POOL_BYTES);
    u16* rows = (u16*)pool;
    u16* staged = (u16*)(pool + SHARES_AT);
    const u32 split = group_x(), first_head = group_y() * K_GROUP_HEADS;
    allow_next();
    await_inputs();
    const Visibility view{start[0], ratio, K_WINDOW, compressed_rows};
    const Splits splits = splits_of(view, plan, counts, top_k);
    if (splits.rows(split) == 0) return;

    Walk walk{raw, compressed, plan == PLAN_INDEXED ? ids : nullptr, view, 1, 0, 0, 0, RAW_SPLITS, 0, 0};
    walk.first_raw = walk.raw_begin = (i32)view.raw_first(0);
    walk.raw_end = walk.raw_begin + (i32)splits.raw_rows;
    walk.compressed_rows = splits.compressed_rows;
    Pieces pieces;
    begin_rows(pieces, walk, split, rows);

    stage_queries(staged, {0, 1, 0, first_head}, q, cosines, sines, epsilon);  // while the rows are on their way
    finish_rows(pieces, rows);
    barrier();
    Fragment query[PAIR_TILES][OWN_TILES];
#pragma unroll
    for (u32 p = 0; p < PAIR_TILES; ++p)
#pragma unroll
        for (u32 k = 0; k < OWN_TILES; ++k)
            load_a(query[p][k], staged + p * 16 * ROW_STRIDE + wave() * OWN + k * 16, ROW_STRIDE);
    barrier();

    float* shares = (float*)(pool + SHARES_AT);
#pragma unroll
    for (u32 r = 0; r < ROW_TILES; ++r) {
        Fragment key[OWN_TILES];
#pragma unroll
        for (u32 k = 0; k < OWN_TILES; ++k) load_b(key[k], rows + r * 16 * ROW_STRIDE + wave() * OWN + k * 16, ROW_STRIDE);
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
    Softmax softmax;
    softmax.start(walk, 0, 0);
    softmax.weigh(pool, walk, split);
    barrier();

    float* partial = work + ((u64)split * WORK_HEADS + first_head) * PARTIAL_WIDTH;
    const u16* weights = (const u16*)(pool + WEIGHTS_AT);
#pragma unroll
    for (u32 p = 0; p < PAIR_TILES; ++p) {
        Accumulator sum[OWN_TILES];
#pragma unroll
        for (u32 c = 0; c < OWN_TILES; ++c) sum[c].clear();
#pragma unroll
        for (u32 r = 0; r < ROW_TILES; ++r) {
            Fragment weight;
            load_a(weight, weights + p * 16 * WEIGHT_STRIDE + r * 16, WEIGHT_STRIDE);
#pragma unroll
            for (u32 c = 0; c < OWN_TILES; ++c) {
                Fragment value;
                load_b_transposed(value, rows + r * 16 * ROW_STRIDE + wave() * OWN + c * 16, ROW_STRIDE);
                multiply(sum[c], weight, value);
            }
        }
#pragma unroll
        for (u32 c = 0; c < OWN_TILES; ++c)
            store_tile(sum[c], partial + p * 16 * PARTIAL_WIDTH + wave() * OWN + c * 16, PARTIAL_WIDTH);
    }
#pragma unroll
    for (u32 item = 0; item < ITEMS; ++item) {
        if (Softmax::is_idle(item) || Softmax::first_row() != 0) continue;
        partial[Softmax::pair(item) * PARTIAL_WIDTH + LARGEST_COLUMN] = softmax.largest[item];
        partial[Softmax::pair(item) * PARTIAL_WIDTH + TOTAL_COLUMN] = softmax.total[item];
    }
}
EXPORT_KERNEL(attention_split)
