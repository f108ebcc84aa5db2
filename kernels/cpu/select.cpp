#include "select.h"

#include <algorithm>
#include <climits>
#include <memory>
#include <new>
#include <vector>

namespace haloband {
namespace {

// relu(q . key) of `Heads` heads over a block of rows, added into the scores with the heads' weights, heads ascending.
template <int Heads>
HB_INLINE void add_heads(const float* q, const float* w, const float* keys, int64_t width,
                         F32x16 (&score)[kScoreVectors]) {
  F32x16 dot[Heads][kScoreVectors];
  HB_UNROLL for (int h = 0; h < Heads; ++h) HB_UNROLL for (int v = 0; v < kScoreVectors; ++v) dot[h][v] = zero();
  for (int64_t c = 0; c < width; ++c) {
    F32x16 key[kScoreVectors];
    HB_UNROLL for (int v = 0; v < kScoreVectors; ++v) key[v] = load(keys + c * kBlockRows + v * kLanes);
    HB_UNROLL for (int h = 0; h < Heads; ++h) {
      const F32x16 query = splat(q[h * width + c]);
      HB_UNROLL for (int v = 0; v < kScoreVectors; ++v) dot[h][v] = fma(query, key[v], dot[h][v]);
    }
  }
  HB_UNROLL for (int h = 0; h < Heads; ++h) {
    HB_UNROLL for (int v = 0; v < kScoreVectors; ++v) {
      score[v] = fma(splat(w[h]), at_least(zero(), dot[h][v]), score[v]);
    }
  }
}

// Order-preserving integers of scores: signed comparison of the keys is comparison of the floats, +0 and -0 are one
// value. NaN is below every number, and the padding of a list below NaN: it is never chosen.
constexpr int32_t kPadding = INT_MIN, kNan = INT_MIN + 1;

HB_INLINE I32x16 ordered(F32x16 score) {
  const I32x16 raw = bits(score + zero());
  const I32x16 key = raw ^ shift_right_logical(raw >> 31, 1);
  const I32x16 is_nan = greater(raw & splat(int32_t{0x7fffffff}), splat(int32_t{0x7f800000}));
  return choose(is_nan, splat(kNan), key);
}
float value_of(int32_t key) {
  const int32_t raw = key ^ static_cast<int32_t>(static_cast<uint32_t>(key >> 31) >> 1);
  float value;
  std::memcpy(&value, &raw, sizeof value);
  return value;
}
int32_t key_of(float value) {
  value += 0.0f;
  int32_t raw;
  std::memcpy(&raw, &value, sizeof raw);
  return raw ^ static_cast<int32_t>(static_cast<uint32_t>(raw >> 31) >> 1);
}

int64_t sum_integers(I32x16 a) {
  int32_t lane[kLanes];
  store(lane, a);
  int64_t sum = 0;
  for (int32_t x : lane) sum += x;
  return sum;
}

// How many keys are greater than `bound`; `padded` is a multiple of 16.
int64_t count_above(const int32_t* keys, int64_t padded, int32_t bound) {
  I32x16 seen = splat(int32_t{0});
  const I32x16 limit = splat(bound);
  for (int64_t i = 0; i < padded; i += kLanes) seen = seen - greater(load(keys + i), limit);
  return sum_integers(seen);
}

// A key strictly between low and high (which differ by two at least): every other time the middle of the values, which
// halves a smooth distribution quickly; else the middle of the keys, which bounds the number of steps at 64.
int32_t between(int32_t low, int32_t high, int step) {
  if (step % 2 == 0) {
    const float middle = 0.5f * value_of(low) + 0.5f * value_of(high);
    const int32_t key = key_of(middle);
    if (middle == middle && key > low && key < high) return key;
  }
  return static_cast<int32_t>((static_cast<int64_t>(low) + high) >> 1);
}

struct Threshold {
  int32_t key;    // rows above it are chosen
  int64_t equal;  // how many rows equal to it are chosen too, the lowest ids first
};

// Bisection by counting. Invariant: more than or exactly `top` keys lie above low, fewer than `top` above high.
Threshold find_threshold(const int32_t* keys, int64_t count, int64_t padded, int64_t top) {
  I32x16 smallest = splat(int32_t{INT_MAX}), largest = splat(int32_t{INT_MIN});
  for (int64_t i = 0; i < count; i += kLanes) {
    const I32x16 key = load(keys + i);
    largest = choose(greater(key, largest), key, largest);
    smallest = choose(greater(smallest, key), key, smallest);
  }
  int32_t lane[kLanes];
  store(lane, smallest);
  int32_t low = *std::min_element(lane, lane + kLanes);
  store(lane, largest);
  int32_t high = *std::max_element(lane, lane + kLanes);
  if (low > kPadding) --low;  // below every key, so that all keys lie above it
  for (int step = 0; static_cast<int64_t>(high) - low > 1; ++step) {
    const int32_t middle = between(low, high, step);
    const int64_t above = count_above(keys, padded, middle);
    if (above == top) return {middle, 0};
    (above > top ? low : high) = middle;
  }
  return {high, top - count_above(keys, padded, high)};
}

}  // namespace

void transpose_keys(const void* rows, int64_t format, int64_t first, int64_t count, int64_t width, float* out) {
  for (int v = 0; v < kScoreVectors; ++v) {
    const int64_t begin = first + v * kLanes;
    for (int64_t c = 0; c < width; c += kLanes) {
      F32x16 block[kLanes];
      for (int64_t r = 0; r < kLanes; ++r) {
        block[r] = begin + r < count ? load_as(rows, format, (begin + r) * width + c) : zero();
      }
      transpose(block);
      HB_UNROLL for (int i = 0; i < kLanes; ++i) store(out + (c + i) * kBlockRows + v * kLanes, block[i]);
    }
  }
}

void score_block(const float* q, const float* w, const float* keys, int64_t heads, int64_t width, float* scores) {
  F32x16 score[kScoreVectors];
  HB_UNROLL for (int v = 0; v < kScoreVectors; ++v) score[v] = zero();
  int64_t h = 0;
  for (; h + kScoreHeads <= heads; h += kScoreHeads) add_heads<kScoreHeads>(q + h * width, w + h, keys, width, score);
  for (; h < heads; ++h) add_heads<1>(q + h * width, w + h, keys, width, score);
  HB_UNROLL for (int v = 0; v < kScoreVectors; ++v) store(scores + v * kLanes, score[v]);
}

void choose_rows(const float* scores, int64_t count, int64_t top, int32_t* keys, int32_t* ids) {
  const int64_t padded = (count + kLanes - 1) / kLanes * kLanes;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(keys + i, ordered(load(scores + i)));
  if (i < count) {
    float tail[kLanes];
    std::fill(std::copy(scores + i, scores + count, tail), tail + kLanes, 0.0f);
    store(keys + i, ordered(load(tail)));
    std::fill(keys + count, keys + padded, kPadding);
  }
  const Threshold threshold = find_threshold(keys, count, padded, top);
  const I32x16 bound = splat(threshold.key);
  int64_t equal = threshold.equal;
  for (i = 0; i < padded; i += kLanes) {
    const I32x16 key = load(keys + i);
    uint32_t chosen = lane_mask(greater(key, bound));
    if (equal > 0) {
      for (uint32_t tied = lane_mask(equal_to(key, bound)); tied && equal > 0; tied &= tied - 1, --equal) {
        chosen |= tied & -tied;
      }
    }
    for (; chosen; chosen &= chosen - 1) *ids++ = static_cast<int32_t>(i + __builtin_ctz(chosen));
  }
}

namespace {

constexpr int64_t kTileTokens = 16;
constexpr int64_t kTileBytes = 1 << 19;  // scores of a tile should stay in the second-level cache

struct Arena {
  std::unique_ptr<float[]> keys, scores;
  std::unique_ptr<int32_t[]> ordered_keys;
};

int64_t visible(const HbSelect& a, int64_t t) { return std::min(a.row_count, (a.start + t + 1) / a.ratio); }

void write_all(const HbSelect& a, int64_t t, int64_t count) {
  int32_t* ids = a.ids + t * a.top;
  for (int64_t i = 0; i < count; ++i) ids[i] = static_cast<int32_t>(i);
  std::fill(ids + count, ids + a.top, -1);
}

// Tokens [first, last): rows in blocks, every block against all tokens that see some of it and need a choice.
void select_tile(const HbSelect& a, int64_t first, int64_t last, int64_t stride, Arena& m) {
  while (first < last && visible(a, first) <= a.top) {
    a.counts[first] = static_cast<int32_t>(visible(a, first));
    write_all(a, first, a.counts[first]);
    ++first;
  }
  if (first == last) return;
  for (int64_t row = 0; row < visible(a, last - 1); row += kBlockRows) {
    transpose_keys(a.rows, a.row_format, row, visible(a, last - 1), a.width, m.keys.get());
    for (int64_t t = first; t < last; ++t) {
      if (row >= visible(a, t)) continue;
      score_block(a.q + t * a.heads * a.width, a.w + t * a.heads, m.keys.get(), a.heads, a.width,
                  m.scores.get() + (t - first) * stride + row);
    }
  }
  for (int64_t t = first; t < last; ++t) {
    const float* scores = m.scores.get() + (t - first) * stride;
    choose_rows(scores, visible(a, t), a.top, m.ordered_keys.get(), a.ids + t * a.top);
    a.counts[t] = static_cast<int32_t>(a.top);
  }
}

}  // namespace
}  // namespace haloband

HB_EXPORT int64_t hb_sizeof_select(void) { return sizeof(HbSelect); }

HB_EXPORT int64_t hb_select(void* pool_handle, const HbSelect* arguments) {
  using namespace haloband;
  const HbSelect& a = *arguments;
  Pool& pool = *static_cast<Pool*>(pool_handle);
  const int64_t most = visible(a, a.tokens - 1);
  const int64_t stride = (most + kBlockRows - 1) / kBlockRows * kBlockRows + kLanes;
  const int64_t share = 4 * pool.threads();
  const int64_t fits = std::clamp<int64_t>(kTileBytes / (stride * 4), 1, kTileTokens);
  const int64_t size = std::clamp<int64_t>((a.tokens + share - 1) / share, 1, fits);
  try {
    std::vector<Arena> arenas(pool.threads());
    for (Arena& arena : arenas) {
      arena.keys.reset(new float[a.width * kBlockRows]);
      arena.scores.reset(new float[size * stride]);
      arena.ordered_keys.reset(new int32_t[stride]);
    }
    pool.each_index((a.tokens + size - 1) / size, [&](int64_t tile, int worker) {
      select_tile(a, tile * size, std::min(a.tokens, (tile + 1) * size), stride, arenas[worker]);
    });
  } catch (const std::bad_alloc&) {
    return 1;
  }
  return 0;
}
