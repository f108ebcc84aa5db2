// exp, sigmoid and SiLU on sixteen float32 lanes. Errors stay within about one unit in the last place; the tests
// compare every exponent with float64. No table, no fast-math: the result does not depend on the lane.
#pragma once

#include "simd.h"

namespace haloband {

// 2^n * a for n in [-252, 254], with one rounding where the result is subnormal.
HB_INLINE F32x16 scale_by_power(F32x16 a, I32x16 n) {
#if defined(__AVX512F__)
  a.part[0] = (NativeF)_mm512_scalef_ps((__m512)a.part[0], _mm512_cvtepi32_ps((__m512i)n.part[0]));
  return a;
#else
  const I32x16 half = n >> 1;
  const F32x16 first = from_bits((half + splat(int32_t{127})) << 23);
  const F32x16 second = from_bits((n - half + splat(int32_t{127})) << 23);
  return a * first * second;
#endif
}

// e^x. Overflow gives infinity, underflow subnormals and then zero, NaN stays NaN.
// Range reduction after Cody and Waite, polynomial of degree 5 after Cephes expf.
HB_INLINE F32x16 exp(F32x16 x) {
  x = at_least(splat(-106.0f), at_most(splat(90.0f), x));
  const F32x16 magic = splat(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer kept in the low bits
  const F32x16 shifted = fma(x, splat(1.44269504088896341f), magic);
  const I32x16 n = bits(shifted) - bits(magic);
  const F32x16 whole = shifted - magic;
  F32x16 r = fma(whole, splat(-0.693359375f), x);
  r = fma(whole, splat(2.12194440e-4f), r);
  F32x16 p = splat(1.9875691500e-4f);
  p = fma(p, r, splat(1.3981999507e-3f));
  p = fma(p, r, splat(8.3334519073e-3f));
  p = fma(p, r, splat(4.1665795894e-2f));
  p = fma(p, r, splat(1.6666665459e-1f));
  p = fma(p, r, splat(5.0000001201e-1f));
  p = fma(p, r * r, r) + splat(1.0f);
  return scale_by_power(p, n);
}

HB_INLINE F32x16 sigmoid(F32x16 x) { return splat(1.0f) / (splat(1.0f) + exp(zero() - x)); }
HB_INLINE F32x16 silu(F32x16 x) { return x / (splat(1.0f) + exp(zero() - x)); }

}  // namespace haloband
