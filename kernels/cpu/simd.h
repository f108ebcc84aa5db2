// Sixteen-lane float32 and int32 vectors for every instruction set, and the elementary functions on them.
//
// A vector is always 16 lanes wide; `Native` is the widest register of the build (AVX-512, AVX2 or 128-bit), so one
// source gives the same lane layout and the same order of additions everywhere. Files are built with
// -ffp-contract=off: a fused multiply-add happens where fma() is written and nowhere else. Included by every kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define HB_INLINE inline __attribute__((always_inline))
#define HB_UNROLL _Pragma("GCC unroll 16")

namespace haloband {

constexpr int kLanes = 16;
#if defined(__AVX512F__)
constexpr int kNativeLanes = 16;
#elif defined(__AVX2__)
constexpr int kNativeLanes = 8;
#else
constexpr int kNativeLanes = 4;
#endif
constexpr int kParts = kLanes / kNativeLanes;

// Storage formats of a tensor argument; the numbers are part of the C interface (kernels/cpu/arguments.py).
enum Format : int64_t { kF32 = 0, kF16 = 1, kBF16 = 2 };

typedef float NativeF __attribute__((vector_size(4 * kNativeLanes)));
typedef int32_t NativeI __attribute__((vector_size(4 * kNativeLanes)));
typedef uint16_t NativeH __attribute__((vector_size(2 * kNativeLanes)));
typedef float UnalignedF __attribute__((vector_size(4 * kNativeLanes), aligned(4), may_alias));
typedef int32_t UnalignedI __attribute__((vector_size(4 * kNativeLanes), aligned(4), may_alias));
typedef uint16_t UnalignedH __attribute__((vector_size(2 * kNativeLanes), aligned(2), may_alias));

struct I32x16 {
  NativeI part[kParts];
};
struct F32x16 {
  NativeF part[kParts];
};

#define HB_EACH_PART for (int i = 0; i < kParts; ++i)

// --- construction, loads, stores -----------------------------------------------------------------------------

HB_INLINE F32x16 splat(float x) {
  F32x16 r;
  HB_UNROLL HB_EACH_PART r.part[i] = x - NativeF{};  // x - 0 broadcasts and keeps the sign of -0
  return r;
}
HB_INLINE I32x16 splat(int32_t x) {
  I32x16 r;
  HB_UNROLL HB_EACH_PART r.part[i] = x - NativeI{};
  return r;
}
HB_INLINE F32x16 zero() {
  F32x16 r;
  HB_UNROLL HB_EACH_PART r.part[i] = NativeF{};
  return r;
}
HB_INLINE F32x16 load(const float* p) {
  F32x16 r;
  HB_UNROLL HB_EACH_PART r.part[i] = *reinterpret_cast<const UnalignedF*>(p + i * kNativeLanes);
  return r;
}
HB_INLINE I32x16 load(const int32_t* p) {
  I32x16 r;
  HB_UNROLL HB_EACH_PART r.part[i] = *reinterpret_cast<const UnalignedI*>(p + i * kNativeLanes);
  return r;
}
HB_INLINE void store(float* p, F32x16 a) {
  HB_UNROLL HB_EACH_PART *reinterpret_cast<UnalignedF*>(p + i * kNativeLanes) = a.part[i];
}
HB_INLINE void store(int32_t* p, I32x16 a) {
  HB_UNROLL HB_EACH_PART *reinterpret_cast<UnalignedI*>(p + i * kNativeLanes) = a.part[i];
}
HB_INLINE I32x16 bits(F32x16 a) {
  I32x16 r;
  HB_UNROLL HB_EACH_PART r.part[i] = reinterpret_cast<NativeI>(a.part[i]);
  return r;
}
HB_INLINE F32x16 from_bits(I32x16 a) {
  F32x16 r;
  HB_UNROLL HB_EACH_PART r.part[i] = reinterpret_cast<NativeF>(a.part[i]);
  return r;
}

// --- arithmetic ----------------------------------------------------------------------------------------------

#define HB_BINARY(Type, op)                                   \
  HB_INLINE Type operator op(Type a, Type b) {                \
    Type r;                                                   \
    HB_UNROLL HB_EACH_PART r.part[i] = a.part[i] op b.part[i]; \
    return r;                                                 \
  }
HB_BINARY(F32x16, +)
HB_BINARY(F32x16, -)
HB_BINARY(F32x16, *)
HB_BINARY(F32x16, /)
HB_BINARY(I32x16, +)
HB_BINARY(I32x16, -)
HB_BINARY(I32x16, &)
HB_BINARY(I32x16, |)
HB_BINARY(I32x16, ^)
#undef HB_BINARY

HB_INLINE I32x16 operator<<(I32x16 a, int n) {
  HB_UNROLL HB_EACH_PART a.part[i] = a.part[i] << n;
  return a;
}
HB_INLINE I32x16 operator>>(I32x16 a, int n) {  // arithmetic: the sign is copied
  HB_UNROLL HB_EACH_PART a.part[i] = a.part[i] >> n;
  return a;
}
HB_INLINE I32x16 shift_right_logical(I32x16 a, int n) {
  typedef uint32_t NativeU __attribute__((vector_size(4 * kNativeLanes)));
  HB_UNROLL HB_EACH_PART a.part[i] = reinterpret_cast<NativeI>(reinterpret_cast<NativeU>(a.part[i]) >> n);
  return a;
}

// a * b + c with one rounding where the instruction set has it; a multiply and an add on baseline x86-64.
HB_INLINE NativeF fma_native(NativeF a, NativeF b, NativeF c) {
#if defined(__AVX512F__)
  return (NativeF)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__) && defined(__AVX2__)
  return (NativeF)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__ARM_FEATURE_FMA)
  NativeF r;
  HB_UNROLL for (int i = 0; i < kNativeLanes; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return r;
#else
  return a * b + c;
#endif
}
HB_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  HB_UNROLL HB_EACH_PART c.part[i] = fma_native(a.part[i], b.part[i], c.part[i]);
  return c;
}
HB_INLINE float fma(float a, float b, float c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

// Lane masks are all ones or all zeros. A comparison with NaN is false.
HB_INLINE I32x16 greater(F32x16 a, F32x16 b) {
  I32x16 r;
  HB_UNROLL HB_EACH_PART r.part[i] = a.part[i] > b.part[i];
  return r;
}
HB_INLINE I32x16 greater(I32x16 a, I32x16 b) {
  I32x16 r;
  HB_UNROLL HB_EACH_PART r.part[i] = a.part[i] > b.part[i];
  return r;
}
HB_INLINE I32x16 equal_to(I32x16 a, I32x16 b) {
  I32x16 r;
  HB_UNROLL HB_EACH_PART r.part[i] = a.part[i] == b.part[i];
  return r;
}
HB_INLINE F32x16 choose(I32x16 mask, F32x16 yes, F32x16 no) {
  return from_bits((bits(yes) & mask) | (bits(no) & (mask ^ splat(-1))));
}
HB_INLINE I32x16 choose(I32x16 mask, I32x16 yes, I32x16 no) { return (yes & mask) | (no & (mask ^ splat(-1))); }

// The larger (smaller) of a bound and x; a NaN in x stays NaN.
HB_INLINE F32x16 at_least(F32x16 bound, F32x16 x) {
#if defined(__AVX512F__)
  HB_UNROLL HB_EACH_PART x.part[i] = (NativeF)_mm512_max_ps((__m512)bound.part[i], (__m512)x.part[i]);
#elif defined(__AVX2__)
  HB_UNROLL HB_EACH_PART x.part[i] = (NativeF)_mm256_max_ps((__m256)bound.part[i], (__m256)x.part[i]);
#elif defined(__SSE2__)
  HB_UNROLL HB_EACH_PART x.part[i] = (NativeF)_mm_max_ps((__m128)bound.part[i], (__m128)x.part[i]);
#else
  x = choose(greater(bound, x), bound, x);
#endif
  return x;
}
HB_INLINE F32x16 at_most(F32x16 bound, F32x16 x) {
#if defined(__AVX512F__)
  HB_UNROLL HB_EACH_PART x.part[i] = (NativeF)_mm512_min_ps((__m512)bound.part[i], (__m512)x.part[i]);
#elif defined(__AVX2__)
  HB_UNROLL HB_EACH_PART x.part[i] = (NativeF)_mm256_min_ps((__m256)bound.part[i], (__m256)x.part[i]);
#elif defined(__SSE2__)
  HB_UNROLL HB_EACH_PART x.part[i] = (NativeF)_mm_min_ps((__m128)bound.part[i], (__m128)x.part[i]);
#else
  x = choose(greater(x, bound), bound, x);
#endif
  return x;
}
HB_INLINE F32x16 larger(F32x16 a, F32x16 b) { return at_least(a, b); }

HB_INLINE F32x16 square_root(F32x16 a) {
#if defined(__AVX512F__)
  HB_UNROLL HB_EACH_PART a.part[i] = (NativeF)_mm512_sqrt_ps((__m512)a.part[i]);
#elif defined(__AVX2__)
  HB_UNROLL HB_EACH_PART a.part[i] = (NativeF)_mm256_sqrt_ps((__m256)a.part[i]);
#elif defined(__SSE2__)
  HB_UNROLL HB_EACH_PART a.part[i] = (NativeF)_mm_sqrt_ps((__m128)a.part[i]);
#else
  HB_EACH_PART for (int k = 0; k < kNativeLanes; ++k) a.part[i][k] = __builtin_sqrtf(a.part[i][k]);
#endif
  return a;
}

// One bit per lane, lane 0 lowest.
HB_INLINE uint32_t lane_mask(I32x16 a) {
#if defined(__AVX512F__)
  return (uint32_t)_mm512_movepi32_mask((__m512i)a.part[0]);
#elif defined(__AVX2__)
  return (uint32_t)_mm256_movemask_ps((__m256)a.part[0]) | ((uint32_t)_mm256_movemask_ps((__m256)a.part[1]) << 8);
#elif defined(__SSE2__)
  uint32_t r = 0;
  HB_UNROLL HB_EACH_PART r |= (uint32_t)_mm_movemask_ps((__m128)a.part[i]) << (4 * i);
  return r;
#else
  uint32_t r = 0;
  HB_EACH_PART for (int k = 0; k < kNativeLanes; ++k) r |= (a.part[i][k] < 0 ? 1u : 0u) << (i * kNativeLanes + k);
  return r;
#endif
}

// Sum of the lanes in a fixed tree: lane i with i + 8, then i + 4, i + 2, i + 1.
HB_INLINE float sum_lanes(F32x16 a) {
  typedef float F8 __attribute__((vector_size(32)));
  typedef float F4 __attribute__((vector_size(16)));
  F4 low, high;
#if defined(__AVX512F__)
  const NativeF v = a.part[0];
  const F8 eight = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                   __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
#elif defined(__AVX2__)
  const F8 eight = a.part[0] + a.part[1];
#endif
#if defined(__AVX2__)
  low = __builtin_shufflevector(eight, eight, 0, 1, 2, 3);
  high = __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
#else
  low = a.part[0] + a.part[2];
  high = a.part[1] + a.part[3];
#endif
  low += high;
  return (low[0] + low[2]) + (low[1] + low[3]);
}

// --- sixteen by sixteen ----------------------------------------------------------------------------------------

HB_INLINE NativeF interleave_low(NativeF a, NativeF b) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif defined(__AVX2__)
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#else
  return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#endif
}
HB_INLINE NativeF interleave_high(NativeF a, NativeF b) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#elif defined(__AVX2__)
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
  return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#endif
}

// In place: lane j of row i becomes lane i of row j. Four rounds of interleaving rows i and i + 8.
HB_INLINE void transpose(F32x16 (&row)[kLanes]) {
  F32x16 other[kLanes];
  for (int round = 0; round < 2; ++round) {
    HB_UNROLL for (int half = 0; half < 2; ++half) {
      F32x16(&from)[kLanes] = half ? other : row;
      F32x16(&to)[kLanes] = half ? row : other;
      HB_UNROLL for (int i = 0; i < kLanes / 2; ++i) {
        NativeF flat[2 * kParts];
        HB_UNROLL for (int k = 0; k < kParts; ++k) {
          flat[2 * k] = interleave_low(from[i].part[k], from[i + 8].part[k]);
          flat[2 * k + 1] = interleave_high(from[i].part[k], from[i + 8].part[k]);
        }
        HB_UNROLL for (int k = 0; k < kParts; ++k) {
          to[2 * i].part[k] = flat[k];
          to[2 * i + 1].part[k] = flat[kParts + k];
        }
      }
    }
  }
}

}  // namespace haloband
