// See experts.h. Rows are independent, so any worker may take any row; sums run in a fixed order.
#include "experts.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>

#include "elementary.h"
#include "pool.h"

namespace haloband {
namespace {

constexpr int64_t kRowsPerTile = 32;

float expert_score(float logit) {
  const float softplus = std::max(logit, 0.0f) + std::log1p(std::exp(-std::fabs(logit)));
  return std::sqrt(softplus);
}

// The `used` largest keys, one after the other; an equal key to the lower index. Chosen keys are struck out.
void choose_largest(float* keys, int64_t count, int64_t used, int64_t* chosen) {
  for (int64_t slot = 0; slot < used; ++slot) {
    int64_t best = -1;
    for (int64_t e = 0; e < count; ++e) {
      if (!std::isnan(keys[e]) && (best < 0 || keys[e] > keys[best])) best = e;
    }
    if (best < 0) best = slot;  // nothing but NaN is left: a defined choice
    chosen[slot] = best;
    keys[best] = NAN;
  }
}

void route_token(const HbRoute& a, int64_t t, float* scores, float* keys) {
  int64_t* chosen = a.chosen + t * a.used;
  float* weights = a.weights + t * a.used;
  for (int64_t e = 0; e < a.experts; ++e) scores[e] = expert_score(a.logits[t * a.experts + e]);
  if (a.table) {
    std::copy_n(a.table + a.token_ids[t] * a.used, a.used, chosen);
  } else {
    for (int64_t e = 0; e < a.experts; ++e) keys[e] = a.bias ? scores[e] + a.bias[e] : scores[e];
    choose_largest(keys, a.experts, a.used, chosen);
  }
  float sum = 0.0f;
  for (int64_t slot = 0; slot < a.used; ++slot) sum += scores[chosen[slot]];
  const float scale = static_cast<float>(a.scale);
  for (int64_t slot = 0; slot < a.used; ++slot) weights[slot] = scores[chosen[slot]] / sum * scale;
}

template <typename Body>
void each_tile(void* pool, int64_t rows, Body&& body) {
  static_cast<Pool*>(pool)->each_index((rows + kRowsPerTile - 1) / kRowsPerTile, [&](int64_t tile, int worker) {
    const int64_t first = tile * kRowsPerTile;
    body(first, std::min(first + kRowsPerTile, rows), worker);
  });
}

void swiglu_row(const HbSwiglu& a, int64_t row, F32x16 limit, F32x16 floor) {
  const int64_t gate = row * 2 * a.width, up = gate + a.width;
  for (int64_t c = 0; c < a.width; c += kLanes) {
    const F32x16 g = at_most(limit, load_as(a.gate_up, a.format, gate + c));
    const F32x16 u = at_least(floor, at_most(limit, load_as(a.gate_up, a.format, up + c)));
    store_as(a.out, a.out_format, row * a.width + c, silu(g) * u);
  }
}

void combine_token(const HbCombine& a, int64_t t) {
  for (int64_t c = 0; c < a.width; c += kLanes) {
    F32x16 sum = zero();
    for (int64_t slot = 0; slot < a.used; ++slot) {
      const int64_t pair = t * a.used + slot;
      sum = fma(splat(a.weights[pair]), load_as(a.outputs, a.format, a.place[pair] * a.width + c), sum);
    }
    store(a.y + t * a.width + c, sum + load_as(a.shared, a.shared_format, t * a.width + c));
  }
}

}  // namespace
}  // namespace haloband

HB_EXPORT int64_t hb_route(void* pool, const HbRoute* a) {
  const int workers = static_cast<haloband::Pool*>(pool)->threads();
  const std::unique_ptr<float[]> scratch(new (std::nothrow) float[workers * 2 * a->experts]);
  if (!scratch) return 1;
  haloband::each_tile(pool, a->tokens, [&](int64_t first, int64_t last, int worker) {
    float* scores = scratch.get() + worker * 2 * a->experts;
    for (int64_t t = first; t < last; ++t) haloband::route_token(*a, t, scores, scores + a->experts);
  });
  return 0;
}

HB_EXPORT int64_t hb_group(void*, const HbGroup* a) {
  const std::unique_ptr<int64_t[]> next(new (std::nothrow) int64_t[a->experts]);
  if (!next) return 1;
  const int64_t pairs = a->tokens * a->used;
  std::fill_n(a->counts, a->experts, 0);
  for (int64_t pair = 0; pair < pairs; ++pair) ++a->counts[a->chosen[pair]];
  for (int64_t e = 0, first = 0; e < a->experts; first += a->counts[e], ++e) {
    next[e] = first;
    const int64_t filled = a->counts[e];
    a->counts[e] = (filled + a->grain - 1) / a->grain * a->grain;
    std::fill_n(a->source + first + filled, a->counts[e] - filled, 0);
  }
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int64_t place = next[a->chosen[pair]]++;
    a->place[pair] = place;
    a->source[place] = pair / a->used;
  }
  return 0;
}

HB_EXPORT int64_t hb_swiglu(void* pool, const HbSwiglu* a) {
  const auto limit = haloband::splat(static_cast<float>(a->limit));
  const auto floor = haloband::splat(static_cast<float>(-a->limit));
  haloband::each_tile(pool, a->rows, [&](int64_t first, int64_t last, int) {
    for (int64_t row = first; row < last; ++row) haloband::swiglu_row(*a, row, limit, floor);
  });
  return 0;
}

HB_EXPORT int64_t hb_combine(void* pool, const HbCombine* a) {
  haloband::each_tile(pool, a->tokens, [&](int64_t first, int64_t last, int) {
    for (int64_t t = first; t < last; ++t) haloband::combine_token(*a, t);
  });
  return 0;
}
