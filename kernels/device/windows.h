// The tokens of a compressor's windows: where a token's value and gate stand, in the step or in the rolling state.
//
//   K_RATIO    tokens a window, 4 (overlapping: a row also pools the first lane of the window before) or 128
//   K_WIDTH    channels of a compressed row: 512 or 128 (V4-Flash), 64 or 32 (embedded)
#pragma once
#include "portable.h"

namespace hb {

constexpr bool OVERLAPS = K_RATIO == 4;
constexpr u32 LANES_A_TOKEN = OVERLAPS ? 2 : 1;
constexpr u32 TOKEN_WIDTH = LANES_A_TOKEN * K_WIDTH;           // channels of a projection
constexpr u32 CURRENT_ROW = OVERLAPS ? K_RATIO : 0;            // first state row of the unfinished window

// values and gates [tokens, TOKEN_WIDTH] of a step that begins at position `start`; gates are without position bias.
// state_values and state_gates [2 * 4 or 128, TOKEN_WIDTH] hold what came before; their gates include the bias.
struct Windows {
    const float* values;
    const float* gates;
    const float* bias;  // [K_RATIO, TOKEN_WIDTH]
    const float* state_values;
    const float* state_gates;
    u32 start, tokens;

    DEVICE_MEMBER u32 first_open() const { return start / K_RATIO; }
    DEVICE_MEMBER u32 closed() const { return (start + tokens) / K_RATIO - first_open(); }

    DEVICE_MEMBER float step_value(u32 position, u32 channel) const {
        return values[(u64)(position - start) * TOKEN_WIDTH + channel];
    }
    DEVICE_MEMBER float step_gate(u32 position, u32 channel) const {
        return gates[(u64)(position - start) * TOKEN_WIDTH + channel] + bias[position % K_RATIO * TOKEN_WIDTH + channel];
    }

    // Entry `slot` of `window`, a window that is still open at `start` or later, or the one before that.
    DEVICE_MEMBER void entry(i32 window, u32 slot, u32 channel, float& value, float& gate) const {
        const i32 position = window * K_RATIO + (i32)slot;
        if (position >= (i32)start) {
            value = step_value((u32)position, channel);
            gate = step_gate((u32)position, channel);
        } else {
            const u32 row = (window == (i32)first_open() ? CURRENT_ROW : 0) + slot;
            value = state_values[row * TOKEN_WIDTH + channel];
            gate = state_gates[row * TOKEN_WIDTH + channel];
        }
    }
};

}  // namespace hb
