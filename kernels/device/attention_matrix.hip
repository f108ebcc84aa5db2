// Shapes B and C: streaming attention on matrix cores. A workgroup holds K_QUERIES x K_GROUP_HEADS (query, head) pairs as
// the rows of A; K_ROWS cache rows at a time are brought into LDS once and serve as keys and as values. Wave w owns
// channels w * K_WIDTH / K_WAVES and on: its share of every dot product, and its part of the answer. The shares are added
// in wave order; softmax state is F32; weights are rounded to F16 and their sum is the sum of the rounded ones.
//
// With one query (shape B) rows may come from an id list; several queries (shape C) share one walk over analytic
// bounds. Tiles begin at multiples of K_ROWS in absolute position (raw rows) or list index (compressed rows) and a row
// that a query does not see has weight 0, so a query's bits do not depend on its neighbours or on the step.
//
//   K_HEADS, K_WIDTH, K_ROTARY, K_WINDOW   as in attention_rows
//   K_QUERIES, K_GROUP_HEADS               pairs of a workgroup, a multiple of 16
//   K_WAVES, K_ROWS, K_BUFFERS             waves of a workgroup; rows of a tile, 16 or 32; row buffers, 1 or 2
//   K_MOST_IDS                             room for a query's id list in LDS
#include "matrix.h"
#include "row.h"
#include "visibility.h"

using namespace hb;

constexpr u32 THREADS = K_WAVES * WAVE, PAIRS = K_QUERIES * K_GROUP_HEADS, PAIR_TILES = PAIRS / 16;
constexpr u32 OWN = K_WIDTH / K_WAVES, OWN_TILES = OWN / 16, ROW_TILES = K_ROWS / 16;
constexpr u32 ROW_STRIDE = K_WIDTH + 8, WEIGHT_STRIDE = K_ROWS + 8, PIECES_A_ROW = K_WIDTH / 8;
#if defined(HB_MATRIX_AMD)
constexpr u32 SHARE_STRIDE = K_ROWS, LANE_ROWS = 4;
#else
constexpr u32 SHARE_STRIDE = K_ROWS + 4, LANE_ROWS = 8;
#endif
// Softmax: a pair's rows lie with neighbouring lanes, LANE_ROWS of them in each; a thread keeps its pairs for the walk.
constexpr u32 PAIR_LANES = K_ROWS / LANE_ROWS, ITEMS = (PAIRS * PAIR_LANES + THREADS - 1) / THREADS;
constexpr u32 PIECES = (K_ROWS * PIECES_A_ROW + THREADS - 1) / THREADS;
constexpr u32 ROW_BYTES = K_ROWS * ROW_STRIDE * 2, SHARE_BYTES = K_WAVES * PAIRS * SHARE_STRIDE * 4;
constexpr u32 SHARES_AT = K_BUFFERS * ROW_BYTES, WEIGHTS_AT = SHARES_AT + SHARE_BYTES;
constexpr u32 KEEP_AT = WEIGHTS_AT + PAIRS * WEIGHT_STRIDE * 2, LARGEST_AT = KEEP_AT + PAIRS * 4;
constexpr u32 TOTAL_AT = LARGEST_AT + PAIRS * 4, IDS_AT = TOTAL_AT + PAIRS * 4;
constexpr u32 POOL_BYTES = IDS_AT + K_MOST_IDS * 4;
static_assert(POOL_BYTES == K_POOL_BYTES, "kernels.ops.attention must ask for this size");
static_assert(PAIRS * ROW_STRIDE * 2 <= WEIGHTS_AT, "queries are staged where rows and shares will be");
static_assert(PAIRS % 16 == 0 && OWN % 16 == 0 && K_HEADS % K_GROUP_HEADS == 0 && PAIRS * PAIR_LANES % WAVE == 0);

// The rows a workgroup walks over: first raw tiles, then tiles of compressed rows.
struct Walk {
    const u16* raw;
    const u16* compressed;
    const i32* ids;  // in LDS; null: compressed rows in order
    Visibility view;
    u32 is_ring;
    i32 first_raw;  // row-space index of the first tile's first row, may lie before the first row that exists
    i32 raw_begin, raw_end;
    u32 raw_tiles, compressed_rows, tiles;
};

#if HB_ASYNC_COPY
struct Pieces {};
#else
struct Pieces { U32x4 piece[PIECES]; };
#endif

// Starts bringing a tile's rows: into `buffer`, or into registers where there is no copy engine. Rows nobody sees are 0.
DEVICE void begin_rows(Pieces& pieces, const Walk& walk, u32 tile, u16* buffer) {
#pragma unroll
    for (u32 c = 0; c < PIECES; ++c) {
        const u32 at = thread_index() + c * THREADS, row = at / PIECES_A_ROW, within = at % PIECES_A_ROW;
        if (PIECES * THREADS != K_ROWS * PIECES_A_ROW && row >= K_ROWS) continue;
        const u16* source = walk.raw;
        bool is_real;
        if (tile < walk.raw_tiles) {
            const i32 i = walk.first_raw + (i32)(tile * K_ROWS + row);
            is_real = i >= walk.raw_begin && i < walk.raw_end;
            if (is_real) source = walk.raw + (u64)raw_slot(walk.view, (u32)i, walk.is_ring) * K_WIDTH;
        } else {
            const u32 k = (tile - walk.raw_tiles) * K_ROWS + row;
            is_real = k < walk.compressed_rows;
            if (is_real) source = walk.compressed + (u64)(walk.ids ? (u32)walk.ids[k] : k) * K_WIDTH;
        }
#if HB_ASYNC_COPY
        copy_async(buffer + row * ROW_STRIDE + within * 8, source + within * 8, is_real ? 16 : 0);
#else
        (void)buffer;
        pieces.piece[c] = {0, 0, 0, 0};
        if (is_real) pieces.piece[c] = ((const U32x4*)source)[within];
#endif
    }
}
DEVICE void finish_rows(const Pieces& pieces, u16* buffer) {
#if HB_ASYNC_COPY
    (void)pieces, (void)buffer;
    wait_copies();
#else
#pragma unroll
    for (u32 c = 0; c < PIECES; ++c) {
        const u32 at = thread_index() + c * THREADS, row = at / PIECES_A_ROW, within = at % PIECES_A_ROW;
        if (row < K_ROWS) *(U32x4*)(buffer + row * ROW_STRIDE + within * 8) = pieces.piece[c];
    }
#endif
}

// The running softmax of the pairs that a thread has a part in, in powers of two. Lanes of one pair hold the same.
struct Softmax {
    float largest[ITEMS], total[ITEMS];
    i32 raw_begin[ITEMS], raw_end[ITEMS], seen[ITEMS];  // what the pair's query sees: raw rows, and this many listed rows

    DEVICE_MEMBER static u32 pair(u32 item) { return (item * THREADS + thread_index()) / PAIR_LANES; }
    DEVICE_MEMBER static u32 first_row() { return thread_index() % PAIR_LANES * LANE_ROWS; }
    DEVICE_MEMBER static bool is_idle(u32 item) { return uniform(pair(item)) >= PAIRS; }

    DEVICE_MEMBER void start(const Walk& walk, u32 t_first, u32 t_last) {
#pragma unroll
        for (u32 item = 0; item < ITEMS; ++item) {
            const u32 t = smaller(t_first + smaller(pair(item), PAIRS - 1) / K_GROUP_HEADS, t_last);
            largest[item] = EMPTY_SCORE, total[item] = 0.0f;
            raw_begin[item] = (i32)walk.view.raw_first(t);
            raw_end[item] = raw_begin[item] + (i32)walk.view.raw_count(t);
            seen[item] = (i32)(walk.ids ? walk.compressed_rows : smaller(walk.view.visible(t), walk.compressed_rows));
        }
    }

    // Scores of one tile from the waves' shares, their weights, and the factor by which older sums shrink.
    DEVICE_MEMBER void weigh(unsigned char* pool, const Walk& walk, u32 tile) {
        const bool is_raw = tile < walk.raw_tiles;
        const i32 tile_row0 = is_raw ? walk.first_raw + (i32)(tile * K_ROWS) : (i32)((tile - walk.raw_tiles) * K_ROWS);
#pragma unroll
        for (u32 item = 0; item < ITEMS; ++item) {
            if (is_idle(item)) continue;
            float score[LANE_ROWS];
            add_shares(score, (const float*)(pool + SHARES_AT) + pair(item) * SHARE_STRIDE + first_row());
            const i32 row0 = tile_row0 + (i32)first_row();
            const i32 begin = is_raw ? raw_begin[item] : 0, end = is_raw ? raw_end[item] : seen[item];
            float top = largest[item];
#pragma unroll
            for (u32 i = 0; i < LANE_ROWS; ++i) {
                const i32 row = row0 + (i32)i;
                if (row < begin || row >= end) score[i] = EMPTY_SCORE;
                top = larger(top, score[i]);
            }
            top = wave_max<PAIR_LANES>(top);
            const float shrink = power2(largest[item] - top);
            u32 halves[LANE_ROWS / 2];
            float sum = 0.0f;
#pragma unroll
            for (u32 i = 0; i < LANE_ROWS; i += 2) {
                const i32 row = row0 + (i32)i;
                const float low = row < begin || row >= end ? 0.0f : power2(score[i] - top);
                const float high = row + 1 < begin || row + 1 >= end ? 0.0f : power2(score[i + 1] - top);
                halves[i / 2] = pack_halves(low, high);
                sum += low_half(halves[i / 2]) + high_half(halves[i / 2]);
            }
            largest[item] = top;
            total[item] = fused(total[item], shrink, wave_sum<PAIR_LANES>(sum));
            u16* weights = (u16*)(pool + WEIGHTS_AT) + pair(item) * WEIGHT_STRIDE + first_row();
#pragma unroll
            for (u32 i = 0; i < LANE_ROWS / 2; i += 2) ((U32x2*)weights)[i / 2] = {halves[i], halves[i + 1]};
            if (first_row() == 0) ((float*)(pool + KEEP_AT))[pair(item)] = shrink;
        }
    }
    DEVICE_MEMBER static void add_shares(float (&score)[LANE_ROWS], const float* shares) {
#pragma unroll
        for (u32 i = 0; i < LANE_ROWS; ++i) score[i] = 0.0f;
#pragma unroll
        for (u32 w = 0; w < K_WAVES; ++w) {
#pragma unroll
            for (u32 i = 0; i < LANE_ROWS; i += 4) {
                const F32x4 four = *(const F32x4*)(shares + w * PAIRS * SHARE_STRIDE + i);
                score[i] += four.x, score[i + 1] += four.y, score[i + 2] += four.z, score[i + 3] += four.w;
            }
        }
    }
    DEVICE_MEMBER void publish(unsigned char* pool) const {
#pragma unroll
        for (u32 item = 0; item < ITEMS; ++item) {
            if (is_idle(item) || first_row() != 0) continue;
            ((float*)(pool + LARGEST_AT))[pair(item)] = largest[item];
            ((float*)(pool + TOTAL_AT))[pair(item)] = total[item];
        }
    }
};

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
