// Manifold-constrained hyper-connections of one token: four residual streams, mixed before and after every sublayer.
//
// Formulas: ds4-architecture section 2. The mixing matrix is applied over its first index, S'[k] = post[k] y + sum over
// j of A[j][k] S[j]. The 24 dot products are shared among workers; what follows is so short that each repeats it.
#pragma once

#include "decode_program.h"
#include "elementary.h"

namespace haloband::decode {

struct Mixing {
  float pre[kStreams], post[kStreams];
  float matrix[kStreams][kStreams];  // [j][k]
};

// 1 / sqrt(mean(x^2) + eps)
inline float inverse_rms(const float* x, int64_t count, double eps) {
  F32x16 sum[4] = {zero(), zero(), zero(), zero()};
  for (int64_t i = 0, part = 0; i < count; i += kLanes, part = (part + 1) % 4) {
    sum[part] = fma(load(x + i), load(x + i), sum[part]);
  }
  const float total = sum_lanes((sum[0] + sum[1]) + (sum[2] + sum[3]));
  return 1.0f / std::sqrt(total / static_cast<float>(count) + static_cast<float>(eps));
}

// out = x * inverse_rms * weight; out may be x. A null weight is one.
inline void normalise(const float* x, const float* weight, int64_t count, double eps, float* out) {
  const F32x16 inverse = splat(inverse_rms(x, count, eps));
  for (int64_t i = 0; i < count; i += kLanes) {
    const F32x16 scaled = load(x + i) * inverse;
    store(out + i, weight ? scaled * load(weight + i) : scaled);
  }
}

inline Four sum_of_columns(const Four (&a)[kStreams]) { return (a[0] + a[1]) + (a[2] + a[3]); }

inline Four sum_of_row(Four a) {  // in every lane
  a += __builtin_shufflevector(a, a, 1, 0, 3, 2);
  return a + __builtin_shufflevector(a, a, 2, 3, 0, 1);
}

// One column pass, then iterations - 1 pairs of a row and a column pass.
inline void sinkhorn(Four (&a)[kStreams], int64_t iterations, float eps) {
  for (int64_t pass = 0; pass < iterations; ++pass) {
    if (pass) {
      HB_UNROLL for (int j = 0; j < kStreams; ++j) a[j] /= sum_of_row(a[j]) + eps;
    }
    const Four columns = sum_of_columns(a) + eps;
    HB_UNROLL for (int j = 0; j < kStreams; ++j) a[j] /= columns;
  }
}

// pre, post and the matrix from the 24 dot products `m` of the streams, which are scaled by `inverse` first.
inline Mixing finish_mixing(const float* m, const Mixer& mixer, float inverse, const HbModel& size) {
  const float eps = static_cast<float>(size.mixer_eps);
  float gate[kLanes] = {}, logit[kLanes], top[kStreams];
  for (int i = 0; i < 2 * kStreams; ++i) gate[i] = mixer.scale[i / kStreams] * (m[i] * inverse) + mixer.base[i];
  store(gate, sigmoid(load(gate)));
  Mixing out;
  for (int i = 0; i < kStreams; ++i) {
    out.pre[i] = gate[i] + eps;
    out.post[i] = 2.0f * gate[kStreams + i];
  }
  for (int i = 0; i < kLanes; ++i) {
    logit[i] = mixer.scale[2] * (m[2 * kStreams + i] * inverse) + mixer.base[2 * kStreams + i];
  }
  for (int j = 0; j < kStreams; ++j) {
    const float* row = logit + j * kStreams;
    top[j] = std::max(std::max(row[0], row[1]), std::max(row[2], row[3]));
  }
  for (int i = 0; i < kLanes; ++i) logit[i] -= top[i / kStreams];
  store(logit, exp(load(logit)));
  Four a[kStreams];
  std::memcpy(a, logit, sizeof a);
  HB_UNROLL for (int j = 0; j < kStreams; ++j) a[j] = a[j] / sum_of_row(a[j]) + eps;
  sinkhorn(a, size.sinkhorn_iterations, eps);
  std::memcpy(out.matrix, a, sizeof a);
  return out;
}

// x[hidden] = sum over j of weight[j] * S[j]
inline void collapse(const float* streams, const float (&weight)[kStreams], int64_t hidden, float* x) {
  for (int64_t i = 0; i < hidden; i += kLanes) {
    F32x16 sum = load(streams + i) * splat(weight[0]);
    HB_UNROLL for (int j = 1; j < kStreams; ++j) sum = fma(load(streams + j * hidden + i), splat(weight[j]), sum);
    store(x + i, sum);
  }
}

// Channels [first, last) of all streams, in place; y holds these channels only.
inline void expand(float* streams, const Mixing& mixing, const float* y, int64_t hidden, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; i += kLanes) {
    F32x16 stream[kStreams];
    HB_UNROLL for (int j = 0; j < kStreams; ++j) stream[j] = load(streams + j * hidden + i);
    const F32x16 added = load(y + (i - first));
    HB_UNROLL for (int k = 0; k < kStreams; ++k) {
      F32x16 sum = stream[0] * splat(mixing.matrix[0][k]);
      HB_UNROLL for (int j = 1; j < kStreams; ++j) sum = fma(stream[j], splat(mixing.matrix[j][k]), sum);
      store(streams + k * hidden + i, fma(added, splat(mixing.post[k]), sum));
    }
  }
}

}  // namespace haloband::decode
