// Hyper-connections: four residual streams per token, mixed down to a sublayer's input and expanded again after it.
//
// The formulas are those of the specification's section 2. A tile is up to sixteen tokens, one per lane where numbers
// are per token (mixing logits, Sinkhorn); dot products run over channels in lanes. Each token's sums have one order,
// whatever the tile, so decode (a tile of one) and prefill give the same bits.
#pragma once

#include "convert.h"
#include "elementary.h"
#include "pool.h"

namespace haloband {

constexpr int64_t kStreams = 4;
constexpr int64_t kMixOutputs = kStreams * (2 + kStreams);  // pre, post and the 4 x 4 matrix

// One mixer's weights and constants. fn [outputs, 4 * width], base [outputs]; outputs is 24, or 4 for the final
// collapse, whose `scale` is one number instead of three.
struct Mixer {
  const float* fn;
  const float* scale;
  const float* base;
  double rms_eps, hc_eps;
  int64_t iterations;  // of Sinkhorn; 20 means softmax, one column pass, and 19 (row, column) pairs
};

// Mixing numbers of a tile, token in lane.
struct MixTile {
  float pre[kStreams][kLanes];
  float post[kStreams][kLanes];
  float comb[kStreams * kStreams][kLanes];  // (j, k) at 4j + k: S'[k] = post[k] y + sum_j comb[j, k] S[j]
};

// Weights of `tokens` <= 16 tokens; streams [tokens, 4, width].
void mixing_weights(const float* streams, int64_t tokens, int64_t width, const Mixer& mixer, MixTile& tile);

// The same for the final collapse: fills tile.pre only.
void head_weights(const float* streams, int64_t tokens, int64_t width, const Mixer& mixer, MixTile& tile);

// x = sum_j pre[j] S[j] of one token (lane `lane` of the tile) into x[width], which is float32 scratch. Then, unless
// norm is null: x / sqrt(mean(x^2) + eps) * norm.
void collapse_token(const float* streams, int64_t width, const MixTile& tile, int64_t lane, const float* norm,
                    double eps, float* x);

// In place for one token: S'[k] = post[k] y + sum_j comb[4j + k] S[j], y[width] in `format` (float32 or bfloat16).
void expand_token(float* streams, int64_t width, const void* y, int64_t format, const float* post, const float* comb);

}  // namespace haloband

// All tensors contiguous; mirrored in kernels/cpu/arguments.py.
struct HbMix {
  float* streams;          // [tokens, 4, width]; changed only when y is given
  const void* y;           // [tokens, width]: first expand with it, y_post and y_comb; null to mix as it stands
  int64_t y_format;        // kF32 or kBF16
  const float* y_post;     // [tokens, 4]
  const float* y_comb;     // [tokens, 4, 4]
  const float* fn;         // [24, 4 * width], or null to expand only
  const float* scale;      // [3]
  const float* base;       // [24]
  const float* norm;       // [width]
  void* x;                 // [tokens, width]
  int64_t x_format;        // kF32 or kBF16
  float* post;             // [tokens, 4]; may be y_post
  float* comb;             // [tokens, 4, 4]; may be y_comb
  int64_t tokens, width, iterations;
  double rms_eps, hc_eps;
};

// The final collapse: fn [4, 4 * width], scale [1], base [4]; normed if norm is not null.
struct HbHead {
  const float* streams;  // [tokens, 4, width]
  const float* fn;
  const float* scale;
  const float* base;
  const float* norm;
  void* x;  // [tokens, width]
  int64_t x_format, tokens, width;
  double rms_eps, hc_eps;
};

// Both return 0, or 1 if scratch memory could not be had.
HB_EXPORT int64_t hb_mix(void* pool, const HbMix* arguments);
HB_EXPORT int64_t hb_head(void* pool, const HbHead* arguments);
HB_EXPORT int64_t hb_sizeof_mix(void);
HB_EXPORT int64_t hb_sizeof_head(void);
