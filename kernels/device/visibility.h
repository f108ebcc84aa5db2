// Which rows a token sees: the closed forms of engine.plan.Visibility, the same integers on the device.
#pragma once
#include "portable.h"

namespace hb {

// How a launch finds compressed rows; the values are those of kernels.ops.attention.Plan. There is no other way.
enum Plan : u32 { PLAN_WINDOW = 0, PLAN_CONTIGUOUS = 1, PLAN_INDEXED = 2 };

struct Visibility {
    u32 start;   // S, absolute position of the step's first token
    u32 ratio;   // compression ratio, 0: none
    u32 window;  // raw rows a token sees, itself included
    u32 stored;  // C, compressed rows that exist

    DEVICE_MEMBER u32 prior() const { return smaller(start, window); }
    DEVICE_MEMBER u32 raw_first(u32 t) const { return prior() + t + 1 > window ? prior() + t + 1 - window : 0; }
    DEVICE_MEMBER u32 raw_count(u32 t) const { return prior() + t + 1 - raw_first(t); }
    DEVICE_MEMBER u32 visible(u32 t) const { return ratio ? smaller(stored, (start + t + 1) / ratio) : 0; }
};

// Raw row i of the step's row space [prior | current] in a linear buffer, or in a ring of `window` rows (a power of two).
DEVICE u32 raw_slot(const Visibility& view, u32 i, u32 is_ring) {
    return is_ring ? (view.start - view.prior() + i) & (view.window - 1) : i;
}

}  // namespace hb
