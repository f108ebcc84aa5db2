// Residual mixing, second half, one token a workgroup: the mixing weights with all Sinkhorn passes inside one wave, then
// the weighted sum of the streams and its RMS norm. For the final collapse (K_OUTPUTS 4) there is no way back to mix.
//
//   K_STREAMS, K_HIDDEN, K_OUTPUTS, K_SPLITS   as in residual_project
//   K_ITERATIONS                               Sinkhorn iterations, 20: a softmax and a column pass, then 19 pairs
#include "portable.h"

using namespace hb;

constexpr u32 THREADS = 256;
constexpr u32 VALUES = (K_HIDDEN + THREADS - 1) / THREADS;  // channels a thread carries
static_assert(K_STREAMS == 4, "the Sinkhorn passes hold a 4 x 4 matrix in 16 lanes");

// Lane 4 j + k of each half wave holds element (j, k): sums over k cross lanes 1 and 2, sums over j lanes 4 and 8.
DEVICE float sum_over_columns(float a) {
    a += lane_xor<1>(a);
    return a + lane_xor<2>(a);
}
DEVICE float sum_over_rows(float a) {
    a += lane_xor<4>(a);
    return a + lane_xor<8>(a);
}
DEVICE float sinkhorn(float logit, float epsilon) {
    float top = larger(logit, lane_xor<1>(logit));
    top = larger(top, lane_xor<2>(top));
    float a = exponential(logit - top);
    a = a / sum_over_columns(a) + epsilon;
    a = a / (sum_over_rows(a) + epsilon);
    for (u32 i = 1; i < K_ITERATIONS; ++i) {
        a = a / (sum_over_columns(a) + epsilon);
        a = a / (sum_over_rows(a) + epsilon);
    }
    pin(a);
    return a;
}

// partial [tokens, K_SPLITS, K_OUTPUTS + 1] and streams [tokens, 4, K_HIDDEN] -> x [tokens, K_HIDDEN] normed and weighted,
// post [tokens, 4], comb [tokens, 4, 4]. scale holds one number a group of outputs. Grid (tokens).
KERNEL(256) residual_finish(const float* partial, const float* streams, const float* scale, const float* base,
                            const float* norm, float* x, float* post, float* comb, float rms_epsilon,
                            float mix_epsilon) {
    SHARED float weights[K_STREAMS];
    SHARED float scratch[THREADS / WAVE];
    const u64 token = group_x();
    if (wave() == 0) {
        float sum = 0.0f;
        const u32 mine = smaller(lane(), K_OUTPUTS);
        for (u32 s = 0; s < K_SPLITS; ++s) sum += partial[(token * K_SPLITS + s) * (K_OUTPUTS + 1) + mine];
        const float squares = lane_read(sum, K_OUTPUTS);
        const float m = sum / square_root(squares * (1.0f / (K_STREAMS * K_HIDDEN)) + rms_epsilon);
        const u32 output = smaller(lane(), K_OUTPUTS - 1);
        const float logit = scale[smaller(output / 4, 2)] * m + base[output];
        if (lane() < 4) weights[lane()] = sigmoid(logit) + mix_epsilon;
        if constexpr (K_OUTPUTS == 24) {
            if (lane() >= 4 && lane() < 8) post[token * 4 + lane() - 4] = 2.0f * sigmoid(logit);
            const float a = sinkhorn(lane_read(logit, 8 + lane() % 16), mix_epsilon);
            if (lane() < 16) comb[token * 16 + lane()] = a;
        }
    }
    barrier();

    const float* stream = streams + token * (K_STREAMS * K_HIDDEN);
    float value[VALUES], squares = 0.0f;
#pragma unroll
    for (u32 i = 0; i < VALUES; ++i) {
        const u32 at = i * THREADS + thread_index();
        value[i] = 0.0f;
        if (at >= K_HIDDEN) continue;
#pragma unroll
        for (u32 j = 0; j < K_STREAMS; ++j) value[i] = fused(weights[j], stream[j * K_HIDDEN + at], value[i]);
        squares = fused(value[i], value[i], squares);
    }
    squares = group_sum<THREADS>(squares, scratch);
    const float share = 1.0f / square_root(squares * (1.0f / K_HIDDEN) + rms_epsilon);
#pragma unroll
    for (u32 i = 0; i < VALUES; ++i) {
        const u32 at = i * THREADS + thread_index();
        if (at < K_HIDDEN) x[token * K_HIDDEN + at] = value[i] * share * norm[at];
    }
}
EXPORT_KERNEL(residual_finish)
