// The two ends of a walk in the matrix forms of attention: what a workgroup has to do, its queries made ready, and its
// answers written. The shape macros are those of attention_walk.h.
#pragma once
#include "attention_walk.h"

namespace hb {

// The queries and heads of a workgroup: tokens first_token + local and on of the step, K_QUERIES of them at most.
struct Band {
    u32 first_token, tokens;  // of the launch
    u32 local, first_head;

    // The head of a pair; beyond the last head that one again, computed and not written.
    DEVICE_MEMBER u32 head(u32 pair) const {
        const u32 found = first_head + pair % K_GROUP_HEADS;
        return K_HEADS % K_GROUP_HEADS == 0 ? found : smaller(found, K_HEADS - 1);
    }
    DEVICE_MEMBER bool is_head(u32 pair) const {
        return K_HEADS % K_GROUP_HEADS == 0 || first_head + pair % K_GROUP_HEADS < K_HEADS;
    }
    DEVICE_MEMBER u32 t_first() const { return first_token + local; }
    // The query of a pair, among those of the launch; beyond its end the last one.
    DEVICE_MEMBER u32 query(u32 pair) const { return smaller(local + pair / K_GROUP_HEADS, tokens - 1); }
    DEVICE_MEMBER u32 t_last() const { return first_token + smaller(local + K_QUERIES, tokens) - 1; }
};

// The rows that the band sees. A list of ids is copied to `list` in LDS, for use after a barrier.
DEVICE Walk walk_of(const Visibility& view, const Band& band, const u16* raw, const u16* compressed, const i32* ids,
                    const i32* counts, u32 plan, u32 top_k, u32 selected_from, u32 is_ring, i32* list) {
    const u32 t_first = band.t_first(), t_last = band.t_last();
    Walk walk{raw, compressed, nullptr, view, is_ring, 0, 0, 0, 0, 0, 0};
    switch (plan) {
        case PLAN_WINDOW: break;
        case PLAN_CONTIGUOUS: walk.compressed_rows = view.visible(t_last); break;
        case PLAN_INDEXED:
            if (t_first < selected_from) {
                walk.compressed_rows = view.visible(t_last);
            } else {
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
    return walk;
}

constexpr u32 QUERIES_A_WAVE = PAIRS / K_WAVES, QUERIES_AT_ONCE = QUERIES_A_WAVE < 4 ? QUERIES_A_WAVE : 4;
static_assert(PAIRS % K_WAVES == 0 && QUERIES_A_WAVE % QUERIES_AT_ONCE == 0);

// Norm and rotation, a wave a row and a few rows in flight, with scores in powers of two: to `staged` [PAIRS][ROW_STRIDE] in LDS.
DEVICE void stage_queries(u16* staged, const Band& band, const float* q, const float* cosines, const float* sines,
                          float epsilon) {
    const float scale = 1.4426950408889634f / square_root((float)K_WIDTH);
#pragma unroll 1
    for (u32 first = wave(); first < PAIRS; first += QUERIES_AT_ONCE * K_WAVES) {
        Row<K_WIDTH> row[QUERIES_AT_ONCE];
#pragma unroll
        for (u32 i = 0; i < QUERIES_AT_ONCE; ++i) {
            const u32 pair = first + i * K_WAVES, query = band.query(pair);
            load_row(row[i], q + ((u64)query * K_HEADS + band.head(pair)) * K_WIDTH);
        }
#pragma unroll
        for (u32 i = 0; i < QUERIES_AT_ONCE; ++i) {
            const u32 pair = first + i * K_WAVES;
            const u64 angles = (u64)(band.first_token + band.query(pair)) * (K_ROTARY / 2);
            normalise(row[i], epsilon);
            rotate<K_ROTARY>(row[i], cosines + angles, sines + angles);
#pragma unroll
            for (u32 j = 0; j < Row<K_WIDTH>::REGISTERS; ++j) row[i].v[j] *= scale;
            store_row(row[i], staged + pair * ROW_STRIDE);
        }
    }
}

// Divides the sums by the weights and the sink, rotates them back, and writes them.
DEVICE void write_answers(Accumulator (&sum)[PAIR_TILES][OWN_TILES], const Band& band, const float* largest,
                          const float* total, const float* sinks, const float* cosines, const float* sines, float* out) {
    constexpr u32 PLAIN = K_WIDTH - K_ROTARY;
#pragma unroll
    for (u32 p = 0; p < PAIR_TILES; ++p) {
        float share[8];
#pragma unroll
        for (u32 i = 0; i < 8; ++i) {
            const u32 pair = p * 16 + tile_row(i);
            const float sink = sinks[band.head(pair)] * 1.4426950408889634f;
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
                const u32 pair = p * 16 + tile_row(i), query_index = band.local + pair / K_GROUP_HEADS;
                const u32 channel = wave() * OWN + c * 16 + tile_column(i);
                if (query_index >= band.tokens || !band.is_head(pair)) continue;
                float value = sum[p][c].v[i];
                if (channel >= PLAIN) {
                    const u64 angle = (u64)(band.first_token + query_index) * (K_ROTARY / 2) + (channel - PLAIN) / 2;
                    value = value * cosines[angle] + other[i] * (channel % 2 ? -sines[angle] : sines[angle]);
                }
                out[((u64)query_index * K_HEADS + band.head(pair)) * K_WIDTH + channel] = value;
            }
        }
    }
}

}  // namespace hb
