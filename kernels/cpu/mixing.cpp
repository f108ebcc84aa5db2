#include "mixing.h"

#include <algorithm>
#include <memory>
#include <new>

namespace haloband {
namespace {

#if defined(__AVX512F__)
constexpr int kDotTokens = 4, kDotOutputs = 6;
#else
constexpr int kDotTokens = 2, kDotOutputs = 2;
#endif

// dots[(first + o)][token] for a block of tokens and outputs: one chain of multiply-adds each, lane = channel mod 16.
template <int Tokens, int Outputs>
HB_INLINE void dot_block(const float* vectors, const float* fn, int64_t length, float (*dots)[kLanes]) {
  F32x16 sum[Tokens][Outputs];
  HB_UNROLL for (int t = 0; t < Tokens; ++t) HB_UNROLL for (int o = 0; o < Outputs; ++o) sum[t][o] = zero();
  for (int64_t c = 0; c < length; c += kLanes) {
    F32x16 v[Tokens];
    HB_UNROLL for (int t = 0; t < Tokens; ++t) v[t] = load(vectors + t * length + c);
    HB_UNROLL for (int o = 0; o < Outputs; ++o) {
      const F32x16 w = load(fn + o * length + c);
      HB_UNROLL for (int t = 0; t < Tokens; ++t) sum[t][o] = fma(v[t], w, sum[t][o]);
    }
  }
  HB_UNROLL for (int t = 0; t < Tokens; ++t) {
    HB_UNROLL for (int o = 0; o < Outputs; ++o) dots[o][t] = sum_lanes(sum[t][o]);
  }
}

template <int Tokens>
void dot_tokens(const float* vectors, const float* fn, int64_t length, int64_t outputs, float (*dots)[kLanes]) {
  int64_t o = 0;
  for (; o + kDotOutputs <= outputs; o += kDotOutputs) {
    dot_block<Tokens, kDotOutputs>(vectors, fn + o * length, length, dots + o);
  }
  for (; o + 2 <= outputs; o += 2) dot_block<Tokens, 2>(vectors, fn + o * length, length, dots + o);
  for (; o < outputs; ++o) dot_block<Tokens, 1>(vectors, fn + o * length, length, dots + o);
}

float mean_square(const float* vector, int64_t length) {
  F32x16 sum = zero();
  for (int64_t c = 0; c < length; c += kLanes) {
    const F32x16 v = load(vector + c);
    sum = fma(v, v, sum);
  }
  return sum_lanes(sum) / static_cast<float>(length);
}

float inverse_rms(const float* vector, int64_t length, double eps) {
  return 1.0f / __builtin_sqrtf(mean_square(vector, length) + static_cast<float>(eps));
}

// m = (fn . v) / rms(v) for each token of a tile, token in lane; lanes past the last token are zero.
void mixing_logits(const float* streams, int64_t tokens, int64_t width, const Mixer& mixer, int64_t outputs,
                   float (*m)[kLanes]) {
  const int64_t length = kStreams * width;
  std::fill(&m[0][0], &m[0][0] + outputs * kLanes, 0.0f);
  float inverse[kLanes] = {};
  for (int64_t t = 0; t < tokens; ++t) inverse[t] = inverse_rms(streams + t * length, length, mixer.rms_eps);
  int64_t t = 0;
  for (; t + kDotTokens <= tokens; t += kDotTokens) {
    dot_tokens<kDotTokens>(streams + t * length, mixer.fn, length, outputs, reinterpret_cast<float(*)[kLanes]>(&m[0][t]));
  }
  for (; t < tokens; ++t) {
    dot_tokens<1>(streams + t * length, mixer.fn, length, outputs, reinterpret_cast<float(*)[kLanes]>(&m[0][t]));
  }
  const F32x16 scale = load(inverse);
  for (int64_t o = 0; o < outputs; ++o) store(m[o], load(m[o]) * scale);
}

using Matrix = F32x16[kStreams][kStreams];

HB_INLINE void normalise_rows(Matrix& a, F32x16 eps) {
  HB_UNROLL for (int j = 0; j < kStreams; ++j) {
    const F32x16 inverse = splat(1.0f) / (((a[j][0] + a[j][1]) + a[j][2]) + a[j][3] + eps);
    HB_UNROLL for (int k = 0; k < kStreams; ++k) a[j][k] = a[j][k] * inverse;
  }
}
HB_INLINE void normalise_columns(Matrix& a, F32x16 eps) {
  HB_UNROLL for (int k = 0; k < kStreams; ++k) {
    const F32x16 inverse = splat(1.0f) / (((a[0][k] + a[1][k]) + a[2][k]) + a[3][k] + eps);
    HB_UNROLL for (int j = 0; j < kStreams; ++j) a[j][k] = a[j][k] * inverse;
  }
}

// Softmax over k, plus eps, then the alternating normalisations: sixteen tokens at once.
void sinkhorn(Matrix& a, F32x16 eps, int64_t iterations) {
  HB_UNROLL for (int j = 0; j < kStreams; ++j) {
    const F32x16 top = larger(larger(a[j][0], a[j][1]), larger(a[j][2], a[j][3]));
    HB_UNROLL for (int k = 0; k < kStreams; ++k) a[j][k] = exp(a[j][k] - top);
  }
  normalise_rows(a, zero());
  HB_UNROLL for (int j = 0; j < kStreams; ++j) HB_UNROLL for (int k = 0; k < kStreams; ++k) a[j][k] = a[j][k] + eps;
  normalise_columns(a, eps);
  for (int64_t i = 1; i < iterations; ++i) {
    normalise_rows(a, eps);
    normalise_columns(a, eps);
  }
}

HB_INLINE F32x16 affine(const float* m, float scale, float base) { return splat(scale) * load(m) + splat(base); }

}  // namespace

void mixing_weights(const float* streams, int64_t tokens, int64_t width, const Mixer& mixer, MixTile& tile) {
  float m[kMixOutputs][kLanes];
  mixing_logits(streams, tokens, width, mixer, kMixOutputs, m);
  const F32x16 eps = splat(static_cast<float>(mixer.hc_eps));
  for (int j = 0; j < kStreams; ++j) {
    store(tile.pre[j], sigmoid(affine(m[j], mixer.scale[0], mixer.base[j])) + eps);
    store(tile.post[j], splat(2.0f) * sigmoid(affine(m[4 + j], mixer.scale[1], mixer.base[4 + j])));
  }
  Matrix a;
  for (int j = 0; j < kStreams; ++j) {
    for (int k = 0; k < kStreams; ++k) {
      const int o = 8 + 4 * j + k;
      a[j][k] = affine(m[o], mixer.scale[2], mixer.base[o]);
    }
  }
  sinkhorn(a, eps, mixer.iterations);
  for (int j = 0; j < kStreams; ++j) {
    for (int k = 0; k < kStreams; ++k) store(tile.comb[4 * j + k], a[j][k]);
  }
}

void head_weights(const float* streams, int64_t tokens, int64_t width, const Mixer& mixer, MixTile& tile) {
  float m[kStreams][kLanes];
  mixing_logits(streams, tokens, width, mixer, kStreams, m);
  const F32x16 eps = splat(static_cast<float>(mixer.hc_eps));
  for (int j = 0; j < kStreams; ++j) {
    store(tile.pre[j], sigmoid(affine(m[j], mixer.scale[0], mixer.base[j])) + eps);
  }
}

void collapse_token(const float* streams, int64_t width, const MixTile& tile, int64_t lane, const float* norm,
                    double eps, float* x) {
  F32x16 pre[kStreams];
  HB_UNROLL for (int j = 0; j < kStreams; ++j) pre[j] = splat(tile.pre[j][lane]);
  for (int64_t c = 0; c < width; c += kLanes) {
    F32x16 sum = pre[0] * load(streams + c);
    HB_UNROLL for (int j = 1; j < kStreams; ++j) sum = fma(pre[j], load(streams + j * width + c), sum);
    store(x + c, sum);
  }
  if (!norm) return;
  const F32x16 scale = splat(inverse_rms(x, width, eps));
  for (int64_t c = 0; c < width; c += kLanes) store(x + c, load(x + c) * scale * load(norm + c));
}

void expand_token(float* streams, int64_t width, const void* y, int64_t format, const float* post, const float* comb) {
  for (int64_t c = 0; c < width; c += kLanes) {
    const F32x16 added = load_as(y, format, c);
    F32x16 s[kStreams];
    HB_UNROLL for (int j = 0; j < kStreams; ++j) s[j] = load(streams + j * width + c);
    HB_UNROLL for (int k = 0; k < kStreams; ++k) {
      F32x16 sum = splat(post[k]) * added;
      HB_UNROLL for (int j = 0; j < kStreams; ++j) sum = fma(splat(comb[4 * j + k]), s[j], sum);
      store(streams + k * width + c, sum);
    }
  }
}

}  // namespace haloband
