// Four channels of all residual streams in one thread, and their way back from a sublayer.
//
//   K_STREAMS   4
#pragma once
#include "portable.h"

namespace hb {

static_assert(K_STREAMS == 4);

// `column` points at stream 0, `stride` is the distance between streams; both in groups of four channels.
DEVICE void load_streams(F32x4 (&value)[K_STREAMS], const F32x4* column, u32 stride) {
#pragma unroll
    for (u32 j = 0; j < K_STREAMS; ++j) value[j] = column[j * stride];
}
DEVICE void store_streams(const F32x4 (&value)[K_STREAMS], F32x4* column, u32 stride) {
#pragma unroll
    for (u32 j = 0; j < K_STREAMS; ++j) column[j * stride] = value[j];
}

DEVICE F32x4 scaled(float a, const F32x4& x) { return {a * x.x, a * x.y, a * x.z, a * x.w}; }
DEVICE F32x4 added(float a, const F32x4& x, const F32x4& sum) {
    return {fused(a, x.x, sum.x), fused(a, x.y, sum.y), fused(a, x.z, sum.z), fused(a, x.w, sum.w)};
}

// S'[k] = post[k] y + sum over j of comb[j, k] S[j], j ascending.
DEVICE void expand_streams(F32x4 (&value)[K_STREAMS], const F32x4& fresh, const float* post, const float* comb) {
    F32x4 sum[K_STREAMS];
#pragma unroll
    for (u32 k = 0; k < K_STREAMS; ++k) {
        sum[k] = scaled(post[k], fresh);
#pragma unroll
        for (u32 j = 0; j < K_STREAMS; ++j) sum[k] = added(comb[j * 4 + k], value[j], sum[k]);
    }
#pragma unroll
    for (u32 k = 0; k < K_STREAMS; ++k) value[k] = sum[k];
}

}  // namespace hb
