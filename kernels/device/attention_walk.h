// What the matrix forms of attention share: the layout of a workgroup's LDS, the walk over a token's rows and how they are
// brought in, and the running softmax. K_ROWS cache rows at a time serve as keys and as values of K_QUERIES x K_GROUP_HEADS
// (query, head) pairs, the rows of A; wave w owns channels w * K_WIDTH / K_WAVES and on.
//
//   K_HEADS, K_WIDTH, K_ROTARY, K_WINDOW   as in attention_rows
//   K_QUERIES, K_GROUP_HEADS               pairs of a workgroup, a multiple of 16
//   K_WAVES, K_ROWS, K_BUFFERS             waves of a workgroup; rows of a tile; row buffers in LDS
//   K_PARTS, K_STAGES                      parts of a dot product, added in order; buffers of scores and of weights
//   K_MOST_IDS                             room for a query's id list in LDS
#pragma once
#include "matrix.h"
#include "row.h"
#include "visibility.h"

namespace hb {

constexpr u32 THREADS = K_WAVES * WAVE, PAIRS = K_QUERIES * K_GROUP_HEADS, PAIR_TILES = PAIRS / 16;
constexpr u32 OWN = K_WIDTH / K_WAVES, OWN_TILES = OWN / 16, ROW_TILES = K_ROWS / 16;
constexpr u32 ROW_STRIDE = K_WIDTH + 8, WEIGHT_STRIDE = K_ROWS + 8, PIECES_A_ROW = K_WIDTH / 8;
#if defined(HB_MATRIX_AMD)
constexpr u32 SHARE_STRIDE = K_ROWS, LANE_ROWS = 4;
#else
constexpr u32 SHARE_STRIDE = K_ROWS + 8, LANE_ROWS = 8;
#endif
// Softmax: a pair's rows lie with neighbouring lanes, LANE_ROWS of them in each; a thread keeps its pairs for the walk.
constexpr u32 PAIR_LANES = K_ROWS / LANE_ROWS, ITEMS = (PAIRS * PAIR_LANES + THREADS - 1) / THREADS;
constexpr u32 PIECES = (K_ROWS * PIECES_A_ROW + THREADS - 1) / THREADS;
constexpr u32 ROW_BYTES = K_ROWS * ROW_STRIDE * 2, SHARE_BYTES = K_PARTS * PAIRS * SHARE_STRIDE * 4;
constexpr u32 WEIGHT_BYTES = PAIRS * WEIGHT_STRIDE * 2;
constexpr u32 SHARES_AT = K_BUFFERS * ROW_BYTES, WEIGHTS_AT = SHARES_AT + K_STAGES * SHARE_BYTES;
constexpr u32 KEEP_AT = WEIGHTS_AT + K_STAGES * WEIGHT_BYTES, LARGEST_AT = KEEP_AT + K_STAGES * PAIRS * 4;
constexpr u32 TOTAL_AT = LARGEST_AT + PAIRS * 4, IDS_AT = TOTAL_AT + PAIRS * 4;
constexpr u32 POOL_BYTES = IDS_AT + K_MOST_IDS * 4;
static_assert(POOL_BYTES == K_POOL_BYTES, "kernels.ops.attention must ask for this size");
static_assert(PAIRS % 16 == 0 && OWN % 16 == 0 && PAIRS * PAIR_LANES % WAVE == 0);

// The rows a workgroup walks over: first raw tiles, then tiles of compressed rows.
struct Walk {
    const u16* raw;
    const u16* compressed;
    const i32* ids;  // of compressed rows, in LDS or in memory; null: all of them in order
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

constexpr u32 NO_ROW = ~0u;
constexpr u32 PIECES_AT_ONCE = K_MOST_IDS ? 1 : PIECES;  // ids in LDS are near; those in memory are asked for together

// The piece of a tile's rows that a thread brings with its copy c: which row, and where in it.
DEVICE u32 row_of(u32 c) { return (thread_index() + c * THREADS) / PIECES_A_ROW; }
DEVICE u32 within_row(u32 c) { return (thread_index() + c * THREADS) % PIECES_A_ROW * 8; }
DEVICE bool is_piece(u32 c) { return PIECES * THREADS == K_ROWS * PIECES_A_ROW || row_of(c) < K_ROWS; }

// Where the rows of a thread's copies from `copy` on stand. These ids are all on their way before the first is used.
DEVICE void find_rows(u32 (&slot)[PIECES_AT_ONCE], const Walk& walk, u32 tile, u32 copy) {
    if (tile < walk.raw_tiles) {
#pragma unroll
        for (u32 c = 0; c < PIECES_AT_ONCE; ++c) {
            const i32 i = walk.first_raw + (i32)(tile * K_ROWS + row_of(copy + c));
            slot[c] = i >= walk.raw_begin && i < walk.raw_end ? raw_slot(walk.view, (u32)i, walk.is_ring) : NO_ROW;
        }
        return;
    }
    const u32 first = (tile - walk.raw_tiles) * K_ROWS, last = walk.compressed_rows - 1;
#pragma unroll
    for (u32 c = 0; c < PIECES_AT_ONCE; ++c) slot[c] = first + row_of(copy + c);
    if (walk.ids) {
#pragma unroll
        for (u32 c = 0; c < PIECES_AT_ONCE; ++c) slot[c] = slot[c] <= last ? (u32)walk.ids[smaller(slot[c], last)] : NO_ROW;
    } else {
#pragma unroll
        for (u32 c = 0; c < PIECES_AT_ONCE; ++c) slot[c] = slot[c] <= last ? slot[c] : NO_ROW;
    }
}

// Starts bringing a tile's rows: into `buffer`, or into registers where there is no copy engine. Rows nobody sees are 0.
DEVICE void begin_rows(Pieces& pieces, const Walk& walk, u32 tile, u16* buffer) {
    const u16* rows = tile < walk.raw_tiles ? walk.raw : walk.compressed;
    u32 slot[PIECES_AT_ONCE];
#pragma unroll
    for (u32 c = 0; c < PIECES; ++c) {
        if (c % PIECES_AT_ONCE == 0) find_rows(slot, walk, tile, c);
        if (!is_piece(c)) continue;
        const bool is_real = slot[c % PIECES_AT_ONCE] != NO_ROW;
        const u16* source = rows + (u64)(is_real ? slot[c % PIECES_AT_ONCE] : 0) * K_WIDTH + within_row(c);
#if HB_ASYNC_COPY
        copy_async(buffer + row_of(c) * ROW_STRIDE + within_row(c), source, is_real ? 16 : 0);
#else
        (void)buffer;
        pieces.piece[c] = {0, 0, 0, 0};
        if (is_real) pieces.piece[c] = *(const U32x4*)source;
#endif
    }
}
// Ends what begin_rows began (`is_any`: if it did) as one group; wait_rows waits for all but this thread's COUNT last groups.
DEVICE void close_rows(const Pieces& pieces, u16* buffer, bool is_any = true) {
#if HB_ASYNC_COPY
    (void)pieces, (void)buffer, (void)is_any;
    commit_copies();
#else
    if (!is_any) return;
#pragma unroll
    for (u32 c = 0; c < PIECES; ++c) {
        if (is_piece(c)) *(U32x4*)(buffer + row_of(c) * ROW_STRIDE + within_row(c)) = pieces.piece[c];
    }
#endif
}
template <u32 COUNT>
DEVICE void wait_rows() {
#if HB_ASYNC_COPY
    wait_groups<COUNT>();
#endif
}
DEVICE void finish_rows(const Pieces& pieces, u16* buffer) {
    close_rows(pieces, buffer);
    wait_rows<0>();
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

    // Scores of one tile from the shares in stage `stage`, their weights, and the factor by which older sums shrink.
    DEVICE_MEMBER void weigh(unsigned char* pool, const Walk& walk, u32 tile, u32 stage = 0) {
        const bool is_raw = tile < walk.raw_tiles;
        const i32 tile_row0 = is_raw ? walk.first_raw + (i32)(tile * K_ROWS) : (i32)((tile - walk.raw_tiles) * K_ROWS);
#pragma unroll
        for (u32 item = 0; item < ITEMS; ++item) {
            if (is_idle(item)) continue;
            float score[LANE_ROWS];
            add_shares(score, (const float*)(pool + SHARES_AT + stage * SHARE_BYTES) + pair(item) * SHARE_STRIDE + first_row());
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
            u16* weights = (u16*)(pool + WEIGHTS_AT + stage * WEIGHT_BYTES) + pair(item) * WEIGHT_STRIDE + first_row();
#pragma unroll
            for (u32 i = 0; i < LANE_ROWS / 2; i += 2) ((U32x2*)weights)[i / 2] = {halves[i], halves[i + 1]};
            if (first_row() == 0) ((float*)(pool + KEEP_AT))[stage * PAIRS + pair(item)] = shrink;
        }
    }
    // Every second lane reads the upper half of its rows first, which keeps eight lanes on different banks.
    DEVICE_MEMBER static void add_shares(float (&score)[LANE_ROWS], const float* shares) {
        constexpr u32 APART = PAIR_LANES < 4 ? PAIR_LANES : 4;
        const u32 first = LANE_ROWS == 8 ? thread_index() / APART % 2 * 4 : 0;
        float turned[LANE_ROWS];
#pragma unroll
        for (u32 i = 0; i < LANE_ROWS; ++i) turned[i] = 0.0f;
#pragma unroll
        for (u32 part = 0; part < K_PARTS; ++part) {
#pragma unroll
            for (u32 i = 0; i < LANE_ROWS; i += 4) {
                const F32x4 four = *(const F32x4*)(shares + part * PAIRS * SHARE_STRIDE + (i ^ first));
                turned[i] += four.x, turned[i + 1] += four.y, turned[i + 2] += four.z, turned[i + 3] += four.w;
            }
        }
#pragma unroll
        for (u32 i = 0; i < LANE_ROWS; ++i) score[i] = first ? turned[i ^ (LANE_ROWS / 2)] : turned[i];
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

}  // namespace hb
