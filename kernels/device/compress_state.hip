// Advances a compressor's rolling state past a step, after compress_rows has read it. State row j of the unfinished
// window holds the newest token whose position is j modulo the ratio; with ratio 4 the rows before it hold the last
// complete window. The result is the same for one step and for the same tokens one by one.
//
//   K_RATIO, K_WIDTH   see windows.h
#include "overlap.h"
#include "windows.h"

using namespace hb;

// The state is updated in place. Grid (TOKEN_WIDTH / 128, 1 or 128): a thread owns a channel of one slot of the window.
KERNEL(128) compress_state(const float* values, const float* gates, const float* bias, float* state_values,
                           float* state_gates, const u32* start, u32 tokens) {
    allow_next();
    await_inputs();
    const u32 channel = group_x() * 128 + thread_index(), slot = group_y();
    if (channel >= TOKEN_WIDTH) return;
    const Windows windows{values, gates, bias, state_values, state_gates, start[0], tokens};
    const u32 stop = windows.start + tokens;
    // The newest position below `stop` at this slot, if the step has one.
    const u32 newest = stop - 1 - (stop - 1 - slot) % K_RATIO;
    const bool arrived = stop > slot && newest >= windows.start;

    const u32 current = (CURRENT_ROW + slot) * TOKEN_WIDTH + channel;
    if constexpr (OVERLAPS) {
        if (windows.closed() > 0) {
            float value, gate;
            windows.entry((i32)(stop / K_RATIO) - 1, slot, channel, value, gate);
            state_values[slot * TOKEN_WIDTH + channel] = value;
            state_gates[slot * TOKEN_WIDTH + channel] = gate;
        }
    }
    if (arrived) {
        state_values[current] = windows.step_value(newest, channel);
        state_gates[current] = windows.step_gate(newest, channel);
    }
}
EXPORT_KERNEL(compress_state)
