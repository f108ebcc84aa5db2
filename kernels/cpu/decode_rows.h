// Cache rows of one token: rotation of a row's tail, its rounded form, and storing it.
//
// Formulas: ds4-architecture 3.1 and 3.7, banded-prefill 2.5. Rounding is exact: the power-of-two scales are taken from
// exponent bits, ties go to even.
#pragma once

#include <cmath>

#include "decode_program.h"

namespace haloband::decode {

enum Rounding : int64_t { kRoundNone = 0, kRoundF16 = 1, kRoundE4M3 = 2 };

inline int64_t row_format(int64_t rounding) { return rounding == kRoundNone ? kF32 : kF16; }

// The pairs (2i, 2i + 1) of the last channels of row[width].
inline void rotate_tail(float* row, int64_t width, const Rotation& rotation) {
  const int64_t pairs = static_cast<int64_t>(rotation.cosine.size());
  float* tail = row + width - 2 * pairs;
  for (int64_t i = 0; i < pairs; ++i) {
    const float a = tail[2 * i], b = tail[2 * i + 1], c = rotation.cosine[i], s = rotation.sine[i];
    tail[2 * i] = a * c - b * s;
    tail[2 * i + 1] = a * s + b * c;
  }
}

// 2^ceil(log2(max(largest magnitude, floor) / top))
inline float block_scale(const float* x, int64_t count, float floor, float top) {
  float largest = floor;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(x[i]));
  int exponent;
  const float mantissa = std::frexp(largest / top, &exponent);  // in [0.5, 1)
  return std::ldexp(1.0f, mantissa == 0.5f ? exponent - 1 : exponent);
}

// Nearest value of a small float format with `bits` mantissa bits, smallest normal `lowest` and largest value `top`;
// ties to even. Adding 1.5 * 2^23 units of the last place and taking it away again does the rounding.
inline float nearest_small_float(float x, int bits, float lowest, float top) {
  const float magnitude = std::min(std::fabs(x), top), normal = std::max(magnitude, lowest);
  uint32_t pattern;
  std::memcpy(&pattern, &normal, sizeof pattern);
  pattern = (pattern & 0x7f800000u) + (static_cast<uint32_t>(23 - bits) << 23);
  float unit;
  std::memcpy(&unit, &pattern, sizeof unit);
  const float shift = 1.5f * unit;
  return std::copysign(std::min((magnitude + shift) - shift, top), x);
}

// Each block of row[count] through a small float format with a power-of-two scale; the last block may be shorter.
inline void round_blocks(float* row, int64_t count, int64_t block, float floor, int bits, float lowest,
                         float top) {
  for (int64_t first = 0; first < count; first += block) {
    const int64_t size = std::min(block, count - first);
    const float scale = block_scale(row + first, size, floor, top);
    for (int64_t i = first; i < first + size; ++i) {
      row[i] = nearest_small_float(row[i] / scale, bits, lowest, top) * scale;
    }
  }
}
inline void round_e4m3(float* row, int64_t count) { round_blocks(row, count, 64, 1e-4f, 3, 0x1p-6f, 448.0f); }
inline void round_e2m1(float* row, int64_t count) { round_blocks(row, count, 32, 0x1.8p-124f, 1, 1.0f, 6.0f); }

// Walsh-Hadamard transform of row[width] in Sylvester order, orthonormal; width is a power of two.
inline void hadamard(float* row, int64_t width) {
  for (int64_t span = 1; span < width; span *= 2) {
    for (int64_t i = 0; i < width; i += 2 * span) {
      for (int64_t k = i; k < i + span; ++k) {
        const float a = row[k], b = row[k + span];
        row[k] = a + b;
        row[k + span] = a - b;
      }
    }
  }
  const float scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(width)));
  for (int64_t i = 0; i < width; ++i) row[i] *= scale;
}

// A rotated indexer row or query in its compared form.
inline void round_index(float* row, int64_t width, int64_t rounding) {
  if (rounding != kRoundE4M3) return;
  hadamard(row, width);
  round_e2m1(row, width);
}

inline void round_row(float* row, int64_t width, int64_t rotary, int64_t rounding) {
  if (rounding == kRoundE4M3) round_e4m3(row, width - rotary);
}

inline void store_f16(uint16_t* p, F32x16 a) {
#if defined(__AVX512F__)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph((__m512)a.part[0], _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__) && defined(__AVX2__)
  HB_UNROLL HB_EACH_PART {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p) + i, _mm256_cvtps_ph((__m256)a.part[i], _MM_FROUND_TO_NEAREST_INT));
  }
#else
  // Normal results: round the mantissa at bit 13 and move the exponent. Smaller ones: let an addition round to 2^-24.
  const I32x16 sign = shift_right_logical(bits(a), 16) & splat(int32_t{0x8000});
  const I32x16 magnitude = bits(a) & splat(int32_t{0x7fffffff});
  const I32x16 odd = shift_right_logical(magnitude, 13) & splat(int32_t{1});
  const I32x16 normal = shift_right_logical(magnitude - splat(int32_t{0x38000000}) + splat(int32_t{0xfff}) + odd, 13);
  const I32x16 small = bits(from_bits(magnitude) + splat(0.5f)) - splat(int32_t{0x3f000000});
  I32x16 word = choose(greater(splat(int32_t{0x38800000}), magnitude), small, normal);
  word = choose(greater(word, splat(int32_t{0x7c00})), splat(int32_t{0x7c00}), word);
  word = choose(greater(magnitude, splat(int32_t{0x7f800000})), splat(int32_t{0x7e00}), word) | sign;
  HB_UNROLL HB_EACH_PART {
    *reinterpret_cast<UnalignedH*>(p + i * kNativeLanes) = __builtin_convertvector(word.part[i], NativeH);
  }
#endif
}

inline void store_row(void* rows, int64_t format, int64_t index, int64_t width, const float* row) {
  for (int64_t i = 0; i < width; i += kLanes) {
    if (format == kF16) {
      store_f16(static_cast<uint16_t*>(rows) + index * width + i, load(row + i));
    } else {
      store(static_cast<float*>(rows) + index * width + i, load(row + i));
    }
  }
}

}  // namespace haloband::decode
