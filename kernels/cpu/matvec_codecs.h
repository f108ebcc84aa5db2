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

// Sixteen bytes of 4-bit codes: the low nibble of byte i is element i, the high one element i + 16. Bit 3 is the sign.
struct Codes {
  F32x16 low, high;

  // Levels {0, 1, 2, 3, 4, 6, 8, kTop} and their negatives: the formats differ in the largest alone.
  template <int kTop>
  static HB_INLINE Codes read(const uint8_t* codes) {
    Codes r;
#if defined(__AVX512F__)
    const __m512 book = _mm512_setr_ps(0, 1, 2, 3, 4, 6, 8, kTop, 0, -1, -2, -3, -4, -6, -8, -kTop);
    const __m512i byte = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
    r.low.part[0] = (NativeF)_mm512_permutexvar_ps(byte, book);  // looks at the lowest four bits only
    r.high.part[0] = (NativeF)_mm512_permutexvar_ps(_mm512_srli_epi32(byte, 4), book);
#elif defined(__SSE4_1__)
    const __m128i book = _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, kTop, 0, -1, -2, -3, -4, -6, -8, -kTop);
    const __m128i nibble = _mm_set1_epi8(15);
    const __m128i byte = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
    r.low = widen_int8(_mm_shuffle_epi8(book, _mm_and_si128(byte, nibble)));
    r.high = widen_int8(_mm_shuffle_epi8(book, _mm_and_si128(_mm_srli_epi16(byte, 4), nibble)));
#else
    static constexpr int8_t book[16] = {0, 1, 2, 3, 4, 6, 8, kTop, 0, -1, -2, -3, -4, -6, -8, -kTop};
    uint8_t value[2 * kLanes];
    for (int i = 0; i < kLanes; ++i) {
      value[i] = static_cast<uint8_t>(book[codes[i] & 15]);
      value[i + kLanes] = static_cast<uint8_t>(book[codes[i] >> 4]);
    }
    r = {load_int8(value), load_int8(value + kLanes)};
#endif
    return r;
  }
};

// 32 codes with one scale: `kCodesAt` and `kScaleAt` are their places in a block.
template <int kTop, int kCodesAt, int kScaleAt, const auto& kScales>
struct BlockNibbles {
  static constexpr int64_t kWeights = 32, kBytes = 17;

  static HB_INLINE F32x16 scale(const uint8_t* block) { return from_bits(splat(kScales.pattern[block[kScaleAt]])); }

  static HB_INLINE void unpack(const uint8_t* block, float* out) {
    const Codes codes = Codes::read<kTop>(block + kCodesAt);
    const F32x16 factor = scale(block);
    store(out, codes.low * factor);
    store(out + kLanes, codes.high * factor);
  }
  static HB_INLINE F32x16 multiply_add(const uint8_t* block, const float* x, F32x16 sum) {
    const Codes codes = Codes::read<kTop>(block + kCodesAt);
    const F32x16 low = codes.low * load(x);
    return fma(fma(codes.high, load(x + kLanes), low), scale(block), sum);
  }
};

// MXFP4: a power-of-two scale byte, then the codes, which are twice the E2M1 values.
using BlockMXFP4 = BlockNibbles<12, 1, 0, kPowers>;

// Bits of half an E4M3 number for each scale byte of the ROCmFP formats; those above 0x7e are invalid and read as zero.
struct HalfE4M3Table {
  int32_t pattern[256];
  constexpr HalfE4M3Table() : pattern() {
    for (int32_t byte = 0; byte < 0x7f; ++byte) {
      const int32_t exponent = byte >> 3, mantissa = byte & 7;
      if (exponent > 0) {
        pattern[byte] = (exponent + 119) << 23 | mantissa << 20;  // (8 + mantissa) 2^(exponent - 11)
      } else if (mantissa > 0) {
        const int32_t top = mantissa >= 4 ? 2 : mantissa >= 2 ? 1 : 0;  // mantissa 2^-10, normalised
        pattern[byte] = (top + 117) << 23 | (mantissa << (23 - top) & 0x7fffff);
      }
    }
  }
};
inline constexpr HalfE4M3Table kHalfE4M3{};

// ROCmFP4_FAST: the codes, then a scale.
using BlockROCmFP4Fast = BlockNibbles<10, 0, 16, kHalfE4M3>;

// ROCmFP4: the codes, then a scale for elements 0 to 15 and one for 16 to 31.
struct BlockROCmFP4 {
  static constexpr int64_t kWeights = 32, kBytes = 18;

  static HB_INLINE F32x16 scale(uint8_t byte) { return from_bits(splat(kHalfE4M3.pattern[byte])); }

  static HB_INLINE void unpack(const uint8_t* block, float* out) {
    const Codes codes = Codes::read<10>(block);
    store(out, codes.low * scale(block[16]));
    store(out + kLanes, codes.high * scale(block[17]));
  }
  static HB_INLINE F32x16 multiply_add(const uint8_t* block, const float* x, F32x16 sum) {
    const Codes codes = Codes::read<10>(block);
    sum = fma(codes.low * load(x), scale(block[16]), sum);
    return fma(codes.high * load(x + kLanes), scale(block[17]), sum);
  }
};

}  // namespace haloband::decode
