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
#include "attention_walk.h"

using namespace hb;

static_assert(PAIRS * ROW_STRIDE * 2 <= WEIGHTS_AT, "queries are staged where rows and shares will be");

// q, out [T, K_HEADS, K_WIDTH] F32 (out may be q); arguments as in attention_rows, and `tokens` = T. Grid (T / K_QUERIES, K_HEADS / K_GROUP_HEADS).
KERNEL(THREADS) attention_matrix(const float* q, const u16* raw, const u16* compressed, const i32* ids,
                                 const i32* counts, const float* sinks, const float* cosines, const float* sines,
                                 float* out, const u32* start, u32 first_token, u32 tokens, u32 ratio,
                                 u32 compressed_rows, u32 plan, u32 top_k, u32 selected_from, u32 is_ring,
                                 float epsilon) {
    SHARED_POOL(pool, K_POOL_BYTES);
    u16* rows = (u16*)pool;
    float* shares = (float*)(pool + SHARES_AT);
    const u16* weights = (const u16*)(pool + WEIGHTS_AT);
    const u32 local = group_x() * K_QUERIES, first_head = group_y() * K_GROUP_HEADS;
    const u32 t_first = first_token + local, t_last = first_token + smaller(local + K_QUERIES, tokens) - 1;

    Walk walk{raw, compressed, nullptr, {start[0], ratio, K_WINDOW, compressed_rows}, is_ring, 0, 0, 0, 0, 0, 0};
    const Visibility& view = walk.view;
    switch (plan) {
        case PLAN_WINDOW: break;
        case PLAN_CONTIGUOUS: walk.compressed_rows = view.visible(t_last); break;
        case PLAN_INDEXED:
            if (t_first < selected_from) {
                walk.compressed_rows = view.visible(t_last);
            } else {
                i32* list = (i32*)(pool + IDS_AT);
                walk.ids = list;
                walk.compressed_rows = (u32)counts[t_first - selected_from];
                for (u32 k = thread_index(); k < walk.compressed_rows; k += THREADS)
                    list[k] = ids[(u64)(t_first - selected_from) * top_k + k];
            }
            break;
    }
    walk.raw_begin = (i32)view.raw_first(t_first);
    walk.raw_end = (i32)(view.raw_first(t_last) + view.raw_count(t_last));
    const u32 position = view.start - view.prior() + (u32)walk.raw_begin;
    walk.first_raw = walk.raw_begin - (i32)(position % K_ROWS);
    walk.raw_tiles = ceil_div((u32)(walk.raw_end - walk.first_raw), K_ROWS);
    walk.tiles = walk.raw_tiles + ceil_div(walk.compressed_rows, K_ROWS);

    // Queries: norm and rotation a row at a time, then fragments of each wave's channels, kept for the whole walk.
    const float scale = 1.4426950408889634f / square_root((float)K_WIDTH);  // scores in powers of two
    for (u32 pair = wave(); pair < PAIRS; pair += K_WAVES) {
        const u32 query = smaller(local + pair / K_GROUP_HEADS, tokens - 1), t = first_token + query;
        Row<K_WIDTH> row;
        load_row(row, q + ((u64)query * K_HEADS + first_head + pair % K_GROUP_HEADS) * K_WIDTH);
        normalise(row, epsilon);
        rotate<K_ROTARY>(row, cosines + (u64)t * (K_ROTARY / 2), sines + (u64)t * (K_ROTARY / 2));
#pragma unroll
        for (u32 j = 0; j < Row<K_WIDTH>::REGISTERS; ++j) row.v[j] *= scale;
        store_row(row, rows + pair * ROW_STRIDE);
    }
    barrier();
    Fragment query[PAIR_TILES][OWN_TILES];
#pragma unroll
    for (u32 p = 0; p < PAIR_TILES; ++p)
#pragma unroll
        for (u32 k = 0; k < OWN_TILES; ++k)
            load_a(query[p][k], rows + p * 16 * ROW_STRIDE + wave() * OWN + k * 16, ROW_STRIDE);
    barrier();

    Softmax softmax;
    softmax.start(walk, t_first, t_last);
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
    constexpr u32 PLAIN = K_WIDTH - K_ROTARY;
#pragma unroll
    for (u32 p = 0; p < PAIR_TILES; ++p) {
        float share[8];
#pragma unroll
        for (u32 i = 0; i < 8; ++i) {
            const u32 pair = p * 16 + tile_row(i);
            const float sink = sinks[first_head + pair % K_GROUP_HEADS] * 1.4426950408889634f;
            const float top = larger(largest[pair], sink), shrink = power2(largest[pair] - top);
            share[i] = shrink / fused(total[pair], shrink, power2(sink - top));
        }
#pragma unroll
        for (u32 c = 0; c < OWN_TILES; ++c) {
#pragma unroll
            for (u32 i = 0; i < 8; ++i) sum[p][c].v[i] *= share[i];
            float other[8];
#pragma unroll
            for (u32 i = 0; i < 8; ++i) other[i] = beside(sum[p][c], i);
#pragma unroll
            for (u32 i = 0; i < 8; ++i) {
                const u32 pair = p * 16 + tile_row(i), query_index = local + pair / K_GROUP_HEADS;
                const u32 channel = wave() * OWN + c * 16 + tile_column(i);
                if (query_index >= tokens) continue;
                float value = sum[p][c].v[i];
                if (channel >= PLAIN) {
                    const u64 angle = (u64)(first_token + query_index) * (K_ROTARY / 2) + (channel - PLAIN) / 2;
                    value = value * cosines[angle] + other[i] * (channel % 2 ? -sines[angle] : sines[angle]);
                }
                out[((u64)query_index * K_HEADS + first_head + pair % K_GROUP_HEADS) * K_WIDTH + channel] = value;
            }
        }
    }
}
EXPORT_KERNEL(attention_matrix)
