// The K_TOP best visible rows of a token, exactly: a radix select over the ordered bits of the scores finds the score of
// the last row that fits, a second walk emits rows in ascending order. Of equal scores the lower row wins.
//
//   K_TOP   512 (V4-Flash), 128 (embedded)
#include "visibility.h"

using namespace hb;

constexpr u32 THREADS = 256, WAVES = THREADS / WAVE, BINS = 256;

// Bits that compare as unsigned integers the way the scores compare; +0 and -0 are one score.
DEVICE u32 ordered(float score) {
    const u32 bits = as_bits(score + 0.0f);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

struct Shared {
    u32 bins[BINS];
    u32 digit, wanted;
    u32 above[WAVES], level[WAVES];
};

// Counts the keys of this round by their next digit; then wave 0 finds the digit that the last wanted key has, and how
// many keys with that digit are wanted.
DEVICE void select_digit(Shared& s, const float* scores, u32 visible, u32 prefix, u32 shift, u32 wanted) {
    s.bins[thread_index()] = 0;
    barrier();
    for (u32 c = thread_index(); c < visible; c += THREADS) {
        const u32 key = ordered(scores[c]);
        if (shift == 24 || key >> (shift + 8) == prefix >> (shift + 8)) shared_add(&s.bins[key >> shift & 255u], 1);
    }
    barrier();
    if (wave() == 0) {
        // Lane l owns the bins 255 - 8 l downward, so that a prefix over lanes counts the larger keys.
        u32 own = 0;
        for (u32 i = 0; i < 8; ++i) own += s.bins[BINS - 1 - lane() * 8 - i];
        u32 larger_keys = wave_prefix(own);
        if (larger_keys < wanted && wanted <= larger_keys + own) {
            for (u32 i = 0; i < 8; ++i) {
                const u32 bin = BINS - 1 - lane() * 8 - i, count = s.bins[bin];
                if (wanted <= larger_keys + count) {
                    s.digit = bin, s.wanted = wanted - larger_keys;
                    break;
                }
                larger_keys += count;
            }
        }
    }
    barrier();
}

// scores [tokens, score_stride] -> ids [tokens, K_TOP] ascending, counts [tokens]; ids past the count are -1. Token t has
// position start[0] + first_token + t. Grid (tokens).
KERNEL(256) select_rows(const float* scores, i32* ids, i32* counts, const u32* start, u32 first_token, u32 stored,
                        u32 ratio, u32 score_stride) {
    SHARED Shared s;
    const u32 token = group_x();
    const Visibility view{start[0] + first_token, ratio, 0, stored};
    const u32 visible = view.visible(token), count = smaller(visible, K_TOP);
    i32* chosen = ids + (u64)token * K_TOP;
    if (thread_index() == 0) counts[token] = (i32)count;
    if (visible <= K_TOP) {
        for (u32 i = thread_index(); i < K_TOP; i += THREADS) chosen[i] = i < visible ? (i32)i : -1;
        return;
    }

    const float* row = scores + (u64)token * score_stride;
    u32 threshold = 0, wanted = K_TOP;
    for (i32 shift = 24; shift >= 0; shift -= 8) {
        select_digit(s, row, visible, threshold, (u32)shift, wanted);
        threshold |= s.digit << shift;
        wanted = s.wanted;  // in the end: how many rows with exactly the threshold's score fit
        barrier();
    }

    u32 above_before = 0, level_before = 0;
    for (u32 first = 0; first < visible; first += THREADS) {
        const u32 c = first + thread_index();
        const u32 key = c < visible ? ordered(row[c]) : 0;
        const bool above = c < visible && key > threshold, level = c < visible && key == threshold;
        const u32 above_mask = wave_ballot(above), level_mask = wave_ballot(level);
        if (lane() == 0) s.above[wave()] = count_bits(above_mask), s.level[wave()] = count_bits(level_mask);
        barrier();
        u32 above_rank = above_before + lanes_below(above_mask), level_rank = level_before + lanes_below(level_mask);
        for (u32 w = 0; w < WAVES; ++w) {
            if (w < wave()) above_rank += s.above[w], level_rank += s.level[w];
            above_before += s.above[w], level_before += s.level[w];
        }
        if (above || (level && level_rank < wanted)) chosen[above_rank + smaller(level_rank, wanted)] = (i32)c;
        barrier();
    }
}
EXPORT_KERNEL(select_rows)
