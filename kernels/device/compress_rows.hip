// Closes compressor windows: one workgroup pools a window channel by channel, then its first wave norms, rotates and
// rounds the row and appends it.
//
//   K_RATIO, K_WIDTH      see windows.h
//   K_ROTARY, K_ROUNDING, K_OUTPUT   see norm_rope.hip
#include "overlap.h"
#include "row.h"
#include "windows.h"

using namespace hb;

constexpr u32 ENTRIES = K_RATIO * LANES_A_TOKEN, GROUP = 8;

// A softmax-weighted mean that takes entries in order, eight at a time.
struct Pool {
    float largest = EMPTY_SCORE, total = 0.0f, sum = 0.0f;

    DEVICE_MEMBER void add(const float (&value)[GROUP], const float (&gate)[GROUP]) {
        float top = largest;
#pragma unroll
        for (u32 i = 0; i < GROUP; ++i) top = larger(top, gate[i]);
        const float keep = exponential(largest - top);
        total *= keep, sum *= keep;
        largest = top;
#pragma unroll
        for (u32 i = 0; i < GROUP; ++i) {
            const float weight = exponential(gate[i] - top);
            total += weight;
            sum = fused(weight, value[i], sum);
        }
    }
};

// norm [K_WIDTH]; cosines, sines [closed windows, K_ROTARY / 2] at each row's position; out [.., K_WIDTH], the row of
// window w at index w. Grid: one workgroup for each window that may close, tokens / K_RATIO + 1.
KERNEL(K_WIDTH) compress_rows(const float* values, const float* gates, const float* bias, const float* state_values,
                              const float* state_gates, const float* norm, const float* cosines, const float* sines,
                              K_OUTPUT* out, const u32* start, u32 tokens, float epsilon) {
    SHARED float pooled[K_WIDTH];
    allow_next();
    await_inputs();
    const Windows windows{values, gates, bias, state_values, state_gates, start[0], tokens};
    if (group_x() >= windows.closed()) return;
    const i32 window = (i32)(windows.first_open() + group_x());
    const u32 channel = thread_index();

    Pool pool;
#pragma unroll 1
    for (u32 first = 0; first < ENTRIES; first += GROUP) {
        float value[GROUP], gate[GROUP];
#pragma unroll
        for (u32 i = 0; i < GROUP; ++i) {
            const u32 entry = first + i;
            if constexpr (OVERLAPS) {
                const bool own = entry >= K_RATIO;
                windows.entry(own ? window : window - 1, entry % K_RATIO, own ? K_WIDTH + channel : channel, value[i], gate[i]);
            } else {
                windows.entry(window, entry, channel, value[i], gate[i]);
            }
        }
        pool.add(value, gate);
    }
    pooled[channel] = pool.sum / pool.total;
    barrier();

    if (wave() != 0) return;
    Row<K_WIDTH> row;
    load_row(row, pooled);
    normalise(row, epsilon);
#pragma unroll
    for (u32 j = 0; j < Row<K_WIDTH>::REGISTERS; ++j) row.v[j] *= norm[j * WAVE + lane()];
    const u64 angle = (u64)group_x() * (K_ROTARY / 2);
    rotate<K_ROTARY>(row, cosines + angle, sines + angle);
    round_stored<K_ROUNDING, K_ROTARY>(row);
    store_row(row, out + (u64)window * K_WIDTH);
}
EXPORT_KERNEL(compress_rows)
