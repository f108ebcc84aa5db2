// The handoff of id lists that did not come from select_rows: drops ids that a token may not see, sorts the rest
// ascending and removes duplicates, by a bitmap of the visible rows.
//
//   K_TOP        ids a token
//   K_MAX_ROWS   rows the bitmap has room for
#include "visibility.h"

using namespace hb;

constexpr u32 THREADS = 256, WAVES = THREADS / WAVE;

// ids [tokens, K_TOP] in any order -> sorted [tokens, K_TOP], counts [tokens]; entries past the count are -1. sorted may
// be ids. Grid (tokens).
KERNEL(256) order_rows(const i32* ids, i32* sorted, i32* counts, const u32* start, u32 first_token, u32 stored,
                       u32 ratio) {
    SHARED u32 bitmap[K_MAX_ROWS / 32];
    SHARED u32 totals[WAVES];
    const u32 token = group_x();
    const Visibility view{start[0] + first_token, ratio, 0, stored};
    const u32 visible = view.visible(token), words = ceil_div(visible, 32);
    for (u32 i = thread_index(); i < words; i += THREADS) bitmap[i] = 0;
    barrier();
    for (u32 i = thread_index(); i < K_TOP; i += THREADS) {
        const u32 id = (u32)ids[(u64)token * K_TOP + i];
        if (id < visible) shared_or(&bitmap[id / 32], 1u << id % 32);
    }
    barrier();

    u32 before = 0;
    for (u32 first = 0; first < words; first += THREADS) {
        const u32 at = first + thread_index();
        u32 word = at < words ? bitmap[at] : 0;
        const u32 own = count_bits(word);
        u32 rank = before + wave_prefix(own);
        if (lane() == WAVE - 1) totals[wave()] = rank - before + own;
        barrier();
        for (u32 w = 0; w < WAVES; ++w) {
            if (w < wave()) rank += totals[w];
            before += totals[w];
        }
        for (; word; word &= word - 1) {
            const u32 bit = count_bits((word & (0u - word)) - 1u);
            sorted[(u64)token * K_TOP + rank++] = (i32)(at * 32 + bit);
        }
        barrier();
    }
    for (u32 i = before + thread_index(); i < K_TOP; i += THREADS) sorted[(u64)token * K_TOP + i] = -1;
    if (thread_index() == 0) counts[token] = (i32)before;
}
EXPORT_KERNEL(order_rows)
