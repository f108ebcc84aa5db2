// Float16 and bfloat16 to float32 and back, sixteen lanes at a time, with defined results on every instruction set:
// round to nearest even, subnormals kept, NaN stays NaN. Used wherever a kernel reads or writes a tensor.
#pragma once

#include "simd.h"

namespace haloband {

HB_INLINE I32x16 load_words(const uint16_t* p) {
  I32x16 r;
  HB_UNROLL HB_EACH_PART {
    const NativeH half = *reinterpret_cast<const UnalignedH*>(p + i * kNativeLanes);
    r.part[i] = __builtin_convertvector(half, NativeI);
  }
  return r;
}

HB_INLINE F32x16 load_f16(const uint16_t* p) {
#if defined(__AVX512F__)
  F32x16 r;
  r.part[0] = (NativeF)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  return r;
#elif defined(__F16C__) && defined(__AVX2__)
  F32x16 r;
  HB_UNROLL HB_EACH_PART r.part[i] = (NativeF)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p) + i));
  return r;
#else
  // Shift exponent and mantissa into place and multiply by 2^112: exact for subnormals too. Then inf/NaN, then the sign.
  const I32x16 half = load_words(p);
  const I32x16 magnitude = (half & splat(int32_t{0x7fff})) << 13;
  I32x16 value = bits(from_bits(magnitude) * splat(0x1p112f));
  value = value | (greater(magnitude, splat(int32_t{0x0f7fffff})) & splat(int32_t{0x7f800000}));
  return from_bits(value | ((half & splat(int32_t{0x8000})) << 16));
#endif
}

HB_INLINE F32x16 load_bf16(const uint16_t* p) { return from_bits(load_words(p) << 16); }

HB_INLINE void store_bf16(uint16_t* p, F32x16 a) {
  const I32x16 raw = bits(a);
  const I32x16 odd = shift_right_logical(raw, 16) & splat(int32_t{1});
  const I32x16 rounded = shift_right_logical(raw + splat(int32_t{0x7fff}) + odd, 16);
  const I32x16 quiet = shift_right_logical(raw, 16) | splat(int32_t{0x40});
  const I32x16 is_nan = greater(raw & splat(int32_t{0x7fffffff}), splat(int32_t{0x7f800000}));
  const I32x16 word = choose(is_nan, quiet, rounded);
  HB_UNROLL HB_EACH_PART {
    *reinterpret_cast<UnalignedH*>(p + i * kNativeLanes) = __builtin_convertvector(word.part[i], NativeH);
  }
}

// The element type of a tensor argument as a C++ type: overloads of load and store follow from it.
struct F16 {
  uint16_t word;
};
struct BF16 {
  uint16_t word;
};
HB_INLINE F32x16 load(const F16* p) { return load_f16(&p->word); }
HB_INLINE F32x16 load(const BF16* p) { return load_bf16(&p->word); }
HB_INLINE void store(BF16* p, F32x16 a) { store_bf16(&p->word, a); }

// Calls use(const T*) with the element type that `format` names.
template <typename Use>
HB_INLINE void with_format(const void* data, int64_t format, Use&& use) {
  if (format == kF16) {
    use(static_cast<const F16*>(data));
  } else if (format == kBF16) {
    use(static_cast<const BF16*>(data));
  } else {
    use(static_cast<const float*>(data));
  }
}

// Copies `count` elements (a multiple of 16) to float32.
inline void to_f32(const void* data, int64_t format, int64_t first, int64_t count, float* out) {
  with_format(data, format, [=](auto* p) {
    for (int64_t i = 0; i < count; i += kLanes) store(out + i, load(p + first + i));
  });
}

// Stores sixteen lanes at element `index` of a float32 or bfloat16 tensor.
HB_INLINE void store_as(void* data, int64_t format, int64_t index, F32x16 a) {
  if (format == kBF16) {
    store(static_cast<BF16*>(data) + index, a);
  } else {
    store(static_cast<float*>(data) + index, a);
  }
}
HB_INLINE F32x16 load_as(const void* data, int64_t format, int64_t index) {
  if (format == kBF16) return load(static_cast<const BF16*>(data) + index);
  if (format == kF16) return load(static_cast<const F16*>(data) + index);
  return load(static_cast<const float*>(data) + index);
}

}  // namespace haloband
