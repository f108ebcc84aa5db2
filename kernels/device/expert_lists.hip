// The compact work list of grouped products: pairs sorted by expert, ascending inside an expert, and one tile for every
// K_TILE of them. One workgroup an expert; each place is computed, so the order never depends on who came first.
//
//   K_TILE   pairs in a tile, 128
#include "portable.h"

using namespace hb;

constexpr u32 THREADS = 256, WAVES = THREADS / WAVE, PER_THREAD = 4;

// experts [pairs], counts [all_experts] -> order [pairs]: the pair at each sorted row; place [pairs]: the sorted row of
// each pair; tiles [most, 4]: expert, first sorted row, rows, 0; tile_count [1]. Grid (all_experts).
KERNEL(256) expert_lists(const i32* experts, const i32* counts, i32* order, i32* place, i32* tiles, i32* tile_count,
                         u32 pairs, u32 all_experts) {
    SHARED u32 rows_of_wave[WAVES], tiles_of_wave[WAVES], found[WAVES];
    const u32 expert = group_x();
    u32 rows_before = 0, tiles_before = 0;
    for (u32 e = thread_index(); e < expert; e += THREADS) {
        rows_before += (u32)counts[e];
        tiles_before += ceil_div((u32)counts[e], K_TILE);
    }
    const u32 rows_prefix = wave_prefix(rows_before), tiles_prefix = wave_prefix(tiles_before);
    if (lane() == WAVE - 1) {
        rows_of_wave[wave()] = rows_prefix + rows_before;
        tiles_of_wave[wave()] = tiles_prefix + tiles_before;
    }
    barrier();
    u32 first_row = 0, first_tile = 0;
    for (u32 w = 0; w < WAVES; ++w) first_row += rows_of_wave[w], first_tile += tiles_of_wave[w];

    const u32 count = (u32)counts[expert], own_tiles = ceil_div(count, K_TILE);
    for (u32 i = thread_index(); i < own_tiles; i += THREADS) {
        i32* tile = tiles + (first_tile + i) * 4;
        tile[0] = (i32)expert;
        tile[1] = (i32)(first_row + i * K_TILE);
        tile[2] = (i32)smaller(K_TILE, count - i * K_TILE);
        tile[3] = 0;
    }
    if (expert + 1 == all_experts && thread_index() == 0) tile_count[0] = (i32)(first_tile + own_tiles);

    u32 row = first_row;
    for (u32 first = 0; first < pairs; first += THREADS * PER_THREAD) {
        const u32 base = first + thread_index() * PER_THREAD;
        u32 own = 0;
        for (u32 i = 0; i < PER_THREAD; ++i) own += base + i < pairs && (u32)experts[base + i] == expert ? 1 : 0;
        const u32 before = wave_prefix(own);
        if (lane() == WAVE - 1) found[wave()] = before + own;
        barrier();
        u32 at = row + before;
        for (u32 w = 0; w < WAVES; ++w) {
            if (w < wave()) at += found[w];
            row += found[w];
        }
        for (u32 i = 0; i < PER_THREAD; ++i) {
            if (base + i >= pairs || (u32)experts[base + i] != expert) continue;
            order[at] = (i32)(base + i);
            place[base + i] = (i32)at++;
        }
        barrier();
    }
}
EXPORT_KERNEL(expert_lists)
