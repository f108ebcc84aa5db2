// Shapes B and C for GPUs with room in LDS for a pipeline: in one turn, between two barriers, a workgroup makes the scores of
// tile i, the weights of tile i - 1 and the sums of tile i - 2, so that matrix products, exponentials and LDS traffic of
// different waves overlap. As in attention_matrix otherwise, but for how a dot product is shared: wave w has K_PARTS-th part
// w % K_PARTS of the channels for the pairs of its group w / K_PARTS. Its part of the answer is still the wave's own channels
// of all pairs.
//
// The shape macros are those of attention_walk.h; K_ROWS is 16, K_STAGES 2, K_BUFFERS 4 or 5: rows of three tiles are in
// use and the others on their way. K_SIMD_WAVES is the waves that a SIMD shall hold at least.
#include "attention_band.h"

using namespace hb;

constexpr u32 GROUPS = K_WAVES / K_PARTS, GROUP_TILES = PAIR_TILES / GROUPS, PART_TILES = K_WIDTH / K_PARTS / 16;
constexpr u32 TILES_AHEAD = K_BUFFERS - 3;
static_assert(TILES_AHEAD * ROW_BYTES + PAIRS * ROW_STRIDE * 2 <= IDS_AT, "queries are staged behind the first tiles");
static_assert(K_STAGES == 2 && K_BUFFERS >= 4 && PAIR_TILES % GROUPS == 0 && K_WIDTH % (K_PARTS * 16) == 0);

DEVICE u16* rows_of(unsigned char* pool, u32 tile) { return (u16*)(pool + tile % K_BUFFERS * ROW_BYTES); }

// A wave's part of the scores of one tile.
DEVICE void share_scores(unsigned char* pool, const Fragment (&query)[GROUP_TILES][PART_TILES], u32 tile) {
    const u16* rows = rows_of(pool, tile) + wave() % K_PARTS * PART_TILES * 16;
    float* shares = (float*)(pool + SHARES_AT + tile % 2 * SHARE_BYTES);
    shares += (wave() % K_PARTS * PAIRS + wave() / K_PARTS * GROUP_TILES * 16) * SHARE_STRIDE;
#pragma unroll
    for (u32 r = 0; r < ROW_TILES; ++r) {
        Accumulator share[GROUP_TILES];
#pragma unroll
        for (u32 p = 0; p < GROUP_TILES; ++p) share[p].clear();
#pragma unroll
        for (u32 k = 0; k < PART_TILES; ++k) {
            Fragment key;
            load_b(key, rows + r * 16 * ROW_STRIDE + k * 16, ROW_STRIDE);
#pragma unroll
            for (u32 p = 0; p < GROUP_TILES; ++p) multiply(share[p], query[p][k], key);
        }
#pragma unroll
        for (u32 p = 0; p < GROUP_TILES; ++p) store_tile(share[p], shares + p * 16 * SHARE_STRIDE + r * 16, SHARE_STRIDE);
    }
}

// Adds one weighted tile to a wave's channels of the answer.
DEVICE void add_values(unsigned char* pool, Accumulator (&sum)[PAIR_TILES][OWN_TILES], u32 tile) {
    const u16* rows = rows_of(pool, tile) + wave() * OWN;
    const u16* weights = (const u16*)(pool + WEIGHTS_AT + tile % 2 * WEIGHT_BYTES);
    const float* keep = (const float*)(pool + KEEP_AT) + tile % 2 * PAIRS;
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
            load_b_transposed(value, rows + r * 16 * ROW_STRIDE + c * 16, ROW_STRIDE);
#pragma unroll
            for (u32 p = 0; p < PAIR_TILES; ++p) multiply(sum[p][c], weight[p], value);
        }
    }
}

// Arguments and grid as in attention_matrix.
KERNEL_WAVES(THREADS, K_SIMD_WAVES) attention_pipeline(const float* q, const u16* raw, const u16* compressed, const i32* ids,
                                   const i32* counts, const float* sinks, const float* cosines, const float* sines,
                                   float* out, const u32* start, u32 first_token, u32 tokens, u32 ratio,
                                   u32 compressed_rows, u32 plan, u32 top_k, u32 selected_from, u32 is_ring,
                                   float epsilon) {
    SHARED_POOL(pool, K_POOL_BYTES);
    const Band band{first_token, tokens, group_x() * K_QUERIES, group_y() * K_GROUP_HEADS};
    const Walk walk = walk_of({start[0], ratio, K_WINDOW, compressed_rows}, band, raw, compressed, ids, counts, plan, top_k,
                              selected_from, is_ring, (i32*)(pool + IDS_AT));
    barrier();
    Pieces pieces;
#pragma unroll
    for (u32 tile = 0; tile < TILES_AHEAD; ++tile) {
        if (tile < walk.tiles) begin_rows(pieces, walk, tile, rows_of(pool, tile));
        close_rows(pieces, rows_of(pool, tile), tile < walk.tiles);
    }
    u16* staged = rows_of(pool, TILES_AHEAD);  // the rest of the pool is not in use yet
    stage_queries(staged, band, q, cosines, sines, epsilon);
    barrier();
    Fragment query[GROUP_TILES][PART_TILES];
    staged += wave() / K_PARTS * GROUP_TILES * 16 * ROW_STRIDE + wave() % K_PARTS * PART_TILES * 16;
#pragma unroll
    for (u32 p = 0; p < GROUP_TILES; ++p)
#pragma unroll
        for (u32 k = 0; k < PART_TILES; ++k) load_a(query[p][k], staged + p * 16 * ROW_STRIDE + k * 16, ROW_STRIDE);

    Softmax softmax;
    softmax.start(walk, band.t_first(), band.t_last());
    Accumulator sum[PAIR_TILES][OWN_TILES];
#pragma unroll
    for (u32 p = 0; p < PAIR_TILES; ++p)
#pragma unroll
        for (u32 c = 0; c < OWN_TILES; ++c) sum[p][c].clear();

#pragma unroll 1
    for (u32 turn = 0; turn < walk.tiles + 2; ++turn) {
        wait_rows<TILES_AHEAD - 1>();
        barrier();
        const u32 ahead = turn + TILES_AHEAD;
        if (ahead < walk.tiles) begin_rows(pieces, walk, ahead, rows_of(pool, ahead));
        if (turn >= 1 && turn <= walk.tiles) softmax.weigh(pool, walk, turn - 1, (turn - 1) % 2);
        if (turn >= 2) add_values(pool, sum, turn - 2);
        if (turn < walk.tiles) share_scores(pool, query, turn);
        close_rows(pieces, rows_of(pool, ahead), ahead < walk.tiles);
    }

    softmax.publish(pool);
    barrier();
    write_answers(sum, band, (const float*)(pool + LARGEST_AT), (const float*)(pool + TOTAL_AT), sinks, cosines, sines, out);
}
EXPORT_KERNEL(attention_pipeline)
