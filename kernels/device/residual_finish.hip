// Residual mixing, second half. For a token there are two results that need not wait for each other: the weighted sum of
// its streams with its RMS norm, by a workgroup of its own, and the weights of the way back with all Sinkhorn passes, by one
// wave; workgroups of both kinds lie side by side in the grid. The final collapse (K_OUTPUTS 4) has no way back.
//
//   K_STREAMS, K_HIDDEN, K_OUTPUTS, K_SPLITS   as in residual_project
//   K_ITERATIONS                               Sinkhorn iterations, 20: a softmax and a column pass, then 19 pairs
#include "overlap.h"
#include "residual_streams.h"

using namespace hb;

constexpr u32 THREADS = 256, QUADS = K_HIDDEN / 4;
constexpr u32 VALUES = (QUADS + THREADS - 1) / THREADS;  // groups of four channels that a thread carries
constexpr bool GOES_BACK = K_OUTPUTS == 24;
constexpr u32 BACK_TOKENS = THREADS / WAVE;  // tokens of a workgroup that makes ways back
constexpr u32 BUNDLE = BACK_TOKENS + 1;      // such a workgroup, then one for each of its tokens

// A 4 x 4 matrix in the registers of every lane: a pass is a few independent chains of three additions and a reciprocal,
// where spread over lanes each pass would wait for two exchanges.
struct Mixing {
    float a[K_STREAMS][K_STREAMS];  // [from j][to k]

    DEVICE_MEMBER void normalise_rows(float epsilon) {
#pragma unroll
        for (u32 j = 0; j < K_STREAMS; ++j) {
            const float factor = reciprocal((a[j][0] + a[j][1]) + (a[j][2] + a[j][3]) + epsilon);
#pragma unroll
            for (u32 k = 0; k < K_STREAMS; ++k) a[j][k] *= factor;
        }
    }
    DEVICE_MEMBER void normalise_columns(float epsilon) {
#pragma unroll
        for (u32 k = 0; k < K_STREAMS; ++k) {
            const float factor = reciprocal((a[0][k] + a[1][k]) + (a[2][k] + a[3][k]) + epsilon);
#pragma unroll
            for (u32 j = 0; j < K_STREAMS; ++j) a[j][k] *= factor;
        }
    }
    DEVICE_MEMBER void exponentiate_rows() {
#pragma unroll
        for (u32 j = 0; j < K_STREAMS; ++j) {
            const float top = larger(larger(a[j][0], a[j][1]), larger(a[j][2], a[j][3]));
#pragma unroll
            for (u32 k = 0; k < K_STREAMS; ++k) a[j][k] = exponential(a[j][k] - top);
        }
    }
    DEVICE_MEMBER void sinkhorn(float epsilon) {
        exponentiate_rows();
        normalise_rows(0.0f);
#pragma unroll
        for (u32 j = 0; j < K_STREAMS; ++j)
#pragma unroll
            for (u32 k = 0; k < K_STREAMS; ++k) a[j][k] += epsilon;
        normalise_columns(epsilon);
        for (u32 i = 1; i < K_ITERATIONS; ++i) {
            normalise_rows(epsilon);
            normalise_columns(epsilon);
        }
    }
};

// Lane o is left with mixing logit o of a token (the last one again in the lanes beyond). scale holds one number for
// pre, post and comb each, or the only one of the collapse.
DEVICE float mixing_logit(const float* partial, const float* scale, const float* base, u64 token, float epsilon) {
    const float* pieces = partial + token * (K_SPLITS * (K_OUTPUTS + 1)) + smaller(lane(), K_OUTPUTS);
    float piece[K_SPLITS], sum = 0.0f;
#pragma unroll
    for (u32 s = 0; s < K_SPLITS; ++s) piece[s] = pieces[s * (K_OUTPUTS + 1)];
    const u32 output = smaller(lane(), K_OUTPUTS - 1);
    const float factor = scale[GOES_BACK ? smaller(output / 4, 2) : 0], shift = base[output];
#pragma unroll
    for (u32 s = 0; s < K_SPLITS; ++s) sum += piece[s];
    const float squares = lane_read(sum, K_OUTPUTS);
    return factor * (sum / square_root(squares * (1.0f / (K_STREAMS * K_HIDDEN)) + epsilon)) + shift;
}

// One token's way back by one wave: post [4] and comb [4, 4].
DEVICE void make_way_back(float logit, float* post, float* comb, float epsilon) {
    if (lane() >= 4 && lane() < 8) post[lane() - 4] = 2.0f * sigmoid(logit);
    Mixing mixing;
#pragma unroll
    for (u32 j = 0; j < K_STREAMS; ++j)
#pragma unroll
        for (u32 k = 0; k < K_STREAMS; ++k) mixing.a[j][k] = lane_read(logit, (8 + j * K_STREAMS + k) % K_OUTPUTS);
    mixing.sinkhorn(epsilon);
    if (lane() != 0) return;
#pragma unroll
    for (u32 j = 0; j < K_STREAMS; ++j)
        ((F32x4*)comb)[j] = {mixing.a[j][0], mixing.a[j][1], mixing.a[j][2], mixing.a[j][3]};
}

// partial [tokens, K_SPLITS, K_OUTPUTS + 1] and streams [tokens, 4, K_HIDDEN] -> x [tokens, K_HIDDEN] normed and weighted,
// post [tokens, 4], comb [tokens, 4, 4]. Grid (tokens + tokens / BACK_TOKENS), or (tokens) for the collapse.
KERNEL(THREADS) residual_finish(const float* partial, const float* streams, const float* scale, const float* base,
                                const float* norm, float* x, float* post, float* comb, u32 tokens, float rms_epsilon,
                                float mix_epsilon) {
    SHARED float weights[K_STREAMS];
    SHARED float scratch[THREADS / WAVE];
    allow_next();
    await_inputs();
    u64 token = group_x();
    if constexpr (GOES_BACK) {
        const u32 bundle = group_x() / BUNDLE, place = group_x() % BUNDLE;
        if (place == 0) {
            token = bundle * BACK_TOKENS + wave();
            if (token >= tokens) return;
            const float logit = mixing_logit(partial, scale, base, token, rms_epsilon);
            make_way_back(logit, post + token * 4, comb + token * 16, mix_epsilon);
            return;
        }
        token = bundle * BACK_TOKENS + place - 1;
    }

    F32x4 value[VALUES][K_STREAMS], weight[VALUES];
#pragma unroll
    for (u32 i = 0; i < VALUES; ++i) {
        const u32 quad = smaller(i * THREADS + thread_index(), QUADS - 1);
        weight[i] = ((const F32x4*)norm)[quad];
        load_streams(value[i], (const F32x4*)streams + token * K_HIDDEN + quad, QUADS);
    }
    if (wave() == 0) {
        const float share = sigmoid(mixing_logit(partial, scale, base, token, rms_epsilon)) + mix_epsilon;
        if (lane() < K_STREAMS) weights[lane()] = share;
    }
    barrier();

    F32x4 collapsed[VALUES];
    float squares = 0.0f;
#pragma unroll
    for (u32 i = 0; i < VALUES; ++i) {
        F32x4 sum = scaled(weights[0], value[i][0]);
#pragma unroll
        for (u32 j = 1; j < K_STREAMS; ++j) sum = added(weights[j], value[i][j], sum);
        collapsed[i] = sum;
        if (i * THREADS + thread_index() < QUADS)
            squares = fused(sum.w, sum.w, fused(sum.z, sum.z, fused(sum.y, sum.y, fused(sum.x, sum.x, squares))));
    }
    squares = group_sum<THREADS>(squares, scratch);
    const float share = 1.0f / square_root(squares * (1.0f / K_HIDDEN) + rms_epsilon);
#pragma unroll
    for (u32 i = 0; i < VALUES; ++i) {
        const u32 quad = i * THREADS + thread_index();
        if (quad >= QUADS) continue;
        const F32x4 y = scaled(share, collapsed[i]), w = weight[i];
        ((F32x4*)x)[token * QUADS + quad] = {y.x * w.x, y.y * w.y, y.z * w.z, y.w * w.w};
    }
}
EXPORT_KERNEL(residual_finish)
