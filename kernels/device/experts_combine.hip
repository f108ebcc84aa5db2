// Adds the experts of each token, in slot order, to the shared one; four channels a thread.
//
//   K_USED   experts a token uses
#include "portable.h"

using namespace hb;

// outputs [pairs, width] in sorted order, place [tokens, K_USED], weights [tokens, K_USED], shared [tokens, width] -> out
// [tokens, width] (may be shared). Grid (width / 1024, tokens).
KERNEL(256) experts_combine(const float* outputs, const i32* place, const float* weights, const float* shared,
                            float* out, u32 width) {
    const u32 quad = group_x() * 256 + thread_index(), quads = width / 4;
    if (quad >= quads) return;
    const u64 token = group_y();
    F32x4 routed = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (u32 k = 0; k < K_USED; ++k) {
        const float weight = weights[token * K_USED + k];
        const F32x4 part = ((const F32x4*)outputs)[(u64)place[token * K_USED + k] * quads + quad];
        routed.x = fused(weight, part.x, routed.x), routed.y = fused(weight, part.y, routed.y);
        routed.z = fused(weight, part.z, routed.z), routed.w = fused(weight, part.w, routed.w);
    }
    const F32x4 base = ((const F32x4*)shared)[token * quads + quad];
    ((F32x4*)out)[token * quads + quad] = {base.x + routed.x, base.y + routed.y, base.z + routed.z, base.w + routed.w};
}
EXPORT_KERNEL(experts_combine)
