// The building blocks of simd.h, convert.h and elementary.h as array functions, for the tests alone: a test can then
// feed every exponent, every float16 and every rounding case through exactly the code that the kernels inline.
#include "convert.h"
#include "elementary.h"
#include "pool.h"

namespace {

using haloband::F32x16;

template <typename Function>
void map(const float* in, float* out, int64_t count, Function&& function) {
  for (int64_t i = 0; i + haloband::kLanes <= count; i += haloband::kLanes) {
    haloband::store(out + i, function(haloband::load(in + i)));
  }
}

}  // namespace

// All counts are multiples of 16; which: 0 exp, 1 sigmoid, 2 silu, 3 square root.
HB_EXPORT void hb_test_function(int64_t which, const float* in, float* out, int64_t count) {
  switch (which) {
    case 0: return map(in, out, count, [](F32x16 x) { return haloband::exp(x); });
    case 1: return map(in, out, count, [](F32x16 x) { return haloband::sigmoid(x); });
    case 2: return map(in, out, count, [](F32x16 x) { return haloband::silu(x); });
    default: return map(in, out, count, [](F32x16 x) { return haloband::square_root(x); });
  }
}

HB_EXPORT void hb_test_to_f32(const void* in, int64_t format, float* out, int64_t count) {
  haloband::to_f32(in, format, 0, count, out);
}

HB_EXPORT void hb_test_to_bf16(const float* in, uint16_t* out, int64_t count) {
  for (int64_t i = 0; i + haloband::kLanes <= count; i += haloband::kLanes) {
    haloband::store_bf16(out + i, haloband::load(in + i));
  }
}

// out[j][i] = in[i][j] for one sixteen by sixteen block.
HB_EXPORT void hb_test_transpose(const float* in, float* out) {
  F32x16 block[haloband::kLanes];
  for (int i = 0; i < haloband::kLanes; ++i) block[i] = haloband::load(in + i * haloband::kLanes);
  haloband::transpose(block);
  for (int i = 0; i < haloband::kLanes; ++i) haloband::store(out + i * haloband::kLanes, block[i]);
}

// One sum and one lane mask (of x > 0) for each group of sixteen.
HB_EXPORT void hb_test_reduce(const float* in, float* sums, int32_t* masks, int64_t groups) {
  for (int64_t g = 0; g < groups; ++g) {
    const F32x16 x = haloband::load(in + g * haloband::kLanes);
    sums[g] = haloband::sum_lanes(x);
    masks[g] = static_cast<int32_t>(haloband::lane_mask(haloband::greater(x, haloband::zero())));
  }
}
