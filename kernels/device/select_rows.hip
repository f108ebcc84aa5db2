// The K_TOP best visible rows of a token, exactly: a radix select over the ordered bits of the scores finds the score of
// the last row that fits, a second walk emits rows in ascending order. Of equal scores the lower row wins.
//
// A thread owns HELD neighbouring rows of a segment; where one segment is all, their keys are read
// once and stay in registers.
//
//   K_TOP       512 (V4-Flash), 128 (embedded)
//   K_THREADS   1024 for single tokens, which have the machine for themselves; 256 for many
#include "overlap.h"
#include "visibility.h"

using namespace hb;

constexpr u32 THREADS = K_THREADS, WAVES = THREADS / WAVE, BINS = 256, HELD = 4, SEGMENT = THREADS * HELD;

struct Shared {
    u32 bins[BINS];
    u32 digit, wanted;
    u32 counts[WAVES];  // of a wave's rows in a segment: above the threshold, and 2^16 times those on it
};

struct Keys {
    u32 key[HELD], first, count;  // rows `first` onward, of which `count` are visible

    DEVICE_MEMBER void load(const float* scores, u32 segment, u32 visible) {
        first = segment + thread_index() * HELD;
        count = first < visible ? smaller(visible - first, HELD) : 0;
#pragma unroll
        for (u32 i = 0; i < HELD; ++i) key[i] = i < count ? ordered_bits(scores[first + i]) : 0;
    }
};

// Wave 0: the digit that the last wanted key has, and how many keys with that digit are wanted.
DEVICE void find_digit(Shared& s, u32 wanted) {
    // Lane l owns the bins 255 - 8 l downward, so that a prefix over lanes counts the larger keys.
    u32 own = 0;
    for (u32 i = 0; i < 8; ++i) own += s.bins[BINS - 1 - lane() * 8 - i];
    u32 larger_keys = wave_prefix(own);
    if (larger_keys >= wanted || wanted > larger_keys + own) return;
    for (u32 i = 0; i < 8; ++i) {
        const u32 bin = BINS - 1 - lane() * 8 - i, count = s.bins[bin];
        if (wanted <= larger_keys + count) {
            s.digit = bin, s.wanted = wanted - larger_keys;
            break;
        }
        larger_keys += count;
    }
}

// All threads: the counts of the rows before this thread's in the segment; `total` is that of the segment. Both pack two
// counts as Shared::counts does.
DEVICE u32 count_before(Shared& s, u32 own, u32& total) {
    const u32 in_wave = wave_prefix(own);
    if (lane() == WAVE - 1) s.counts[wave()] = in_wave + own;
    barrier();
    const u32 of_wave = lane() < WAVES ? s.counts[lane()] : 0, before = wave_prefix(of_wave);
    total = lane_read(before + of_wave, WAVE - 1);
    const u32 found = in_wave + lane_read(before, wave());
    barrier();
    return found;
}

// scores [tokens, score_stride] -> ids [tokens, K_TOP] ascending, counts [tokens]; ids past the count are -1. Token t has
// position start[0] + first_token + t. Grid (tokens).
KERNEL(K_THREADS) select_rows(const float* scores, i32* ids, i32* counts, const u32* start, u32 first_token, u32 stored,
                              u32 ratio, u32 score_stride) {
    SHARED Shared s;
    allow_next();
    await_inputs();
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
    Keys keys;
    keys.load(row, 0, visible);
    u32 threshold = 0, wanted = K_TOP;
#pragma unroll 1
    for (i32 shift = 24; shift >= 0; shift -= 8) {
        if (thread_index() < BINS) s.bins[thread_index()] = 0;
        barrier();
#pragma unroll 1
        for (u32 segment = 0; segment < visible; segment += SEGMENT) {
            if (visible > SEGMENT) keys.load(row, segment, visible);
#pragma unroll
            for (u32 i = 0; i < HELD; ++i) {
                // A key that shares the digits found so far; those of the threshold from `shift` down are still 0.
                const bool is_open = i < keys.count && (keys.key[i] ^ threshold) >> shift < BINS;
                if (is_open) shared_add(&s.bins[keys.key[i] >> shift & 255u], 1);
            }
        }
        barrier();
        if (wave() == 0) find_digit(s, wanted);
        barrier();
        threshold |= s.digit << shift;
        wanted = s.wanted;  // in the end: how many rows with exactly the threshold's score fit
    }

    u32 above_passed = 0, level_passed = 0;  // rows of the segments before
#pragma unroll 1
    for (u32 segment = 0; segment < visible; segment += SEGMENT) {
        if (visible > SEGMENT) keys.load(row, segment, visible);
        u32 own = 0, total;
#pragma unroll
        for (u32 i = 0; i < HELD; ++i)
            if (i < keys.count) own += (keys.key[i] > threshold ? 1u : 0u) + (keys.key[i] == threshold ? 0x10000u : 0u);
        const u32 before = count_before(s, own, total);
        u32 above = above_passed + (before & 0xffffu), level = level_passed + (before >> 16);
#pragma unroll
        for (u32 i = 0; i < HELD; ++i) {
            if (i >= keys.count || keys.key[i] < threshold) continue;
            const bool is_level = keys.key[i] == threshold;
            if (!is_level || level < wanted) chosen[above + smaller(level, wanted)] = (i32)(keys.first + i);
            if (is_level) ++level; else ++above;
        }
        above_passed += total & 0xffffu, level_passed += total >> 16;
    }
}
EXPORT_KERNEL(select_rows)
