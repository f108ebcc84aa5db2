// Decode attention, second half: the splits of attention_split added in ascending order, the sink last, the answer rotated
// back. A thread owns a pair of neighbouring channels of one head, the unit of the rotation.
//
//   K_HEADS, K_WIDTH, K_ROTARY, K_WINDOW, K_ROWS   as in attention_split
//   K_MOST_IDS                                     the longest id list, 512
#include "attention_splits.h"
#include "overlap.h"

using namespace hb;

constexpr u32 THREADS = 128, PAIRS_A_HEAD = K_WIDTH / 2;
constexpr u32 AHEAD = RAW_SPLITS + K_MOST_IDS / K_ROWS;  // splits loaded at once: a window and a whole selection
static_assert(K_HEADS * PAIRS_A_HEAD % THREADS == 0 && K_MOST_IDS % K_ROWS == 0);

// A thread's part of AHEAD splits from `first` on, whatever they hold.
struct Parts {
    F32x2 state[AHEAD], part[AHEAD];  // largest score and sum of weights; output before division

    DEVICE_MEMBER void load(const float* work, u32 first, u32 splits, u32 head, u32 channel) {
#pragma unroll
        for (u32 i = 0; i < AHEAD; ++i) {
            const float* partial = work + ((u64)smaller(first + i, splits - 1) * WORK_HEADS + head) * PARTIAL_WIDTH;
            state[i] = *(const F32x2*)(partial + LARGEST_COLUMN);
            part[i] = *(const F32x2*)(partial + channel);
        }
    }
};

// work [splits, WORK_HEADS, PARTIAL_WIDTH] -> out [1, K_HEADS, K_WIDTH]; the other arguments as in attention_split.
// Grid (K_HEADS * K_WIDTH / 2 / 128).
KERNEL(THREADS) attention_combine(const float* work, const i32* counts, const float* sinks, const float* cosines,
                                  const float* sines, float* out, const u32* start, u32 ratio, u32 compressed_rows,
                                  u32 plan, u32 top_k, u32 splits) {
    const u32 at = group_x() * THREADS + thread_index(), head = at / PAIRS_A_HEAD, channel = at % PAIRS_A_HEAD * 2;
    allow_next();
    await_inputs();
    Parts parts;
    parts.load(work, 0, splits, head, channel);
    const Visibility view{start[0], ratio, K_WINDOW, compressed_rows};
    const Splits cut = splits_of(view, plan, counts, top_k);
    float largest = EMPTY_SCORE, total = 0.0f;
    F32x2 sum = {0.0f, 0.0f};
    for (u32 first = 0; first < cut.end(); first += AHEAD) {
        if (first != 0) parts.load(work, first, splits, head, channel);
        F32x2(&state)[AHEAD] = parts.state, (&part)[AHEAD] = parts.part;
        float top = largest;
#pragma unroll
        for (u32 i = 0; i < AHEAD; ++i) {
            // What a split without rows would hold was never written.
            if (cut.rows(first + i) == 0) state[i] = {EMPTY_SCORE, 0.0f}, part[i] = {0.0f, 0.0f};
            top = larger(top, state[i].x);
        }
        const float keep = power2(largest - top);
        largest = top, total *= keep, sum.x *= keep, sum.y *= keep;
#pragma unroll
        for (u32 i = 0; i < AHEAD; ++i) {
            const float weight = power2(state[i].x - top);
            total = fused(state[i].y, weight, total);
            sum.x = fused(part[i].x, weight, sum.x), sum.y = fused(part[i].y, weight, sum.y);
        }
    }

    const float sink = sinks[head] * 1.4426950408889634f, top = larger(largest, sink), shrink = power2(largest - top);
    const float share = shrink / fused(total, shrink, power2(sink - top));
    F32x2 answer = {sum.x * share, sum.y * share};
    constexpr u32 PLAIN = K_WIDTH - K_ROTARY;
    if (channel >= PLAIN) {
        const float cosine = cosines[(channel - PLAIN) / 2], sine = sines[(channel - PLAIN) / 2];
        answer = {answer.x * cosine + answer.y * sine, answer.y * cosine - answer.x * sine};
    }
    *(F32x2*)(out + (u64)head * K_WIDTH + channel) = answer;
}
EXPORT_KERNEL(attention_combine)
