// The window compressor of one token: keep its projections, and when it ends a window pool them into one row.
//
// Rolling state, float32: ratio 4 has eight rows of both lanes, the last complete window and the current one; larger
// ratios have one row a slot. Formulas: ds4-architecture 3.5, banded-prefill 2.2 and 3.5.
#pragma once

#include "decode_mixer.h"
#include "decode_rows.h"

namespace haloband::decode {

struct RollingState {
  float *values, *scores;
};

// The projections of the token at `position`: values and scores of all lanes; the position bias is added here.
inline void keep_token(const Compressor& c, const RollingState& state, int64_t position, const float* values,
                       const float* scores) {
  const int64_t slot = position % c.ratio, lanes = c.lanes();
  const int64_t at = (c.overlaps() ? c.ratio + slot : slot) * lanes;
  for (int64_t i = 0; i < lanes; i += kLanes) {
    store(state.values + at + i, load(values + i));
    store(state.scores + at + i, load(scores + i) + load(c.position_bias + slot * lanes + i));
  }
}

// Sixteen channels of the softmax-weighted mean over the entries of a closed window, entry by entry.
inline F32x16 pool_channels(const Compressor& c, const RollingState& state, int64_t channel) {
  const int64_t entries = c.overlaps() ? 2 * c.ratio : c.ratio, lanes = c.lanes();
  // The first lane of the previous window, then the second lane of the current one.
  const auto at = [&](int64_t e) { return e * lanes + (c.overlaps() && e >= c.ratio ? c.width : 0) + channel; };
  F32x16 top = load(state.scores + at(0));
  for (int64_t e = 1; e < entries; ++e) top = larger(top, load(state.scores + at(e)));
  F32x16 sum = zero(), mean = zero();
  for (int64_t e = 0; e < entries; ++e) {
    const F32x16 weight = exp(load(state.scores + at(e)) - top);
    sum = sum + weight;
    mean = fma(weight, load(state.values + at(e)), mean);
  }
  return mean / sum;
}

// The row of the window that ends at the newest token, normed and rotated to its first token.
inline void close_window(const Compressor& c, const RollingState& state, const Rotation& rotation, double eps,
                         float* row) {
  for (int64_t i = 0; i < c.width; i += kLanes) store(row + i, pool_channels(c, state, i));
  normalise(row, c.norm, c.width, eps, row);
  rotate_tail(row, c.width, rotation);
  if (!c.overlaps()) return;
  const size_t half = sizeof(float) * c.ratio * c.lanes();
  std::memcpy(state.values, state.values + c.ratio * c.lanes(), half);
  std::memcpy(state.scores, state.scores + c.ratio * c.lanes(), half);
}

}  // namespace haloband::decode
