// Shape A: scalar streaming attention, the reference form. One head a wave, 16 heads a workgroup; every row a token
// sees is brought into LDS once for all 16 heads and serves as key and as value. Query norm, rotation and the inverse
// rotation of the result are fused. F32 throughout except the rows themselves.
//
//   K_HEADS, K_WIDTH, K_ROTARY   64, 512, 64 (V4-Flash); 16, 64, 16 (embedded)
//   K_WINDOW                     raw rows a token sees, 128
//
// Order of every sum: rows ascending (raw window, then compressed), in groups of four from the first row of the list;
// inside a row the lane holds fixed channels and the wave adds by the butterfly; the sink comes last.
#include "visibility.h"

using namespace hb;

constexpr u32 HEADS_A_GROUP = 16, TILE_ROWS = 16, GROUP_ROWS = 4, THREADS = HEADS_A_GROUP * WAVE;
constexpr u32 CHANNELS = K_WIDTH / WAVE;                  // a lane's share of a row
constexpr u32 VECTOR = CHANNELS < 8 ? CHANNELS : 8;       // neighbouring channels in one lane
constexpr u32 VECTORS = CHANNELS / VECTOR;
constexpr u32 TILE_CHUNKS = TILE_ROWS * K_WIDTH / 8;      // 16-byte pieces of a tile
constexpr u32 CHUNKS = (TILE_CHUNKS + THREADS - 1) / THREADS;
static_assert(K_HEADS % HEADS_A_GROUP == 0 && K_WIDTH % 64 == 0 && VECTOR % 2 == 0 && CHANNELS % VECTOR == 0);

DEVICE u32 channel(u32 vector) { return (vector * WAVE + lane()) * VECTOR; }

struct RowList {
    const u16* raw;
    const u16* compressed;
    const i32* ids;  // null: compressed rows 0 .. count - 1
    u32 raw_begin, raw_rows, rows, ring;
};

// The pieces of one tile that this thread carries from memory to LDS; rows past the end of the list become zeros.
struct Carried {
    U32x4 piece[CHUNKS];

    DEVICE_MEMBER void load(const RowList& list, const Visibility& view, u32 tile) {
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c) {
            const u32 at = thread_index() + c * THREADS, row = tile * TILE_ROWS + at / (K_WIDTH / 8);
            piece[c] = {0, 0, 0, 0};
            if (at >= TILE_CHUNKS || row >= list.rows) continue;
            const u16* source;
            if (row < list.raw_rows) {
                source = list.raw + (u64)raw_slot(view, list.raw_begin + row, list.ring) * K_WIDTH;
            } else {
                const u32 k = row - list.raw_rows;
                source = list.compressed + (u64)(list.ids ? (u32)list.ids[k] : k) * K_WIDTH;
            }
            piece[c] = ((const U32x4*)source)[at % (K_WIDTH / 8)];
        }
    }
    DEVICE_MEMBER void store(u16* tile) const {
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c) {
            const u32 at = thread_index() + c * THREADS;
            if (at < TILE_CHUNKS) ((U32x4*)tile)[at] = piece[c];
        }
    }
};

// A head's running softmax: the accumulated row, the largest score so far and the sum of weights, in powers of two.
struct Stream {
    float query[CHANNELS], sum[CHANNELS], largest, total;

    DEVICE_MEMBER void add_rows(const u16* rows, u32 first, u32 count) {
        float value[GROUP_ROWS][CHANNELS], score[GROUP_ROWS];
#pragma unroll
        for (u32 i = 0; i < GROUP_ROWS; ++i) {
#pragma unroll
            for (u32 v = 0; v < VECTORS; ++v) load_halves(value[i] + v * VECTOR, rows + i * K_WIDTH + channel(v));
            float dot = 0.0f;
#pragma unroll
            for (u32 c = 0; c < CHANNELS; ++c) dot = fused(value[i][c], query[c], dot);
            dot = wave_sum(dot);
            score[i] = first + i < count ? dot : EMPTY_SCORE;
        }
        float top = largest;
#pragma unroll
        for (u32 i = 0; i < GROUP_ROWS; ++i) top = larger(top, score[i]);
        const float keep = power2(largest - top);
        largest = top;
        total *= keep;
#pragma unroll
        for (u32 c = 0; c < CHANNELS; ++c) sum[c] *= keep;
#pragma unroll
        for (u32 i = 0; i < GROUP_ROWS; ++i) {
            const float weight = power2(score[i] - top);
            total += weight;
#pragma unroll
            for (u32 c = 0; c < CHANNELS; ++c) sum[c] = fused(weight, value[i][c], sum[c]);
        }
    }

    DEVICE_MEMBER static void load_halves(float* values, const u16* halves) {
        if constexpr (VECTOR == 8) {
            const U32x4 w = *(const U32x4*)halves;
            const u32 words[4] = {w.x, w.y, w.z, w.w};
#pragma unroll
            for (u32 i = 0; i < 4; ++i) values[2 * i] = low_half(words[i]), values[2 * i + 1] = high_half(words[i]);
        } else {
#pragma unroll
            for (u32 i = 0; i < VECTOR; ++i) values[i] = half_to_float(halves[i]);
        }
    }
};

// Turns the rotary pairs of a lane's channels; direction -1 turns back.
DEVICE void turn(float* values, const float* cosines, const float* sines, float direction) {
    constexpr u32 PLAIN = K_WIDTH - K_ROTARY;
#pragma unroll
    for (u32 c = 0; c < CHANNELS; c += 2) {
        const u32 at = channel(c / VECTOR) + c % VECTOR;
        if (at < PLAIN) continue;
        const float cosine = cosines[(at - PLAIN) / 2], sine = sines[(at - PLAIN) / 2] * direction;
        const float a = values[c], b = values[c + 1];
        values[c] = a * cosine - b * sine;
        values[c + 1] = a * sine + b * cosine;
    }
}

// q, out [T, K_HEADS, K_WIDTH]: tokens first_token .. first_token + T - 1 of a step whose first position is start[0].
// raw: the step's rows [P + N, K_WIDTH], or the ring with is_ring = 1. ids [.., top_k] and counts belong to tokens from
// selected_from on under PLAN_INDEXED; earlier tokens see all their compressed rows. Grid (T, K_HEADS / 16).
KERNEL(512) attention_rows(const float* q, const u16* raw, const u16* compressed, const i32* ids, const i32* counts,
                           const float* sinks, const float* cosines, const float* sines, float* out,
                           const u32* start, u32 first_token, u32 ratio, u32 compressed_rows, u32 plan, u32 top_k,
                           u32 selected_from, u32 is_ring, float epsilon) {
    SHARED u16 tiles[2][TILE_ROWS * K_WIDTH] __attribute__((aligned(16)));
    const u32 t = first_token + group_x(), head = group_y() * HEADS_A_GROUP + wave();
    const u64 at = ((u64)group_x() * K_HEADS + head) * K_WIDTH;
    const float* cosine = cosines + (u64)t * (K_ROTARY / 2);
    const float* sine = sines + (u64)t * (K_ROTARY / 2);

    const Visibility view{start[0], ratio, K_WINDOW, compressed_rows};
    RowList list{raw, compressed, nullptr, view.raw_first(t), view.raw_count(t), view.raw_count(t), is_ring};
    switch (plan) {
        case PLAN_WINDOW: break;
        case PLAN_CONTIGUOUS: list.rows += view.visible(t); break;
        case PLAN_INDEXED:
            if (t < selected_from) {
                list.rows += view.visible(t);
            } else {
                list.ids = ids + (u64)(t - selected_from) * top_k;
                list.rows += (u32)counts[t - selected_from];
            }
            break;
    }

    Stream stream;
    float squares = 0.0f;
#pragma unroll
    for (u32 c = 0; c < CHANNELS; ++c) {
        stream.query[c] = q[at + channel(c / VECTOR) + c % VECTOR];
        stream.sum[c] = 0.0f;
        squares = fused(stream.query[c], stream.query[c], squares);
    }
    const float norm = 1.0f / square_root(wave_sum(squares) * (1.0f / K_WIDTH) + epsilon);
    turn(stream.query, cosine, sine, 1.0f);
    // Scores are kept in powers of two: e^s = 2^(s * log2 e).
    constexpr float LOG2_E = 1.4426950408889634f;
    const float scale = norm * LOG2_E / square_root((float)K_WIDTH);
#pragma unroll
    for (u32 c = 0; c < CHANNELS; ++c) stream.query[c] *= scale;
    stream.largest = EMPTY_SCORE, stream.total = 0.0f;

    const u32 tile_count = ceil_div(list.rows, TILE_ROWS);
    Carried carried;
    carried.load(list, view, 0);
    carried.store(tiles[0]);
    for (u32 tile = 0; tile < tile_count; ++tile) {
        barrier();
        if (tile + 1 < tile_count) carried.load(list, view, tile + 1);
#pragma unroll 1
        for (u32 i = 0; i < TILE_ROWS; i += GROUP_ROWS)
            stream.add_rows(tiles[tile % 2] + i * K_WIDTH, tile * TILE_ROWS + i, list.rows);
        if (tile + 1 < tile_count) carried.store(tiles[(tile + 1) % 2]);
    }

    const float sink = sinks[head] * LOG2_E, top = larger(stream.largest, sink);
    const float keep = power2(stream.largest - top);
    const float share = keep / (stream.total * keep + power2(sink - top));
#pragma unroll
    for (u32 c = 0; c < CHANNELS; ++c) stream.sum[c] *= share;
    turn(stream.sum, cosine, sine, -1.0f);
#pragma unroll
    for (u32 c = 0; c < CHANNELS; ++c) out[at + channel(c / VECTOR) + c % VECTOR] = stream.sum[c];
}
EXPORT_KERNEL(attention_rows)
