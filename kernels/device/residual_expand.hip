// The way back from a sublayer: S'[k] = post[k] y + sum over j of comb[j, k] S[j], four channels of all streams a thread.
//
//   K_STREAMS, K_HIDDEN   4, 4096 (V4-Flash); 4, 384 (embedded)
#include "portable.h"

using namespace hb;

constexpr u32 QUADS = K_HIDDEN / 4;
static_assert(K_STREAMS == 4 && K_HIDDEN % 4 == 0);

DEVICE F32x4 scaled(float a, const F32x4& x) { return {a * x.x, a * x.y, a * x.z, a * x.w}; }
DEVICE F32x4 added(float a, const F32x4& x, const F32x4& sum) {
    return {fused(a, x.x, sum.x), fused(a, x.y, sum.y), fused(a, x.z, sum.z), fused(a, x.w, sum.w)};
}

// streams, out [tokens, 4, K_HIDDEN] (out may be streams), y [tokens, K_HIDDEN]. Grid (QUADS / 256, tokens).
KERNEL(256) residual_expand(const float* streams, const float* y, const float* post, const float* comb, float* out) {
    const u32 quad = group_x() * 256 + thread_index();
    if (quad >= QUADS) return;
    const u64 token = group_y(), base = token * K_STREAMS * QUADS + quad;
    F32x4 old[K_STREAMS];
#pragma unroll
    for (u32 j = 0; j < K_STREAMS; ++j) old[j] = ((const F32x4*)streams)[base + j * QUADS];
    const F32x4 fresh = ((const F32x4*)y)[token * QUADS + quad];
#pragma unroll
    for (u32 k = 0; k < K_STREAMS; ++k) {
        F32x4 sum = scaled(post[token * 4 + k], fresh);
#pragma unroll
        for (u32 j = 0; j < K_STREAMS; ++j) sum = added(comb[token * 16 + j * 4 + k], old[j], sum);
        ((F32x4*)out)[base + k * QUADS] = sum;
    }
}
EXPORT_KERNEL(residual_expand)
