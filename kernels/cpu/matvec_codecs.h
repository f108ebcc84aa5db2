// The stored weight types that the matrix-vector products read: one struct a type, one block at a time.
//
// Layouts are those of GGUF (little endian). Each struct gives kWeights and kBytes of a block, unpack() to float32, and
// multiply_add(), which returns sum + block . x with the block's scale applied once to its partial sum.
#pragma once

#include "convert.h"

namespace haloband::decode {

#if defined(__SSE4_1__)
// Sixteen signed bytes of a register.
HB_INLINE F32x16 widen_int8(__m128i bytes) {
  F32x16 r;
#if defined(__AVX512F__)
  r.part[0] = (NativeF)_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
#elif defined(__AVX2__)
  r.part[0] = (NativeF)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
  r.part[1] = (NativeF)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8)));
#else
  r.part[0] = (NativeF)_mm_cvtepi32_ps(_mm_cvtepi8_epi32(bytes));
  r.part[1] = (NativeF)_mm_cvtepi32_ps(_mm_cvtepi8_epi32(_mm_srli_si128(bytes, 4)));
  r.part[2] = (NativeF)_mm_cvtepi32_ps(_mm_cvtepi8_epi32(_mm_srli_si128(bytes, 8)));
  r.part[3] = (NativeF)_mm_cvtepi32_ps(_mm_cvtepi8_epi32(_mm_srli_si128(bytes, 12)));
#endif
  return r;
}
#endif

// Sixteen signed bytes of memory.
HB_INLINE F32x16 load_int8(const uint8_t* p) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  F32x16 r;  // two loads that widen cost less than one load and a shift
  HB_UNROLL HB_EACH_PART {
    const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + i * kNativeLanes));
    r.part[i] = (NativeF)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight));
  }
  return r;
#elif defined(__SSE4_1__)
  return widen_int8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#else
  typedef int8_t Bytes __attribute__((vector_size(kNativeLanes)));
  F32x16 r;
  HB_UNROLL HB_EACH_PART {
    Bytes bytes;
    std::memcpy(&bytes, p + i * kNativeLanes, sizeof bytes);
    r.part[i] = __builtin_convertvector(bytes, NativeF);
  }
  return r;
#endif
}

// A float16 in all lanes.
HB_INLINE F32x16 splat_f16(const uint8_t* p) {
  uint16_t word;
  std::memcpy(&word, p, sizeof word);
#if defined(__AVX512F__)
  F32x16 r;
  r.part[0] = (NativeF)_mm512_cvtph_ps(_mm256_set1_epi16((short)word));
  return r;
#elif defined(__F16C__)
  return splat(_cvtsh_ss(word));
#else
  // As load_f16 does it, for one number: exact for subnormals, then infinity and NaN, then the sign.
  const uint32_t magnitude = (word & 0x7fffu) << 13;
  float value;
  std::memcpy(&value, &magnitude, sizeof value);
  value *= 0x1p112f;
  uint32_t pattern;
  std::memcpy(&pattern, &value, sizeof pattern);
  if (magnitude >= 0x0f800000u) pattern |= 0x7f800000u;
  pattern |= (word & 0x8000u) << 16;
  return from_bits(splat(static_cast<int32_t>(pattern)));
#endif
}

// 16 elements of an unquantised type.
template <typename Element>
struct Dense {
  static constexpr int64_t kWeights = kLanes, kBytes = kLanes * sizeof(Element);

  static HB_INLINE F32x16 read(const uint8_t* block) { return load(reinterpret_cast<const Element*>(block)); }
  static HB_INLINE void unpack(const uint8_t* block, float* out) { store(out, read(block)); }
  static HB_INLINE F32x16 multiply_add(const uint8_t* block, const float* x, F32x16 sum) {
    return fma(read(block), load(x), sum);
  }
};
using DenseF32 = Dense<float>;
using DenseF16 = Dense<F16>;
using DenseBF16 = Dense<BF16>;

// Q8_0: float16 scale, 32 signed bytes.
struct BlockQ8 {
  static constexpr int64_t kWeights = 32, kBytes = 34;

  static HB_INLINE void unpack(const uint8_t* block, float* out) {
    const F32x16 scale = splat_f16(block);
    store(out, load_int8(block + 2) * scale);
    store(out + kLanes, load_int8(block + 18) * scale);
  }
  static HB_INLINE F32x16 multiply_add(const uint8_t* block, const float* x, F32x16 sum) {
    const F32x16 low = load_int8(block + 2) * load(x);
    return fma(fma(load_int8(block + 18), load(x + kLanes), low), splat_f16(block), sum);
  }
};

// Bits of 2^(e - 128) for a scale byte e; subnormal for 0 and 1. Loading them is cheaper than computing them.
struct PowerTable {
  int32_t pattern[256];
  constexpr PowerTable() : pattern() {
    for (int32_t e = 0; e < 256; ++e) pattern[e] = e < 2 ? 0x00200000 << e : (e - 1) << 23;
  }
};
inline constexpr PowerTable kPowers{};

// MXFP4: a power-of-two scale byte, 16 bytes of codes; the low nibble of byte i is element i, the high one element
// i + 16.
struct BlockMXFP4 {
  static constexpr int64_t kWeights = 32, kBytes = 17;

  struct Codes {
    F32x16 low, high;
  };

  // Twice the E2M1 values of the sixteen bytes: {0, 1, 2, 3, 4, 6, 8, 12} and their negatives.
  static HB_INLINE Codes read(const uint8_t* codes) {
    Codes r;
#if defined(__AVX512F__)
    const __m512 book = _mm512_setr_ps(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
    const __m512i byte = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
    r.low.part[0] = (NativeF)_mm512_permutexvar_ps(byte, book);  // looks at the lowest four bits only
    r.high.part[0] = (NativeF)_mm512_permutexvar_ps(_mm512_srli_epi32(byte, 4), book);
#elif defined(__SSE4_1__)
    const __m128i book = _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
    const __m128i nibble = _mm_set1_epi8(15);
    const __m128i byte = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
    r.low = widen_int8(_mm_shuffle_epi8(book, _mm_and_si128(byte, nibble)));
    r.high = widen_int8(_mm_shuffle_epi8(book, _mm_and_si128(_mm_srli_epi16(byte, 4), nibble)));
#else
    static constexpr int8_t book[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
    uint8_t value[2 * kLanes];
    for (int i = 0; i < kLanes; ++i) {
      value[i] = static_cast<uint8_t>(book[codes[i] & 15]);
      value[i + kLanes] = static_cast<uint8_t>(book[codes[i] >> 4]);
    }
    r = {load_int8(value), load_int8(value + kLanes)};
#endif
    return r;
  }

  static HB_INLINE F32x16 scale(uint8_t exponent) { return from_bits(splat(kPowers.pattern[exponent])); }

  static HB_INLINE void unpack(const uint8_t* block, float* out) {
    const Codes codes = read(block + 1);
    const F32x16 factor = scale(block[0]);
    store(out, codes.low * factor);
    store(out + kLanes, codes.high * factor);
  }
  static HB_INLINE F32x16 multiply_add(const uint8_t* block, const float* x, F32x16 sum) {
    const Codes codes = read(block + 1);
    const F32x16 low = codes.low * load(x);
    return fma(fma(codes.high, load(x + kLanes), low), scale(block[0]), sum);
  }
};

}  // namespace haloband::decode
