// Residual mixing, first half: the mixing logits of every token's four streams, before their RMS scale, as partial sums
// over K_SPLITS pieces of the stream-major vector. The pieces are the same for every batch, so a token's logits do not
// depend on its neighbours; residual_finish adds them in order.
//
//   K_STREAMS, K_HIDDEN   4, 4096 (V4-Flash); 4, 384 (embedded)
//   K_OUTPUTS             24 (a sublayer's mixer) or 4 (the final collapse)
//   K_SPLITS              16
#include "portable.h"

using namespace hb;

constexpr u32 THREADS = 256, WAVES = THREADS / WAVE, TOKENS = 8;
constexpr u32 LENGTH = K_STREAMS * K_HIDDEN, PIECE = LENGTH / K_SPLITS;
constexpr u32 OUTPUTS_A_WAVE = (K_OUTPUTS + WAVES - 1) / WAVES;
static_assert(LENGTH % (K_SPLITS * 4) == 0 && TOKENS == WAVES && TOKENS == 8);

DEVICE float dot(const F32x4& a, const F32x4& b, float sum) {
    return fused(a.w, b.w, fused(a.z, b.z, fused(a.y, b.y, fused(a.x, b.x, sum))));
}

// streams [tokens, LENGTH], fn [K_OUTPUTS, LENGTH] -> partial [tokens, K_SPLITS, K_OUTPUTS + 1]: the dot products, then
// the sum of squares. Grid (tokens / 8, K_SPLITS); a wave owns OUTPUTS_A_WAVE outputs for all 8 tokens.
KERNEL(256) residual_project(const float* streams, const float* fn, float* partial, u32 tokens) {
    SHARED float tile[TOKENS][PIECE] __attribute__((aligned(16)));
    const u32 first = group_x() * TOKENS, split = group_y();
    for (u32 i = thread_index(); i < TOKENS * PIECE / 4; i += THREADS) {
        const u32 token = i / (PIECE / 4), at = i % (PIECE / 4);
        F32x4 value = {0.0f, 0.0f, 0.0f, 0.0f};
        if (first + token < tokens)
            value = ((const F32x4*)(streams + (u64)(first + token) * LENGTH + split * PIECE))[at];
        ((F32x4*)tile[token])[at] = value;
    }
    barrier();

    float sums[OUTPUTS_A_WAVE][TOKENS];
#pragma unroll
    for (u32 o = 0; o < OUTPUTS_A_WAVE; ++o)
#pragma unroll
        for (u32 t = 0; t < TOKENS; ++t) sums[o][t] = 0.0f;
    float squares = 0.0f;
    for (u32 at = lane(); at < PIECE / 4; at += WAVE) {
        F32x4 weight[OUTPUTS_A_WAVE];
#pragma unroll
        for (u32 o = 0; o < OUTPUTS_A_WAVE; ++o) {
            const u32 output = smaller(wave() * OUTPUTS_A_WAVE + o, K_OUTPUTS - 1);
            weight[o] = ((const F32x4*)(fn + (u64)output * LENGTH + split * PIECE))[at];
        }
#pragma unroll
        for (u32 t = 0; t < TOKENS; ++t) {
            const F32x4 value = ((const F32x4*)tile[t])[at];
#pragma unroll
            for (u32 o = 0; o < OUTPUTS_A_WAVE; ++o) sums[o][t] = dot(weight[o], value, sums[o][t]);
        }
        const F32x4 own = ((const F32x4*)tile[wave()])[at];
        squares = dot(own, own, squares);
    }

    squares = wave_sum(squares);
    const u64 row = K_OUTPUTS + 1, stride = K_SPLITS * row;
    if (lane() == 0 && first + wave() < tokens)
        partial[(first + wave()) * stride + split * row + K_OUTPUTS] = squares;
#pragma unroll
    for (u32 o = 0; o < OUTPUTS_A_WAVE; ++o) {
        const float sum = wave_sums(sums[o]);
        const u32 output = wave() * OUTPUTS_A_WAVE + o, token = first + lane();
        if (lane() < TOKENS && output < K_OUTPUTS && token < tokens)
            partial[token * stride + split * row + output] = sum;
    }
}
EXPORT_KERNEL(residual_project)
