// Hyper-connections of a whole step: tiles of sixteen tokens, each expanded, mixed and collapsed while it is in cache.
#include <algorithm>
#include <memory>
#include <new>

#include "mixing.h"

namespace haloband {
namespace {

void write_row(const float* x, int64_t width, void* out, int64_t format, int64_t token) {
  for (int64_t c = 0; c < width; c += kLanes) store_as(out, format, token * width + c, load(x + c));
}

void expand_tile(const HbMix& a, int64_t first, int64_t tokens) {
  for (int64_t t = first; t < first + tokens; ++t) {
    const char* y = static_cast<const char*>(a.y) + t * a.width * (a.y_format == kF32 ? 4 : 2);
    expand_token(a.streams + t * kStreams * a.width, a.width, y, a.y_format, a.y_post + t * kStreams,
                 a.y_comb + t * kStreams * kStreams);
  }
}

void mix_tile(const HbMix& a, int64_t first, int64_t tokens, float* row) {
  const Mixer mixer{a.fn, a.scale, a.base, a.rms_eps, a.hc_eps, a.iterations};
  const int64_t length = kStreams * a.width;
  MixTile tile;
  mixing_weights(a.streams + first * length, tokens, a.width, mixer, tile);
  for (int64_t lane = 0; lane < tokens; ++lane) {
    const int64_t t = first + lane;
    collapse_token(a.streams + t * length, a.width, tile, lane, a.norm, a.rms_eps, row);
    write_row(row, a.width, a.x, a.x_format, t);
    for (int i = 0; i < kStreams; ++i) a.post[t * kStreams + i] = tile.post[i][lane];
    for (int i = 0; i < kStreams * kStreams; ++i) a.comb[t * kStreams * kStreams + i] = tile.comb[i][lane];
  }
}

void head_tile(const HbHead& a, int64_t first, int64_t tokens, float* row) {
  const Mixer mixer{a.fn, a.scale, a.base, a.rms_eps, a.hc_eps, 0};
  const int64_t length = kStreams * a.width;
  MixTile tile;
  head_weights(a.streams + first * length, tokens, a.width, mixer, tile);
  for (int64_t lane = 0; lane < tokens; ++lane) {
    collapse_token(a.streams + (first + lane) * length, a.width, tile, lane, a.norm, a.rms_eps, row);
    write_row(row, a.width, a.x, a.x_format, first + lane);
  }
}

// Calls body(first, count, row) over tiles of sixteen tokens; row is the worker's scratch of `width` floats.
template <typename Body>
int64_t each_tile(void* pool_handle, int64_t tokens, int64_t width, Body&& body) {
  Pool& pool = *static_cast<Pool*>(pool_handle);
  const std::unique_ptr<float[]> rows(new (std::nothrow) float[pool.threads() * width]);
  if (!rows) return 1;
  pool.each_index((tokens + kLanes - 1) / kLanes, [&](int64_t index, int worker) {
    const int64_t first = index * kLanes;
    body(first, std::min<int64_t>(kLanes, tokens - first), rows.get() + worker * width);
  });
  return 0;
}

}  // namespace
}  // namespace haloband

HB_EXPORT int64_t hb_sizeof_mix(void) { return sizeof(HbMix); }
HB_EXPORT int64_t hb_sizeof_head(void) { return sizeof(HbHead); }

HB_EXPORT int64_t hb_mix(void* pool, const HbMix* a) {
  return haloband::each_tile(pool, a->tokens, a->width, [a](int64_t first, int64_t tokens, float* row) {
    if (a->y) haloband::expand_tile(*a, first, tokens);
    if (a->fn) haloband::mix_tile(*a, first, tokens, row);
  });
}

HB_EXPORT int64_t hb_head(void* pool, const HbHead* a) {
  return haloband::each_tile(pool, a->tokens, a->width, [a](int64_t first, int64_t tokens, float* row) {
    haloband::head_tile(*a, first, tokens, row);
  });
}
