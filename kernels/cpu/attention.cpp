#include "attention.h"

namespace haloband {
namespace {

// The channels of head h that start at `channel`, of one query row.
HB_INLINE F32x16 load_head(const void* row, int64_t format, int64_t head, int64_t width, int64_t channel) {
  return load_as(row, format, head * width + channel);
}

// Scores of `Rows` neighbouring rows: one chain of multiply-adds a row, channels ascending.
template <int Rows>
HB_INLINE void score_block(const float* q16, const float* rows, int64_t width, float* scores) {
  F32x16 sum[Rows];
  HB_UNROLL for (int r = 0; r < Rows; ++r) sum[r] = zero();
  for (int64_t c = 0; c < width; ++c) {
    const F32x16 q = load(q16 + c * kLanes);
    HB_UNROLL for (int r = 0; r < Rows; ++r) sum[r] = fma(splat(rows[r * width + c]), q, sum[r]);
  }
  HB_UNROLL for (int r = 0; r < Rows; ++r) store(scores + r * kLanes, sum[r]);
}

// Values of `Channels` neighbouring channels: one chain of multiply-adds a channel, rows ascending.
template <int Channels>
HB_INLINE void weigh_block(const float* weights, const float* rows, int64_t count, int64_t width, bool add,
                           float* out) {
  F32x16 sum[Channels];
  HB_UNROLL for (int c = 0; c < Channels; ++c) sum[c] = add ? load(out + c * kLanes) : zero();
  for (int64_t r = 0; r < count; ++r) {
    const F32x16 weight = load(weights + r * kLanes);
    const float* row = rows + r * width;
    HB_UNROLL for (int c = 0; c < Channels; ++c) sum[c] = fma(splat(row[c]), weight, sum[c]);
  }
  HB_UNROLL for (int c = 0; c < Channels; ++c) store(out + c * kLanes, sum[c]);
}

// Rotates the pairs (2i, 2i+1) of the last 2 * pairs channels of x16[width][16]; sign is +1, or -1 to rotate back.
void rotate_tail(float* x16, int64_t width, int64_t pairs, const float* cosine, const float* sine, float sign) {
  float* tail = x16 + (width - 2 * pairs) * kLanes;
  for (int64_t i = 0; i < pairs; ++i, tail += 2 * kLanes) {
    const F32x16 a = load(tail), b = load(tail + kLanes);
    const F32x16 c = splat(cosine[i]), s = splat(sign * sine[i]);
    store(tail, a * c - b * s);
    store(tail + kLanes, a * s + b * c);
  }
}

}  // namespace

void prepare_query(const void* q_row, int64_t format, int64_t heads, int64_t first_head, int64_t width, int64_t pairs,
                   const float* cosine, const float* sine, double eps, float* q16) {
  const int64_t count = heads - first_head < kLanes ? heads - first_head : kLanes;
  F32x16 square[4] = {zero(), zero(), zero(), zero()};
  for (int64_t c = 0; c < width; c += kLanes) {
    F32x16 block[kLanes];
    for (int64_t h = 0; h < kLanes; ++h) {
      block[h] = h < count ? load_head(q_row, format, first_head + h, width, c) : zero();
    }
    transpose(block);
    HB_UNROLL for (int i = 0; i < kLanes; ++i) {
      store(q16 + (c + i) * kLanes, block[i]);
      square[i % 4] = fma(block[i], block[i], square[i % 4]);
    }
  }
  const F32x16 total = (square[0] + square[1]) + (square[2] + square[3]);
  const F32x16 mean = total * splat(1.0f / static_cast<float>(width));
  const F32x16 inverse = splat(1.0f) / square_root(mean + splat(static_cast<float>(eps)));
  for (int64_t c = 0; c < width; ++c) store(q16 + c * kLanes, load(q16 + c * kLanes) * inverse);
  rotate_tail(q16, width, pairs, cosine, sine, 1.0f);
  const F32x16 scale = splat(1.0f / __builtin_sqrtf(static_cast<float>(width)));
  for (int64_t c = 0; c < width; ++c) store(q16 + c * kLanes, load(q16 + c * kLanes) * scale);
}

void score_rows(const float* q16, const float* rows, int64_t count, int64_t width, float* scores) {
  int64_t r = 0;
  for (; r + kScoreRows <= count; r += kScoreRows) {
    score_block<kScoreRows>(q16, rows + r * width, width, scores + r * kLanes);
  }
  if (kScoreRows > 4 && r + 4 <= count) {
    score_block<4>(q16, rows + r * width, width, scores + r * kLanes);
    r += 4;
  }
  if (r + 2 <= count) {
    score_block<2>(q16, rows + r * width, width, scores + r * kLanes);
    r += 2;
  }
  if (r < count) score_block<1>(q16, rows + r * width, width, scores + r * kLanes);
}

F32x16 softmax_rows(float* scores, int64_t count, F32x16 sink) {
  F32x16 top = sink;
  for (int64_t r = 0; r < count; ++r) top = larger(top, load(scores + r * kLanes));
  F32x16 sum = zero();
  for (int64_t r = 0; r < count; ++r) {
    const F32x16 weight = exp(load(scores + r * kLanes) - top);
    store(scores + r * kLanes, weight);
    sum = sum + weight;
  }
  return splat(1.0f) / (sum + exp(sink - top));
}

void weigh_rows(const float* weights, const float* rows, int64_t count, int64_t width, int64_t first, int64_t last,
                bool add, float* out) {
  int64_t c = first;
  for (; c + kValueChannels <= last; c += kValueChannels) {
    weigh_block<kValueChannels>(weights, rows + c, count, width, add, out + c * kLanes);
  }
  for (; c + 4 <= last; c += 4) weigh_block<4>(weights, rows + c, count, width, add, out + c * kLanes);
  for (; c < last; ++c) weigh_block<1>(weights, rows + c, count, width, add, out + c * kLanes);
}

void finish_output(float* out16, F32x16 scale, int64_t heads, int64_t first_head, int64_t width, int64_t pairs,
                   const float* cosine, const float* sine, void* out_row, int64_t format) {
  const int64_t count = heads - first_head < kLanes ? heads - first_head : kLanes;
  for (int64_t c = 0; c < width; ++c) store(out16 + c * kLanes, load(out16 + c * kLanes) * scale);
  rotate_tail(out16, width, pairs, cosine, sine, -1.0f);
  for (int64_t c = 0; c < width; c += kLanes) {
    F32x16 block[kLanes];
    HB_UNROLL for (int i = 0; i < kLanes; ++i) block[i] = load(out16 + (c + i) * kLanes);
    transpose(block);
    for (int64_t h = 0; h < count; ++h) store_as(out_row, format, (first_head + h) * width + c, block[h]);
  }
}

F32x16 load_sinks(const float* sinks, int64_t heads, int64_t first_head) {
  float lane[kLanes] = {};
  for (int64_t h = 0; h < kLanes && first_head + h < heads; ++h) lane[h] = sinks[first_head + h];
  return load(lane);
}

}  // namespace haloband
