#include "attention.h"

namespace haloband {
namespace {

// Sixteen channels of `count` heads, heads[h * width + channel]; absent heads are zero.
template <typename T>
HB_INLINE void load_heads(const T* channel, int64_t count, int64_t width, F32x16 (&block)[kLanes]) {
  if (count == kLanes) {
    HB_UNROLL for (int h = 0; h < kLanes; ++h) block[h] = load(channel + h * width);
  } else {
    for (int h = 0; h < kLanes; ++h) block[h] = h < count ? load(channel + h * width) : zero();
  }
}
template <typename T>
HB_INLINE void store_heads(T* channel, int64_t count, int64_t width, const F32x16 (&block)[kLanes]) {
  if (count == kLanes) {
    HB_UNROLL for (int h = 0; h < kLanes; ++h) store(channel + h * width, block[h]);
  } else {
    for (int h = 0; h < count; ++h) store(channel + h * width, block[h]);
  }
}

// The heads of a query, transposed into q16[width][16]; returns each head's sum of squares.
template <typename T>
F32x16 transpose_query(const T* heads, int64_t count, int64_t width, float* q16) {
  F32x16 square[4] = {zero(), zero(), zero(), zero()};
  for (int64_t c = 0; c < width; c += kLanes) {
    F32x16 block[kLanes];
    load_heads(heads + c, count, width, block);
    transpose(block);
    HB_UNROLL for (int i = 0; i < kLanes; ++i) {
      store(q16 + (c + i) * kLanes, block[i]);
      square[i % 4] = fma(block[i], block[i], square[i % 4]);
    }
  }
  return (square[0] + square[1]) + (square[2] + square[3]);
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

struct Pair {
  F32x16 a, b;
};

// Channels (2i, 2i + 1) of the rotated tail by the angle whose cosine and sine are given.
HB_INLINE Pair rotate(F32x16 a, F32x16 b, F32x16 cosine, F32x16 sine) {
  return {a * cosine - b * sine, a * sine + b * cosine};
}

}  // namespace

void prepare_query(const void* q_row, int64_t format, int64_t heads, int64_t first_head, int64_t width, int64_t pairs,
                   const float* cosine, const float* sine, double eps, float* q16) {
  const int64_t count = heads - first_head < kLanes ? heads - first_head : kLanes;
  F32x16 total = zero();
  if (format == kBF16) {
    total = transpose_query(static_cast<const BF16*>(q_row) + first_head * width, count, width, q16);
  } else {
    total = transpose_query(static_cast<const float*>(q_row) + first_head * width, count, width, q16);
  }
  const F32x16 mean = total * splat(1.0f / static_cast<float>(width));
  const F32x16 inverse = splat(1.0f) / square_root(mean + splat(static_cast<float>(eps)));
  const F32x16 scale = splat(1.0f / __builtin_sqrtf(static_cast<float>(width)));
  const int64_t tail = width - 2 * pairs;
  for (int64_t c = 0; c < tail; ++c) store(q16 + c * kLanes, load(q16 + c * kLanes) * inverse * scale);
  for (int64_t i = 0; i < pairs; ++i) {
    float* at = q16 + (tail + 2 * i) * kLanes;
    const Pair turned = rotate(load(at) * inverse, load(at + kLanes) * inverse, splat(cosine[i]), splat(sine[i]));
    store(at, turned.a * scale);
    store(at + kLanes, turned.b * scale);
  }
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

void finish_output(const float* out16, F32x16 scale, int64_t heads, int64_t first_head, int64_t width, int64_t pairs,
                   const float* cosine, const float* sine, void* out_row, int64_t format) {
  const int64_t count = heads - first_head < kLanes ? heads - first_head : kLanes;
  const int64_t tail = width - 2 * pairs;
  for (int64_t c = 0; c < width; c += kLanes) {
    F32x16 block[kLanes];
    HB_UNROLL for (int i = 0; i < kLanes; ++i) block[i] = load(out16 + (c + i) * kLanes) * scale;
    HB_UNROLL for (int i = 0; i < kLanes; i += 2) {
      if (c + i < tail) continue;
      const int64_t pair = (c + i - tail) / 2;
      const Pair turned = rotate(block[i], block[i + 1], splat(cosine[pair]), splat(-sine[pair]));
      block[i] = turned.a;
      block[i + 1] = turned.b;
    }
    transpose(block);
    const int64_t at = first_head * width + c;
    if (format == kBF16) {
      store_heads(static_cast<BF16*>(out_row) + at, count, width, block);
    } else {
      store_heads(static_cast<float*>(out_row) + at, count, width, block);
    }
  }
}

F32x16 load_sinks(const float* sinks, int64_t heads, int64_t first_head) {
  float lane[kLanes] = {};
  for (int64_t h = 0; h < kLanes && first_head + h < heads; ++h) lane[h] = sinks[first_head + h];
  return load(lane);
}

}  // namespace haloband
