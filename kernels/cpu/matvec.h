// Matrix-vector products straight from GGUF blocks, float32 activations and float32 sums.
//
// A weight is dequantised in registers and never stored. The order of additions of one output depends on the matrix
// width alone: sixteen lanes, columns ascending within a lane, then the tree of sum_lanes(). Threads, row ranges and
// the grouping of rows change nothing. Used by decode.cpp on its workers; codecs live in matvec_codecs.h.
#pragma once

#include "matvec_codecs.h"

namespace haloband::decode {

constexpr int kGroupRows = 4;  // rows computed side by side: enough independent sums to hide the add latency

// How far ahead of its use a weight is asked for, in whole groups of rows. A model larger than the cache is read from
// memory, and the processor's own prefetching stops at every page and every change of rows.
constexpr int64_t kPrefetchBytes = 3072;

// y[row] = sum over slots s, in order, of w[s][row] . x[s * cols + ...] for row in [0, rows). All slots have the same
// layout: `rows` rows of `row_bytes` bytes. One slot is an ordinary product; the experts of a token are several.
using SumProducts = void (*)(const uint8_t* const* w, int64_t slots, int64_t row_bytes, int64_t rows, int64_t cols,
                             const float* x, float* y);
// Writes the `cols` weights of one row as float32.
using UnpackRow = void (*)(const uint8_t* row, int64_t cols, float* out);

template <typename Codec>
HB_INLINE void add_row_group(const uint8_t* const (&row)[kGroupRows], const uint8_t* ahead, int64_t cols,
                             const float* x, F32x16 (&sum)[kGroupRows]) {
  int64_t at = 0;
  for (int64_t column = 0; column < cols; column += Codec::kWeights, at += Codec::kBytes) {
    HB_UNROLL for (int64_t line = 0; line < kGroupRows * Codec::kBytes; line += 64) __builtin_prefetch(ahead + line);
    ahead += kGroupRows * Codec::kBytes;
    HB_UNROLL for (int i = 0; i < kGroupRows; ++i) sum[i] = Codec::multiply_add(row[i] + at, x + column, sum[i]);
  }
}

typedef float Four __attribute__((vector_size(16)));

// Lanes i, i + 4, i + 8 and i + 12 added, as sum_lanes() begins.
HB_INLINE Four sum_quarters(F32x16 a) {
#if defined(__AVX512F__)
  const __m512 v = (__m512)a.part[0];
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
  return (Four)_mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
#elif defined(__AVX2__)
  const __m256 half = (__m256)(a.part[0] + a.part[1]);
  return (Four)_mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
#else
  return (a.part[0] + a.part[2]) + (a.part[1] + a.part[3]);
#endif
}

// sum_lanes() of four vectors: the same additions, four results at once.
HB_INLINE Four sum_lanes_of_four(const F32x16 (&sum)[kGroupRows]) {
  Four q[kGroupRows];
  HB_UNROLL for (int i = 0; i < kGroupRows; ++i) q[i] = sum_quarters(sum[i]);
  const Four a = __builtin_shufflevector(q[0], q[1], 0, 4, 1, 5), b = __builtin_shufflevector(q[2], q[3], 0, 4, 1, 5);
  const Four c = __builtin_shufflevector(q[0], q[1], 2, 6, 3, 7), d = __builtin_shufflevector(q[2], q[3], 2, 6, 3, 7);
  const Four low = __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(c, d, 0, 1, 4, 5);
  const Four high = __builtin_shufflevector(a, b, 2, 3, 6, 7) + __builtin_shufflevector(c, d, 2, 3, 6, 7);
  return low + high;
}

template <typename Codec>
void sum_products(const uint8_t* const* w, int64_t slots, int64_t row_bytes, int64_t rows, int64_t cols,
                  const float* x, float* y) {
  const int64_t group_bytes = kGroupRows * row_bytes;
  const int64_t ahead = (kPrefetchBytes + group_bytes - 1) / group_bytes * group_bytes;
  for (int64_t first = 0; first < rows; first += kGroupRows) {
    F32x16 sum[kGroupRows] = {zero(), zero(), zero(), zero()};
    for (int64_t s = 0; s < slots; ++s) {
      const uint8_t* row[kGroupRows];  // the last group repeats its last row instead of reading past the matrix
      HB_UNROLL for (int i = 0; i < kGroupRows; ++i) {
        row[i] = w[s] + (first + i < rows ? first + i : rows - 1) * row_bytes;
      }
      add_row_group<Codec>(row, row[0] + ahead, cols, x + s * cols, sum);
    }
    const Four dot = sum_lanes_of_four(sum);
    std::memcpy(y + first, &dot, sizeof(float) * (rows - first < kGroupRows ? rows - first : kGroupRows));
  }
}

template <typename Codec>
void unpack_row(const uint8_t* row, int64_t cols, float* out) {
  for (int64_t column = 0; column < cols; column += Codec::kWeights, row += Codec::kBytes) {
    Codec::unpack(row, out + column);
  }
}

// How one stored type is laid out and computed with. `type` is the GGML type id.
struct CodecEntry {
  int64_t type, block_weights, block_bytes;
  SumProducts sum_products;
  UnpackRow unpack_row;
};

template <typename Codec>
constexpr CodecEntry codec_entry(int64_t type) {
  return {type, Codec::kWeights, Codec::kBytes, sum_products<Codec>, unpack_row<Codec>};
}

// The entry of a GGML type id, or null for a type without a kernel (its owner passes a float32 copy instead).
inline const CodecEntry* find_codec(int64_t type) {
  static constexpr CodecEntry entries[] = {
      codec_entry<DenseF32>(0), codec_entry<DenseF16>(1), codec_entry<BlockQ8>(8),
      codec_entry<DenseBF16>(30), codec_entry<BlockMXFP4>(39), codec_entry<BlockROCmFP4>(100),
      codec_entry<BlockROCmFP4Fast>(101),
  };
  for (const CodecEntry& entry : entries) {
    if (entry.type == type) return &entry;
  }
  return nullptr;
}

// Rows of a stored matrix. Not an owner.
struct Weights {
  const uint8_t* data = nullptr;
  int64_t row_bytes = 0, rows = 0, cols = 0;
  const CodecEntry* codec = nullptr;

  // One of several equally tall matrices stacked on top of each other.
  Weights stacked(int64_t index, int64_t height) const {
    return {data + index * height * row_bytes, row_bytes, height, cols, codec};
  }
  const uint8_t* row(int64_t index) const { return data + index * row_bytes; }
  // y[0 .. count) = rows [first, first + count) . x
  void multiply(const float* x, int64_t first, int64_t count, float* y) const {
    const uint8_t* start = row(first);
    codec->sum_products(&start, 1, row_bytes, count, cols, x, y);
  }
};

// Asks for the cache lines of [start, start + bytes): what a coming phase begins with is fetched while this one ends.
// An address past the end of a mapping does no harm.
inline void prefetch(const uint8_t* start, int64_t bytes = kPrefetchBytes) {
  for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(start + at);
}

// --- sharing rows between workers --------------------------------------------------------------------------------

struct Range {
  int64_t first, last;
};
// The part of `count` units that belongs to a worker: contiguous, sizes differ by one at most.
inline Range share_of(int64_t count, int worker, int workers) {
  return {count * worker / workers, count * (worker + 1) / workers};
}

// Several products computed as one list of rows, so that small matrices do not leave workers idle.
struct Product {
  const Weights* weights;
  const float* x;
  float* y;  // [weights->rows]
};

// Calls use(product, first, count) for the rows of each product that belong to a worker, whole groups of rows.
template <typename Use>
inline void each_share(const Product* products, int count, int worker, int workers, Use&& use) {
  const auto groups = [](const Product& p) { return (p.weights->rows + kGroupRows - 1) / kGroupRows; };
  int64_t total = 0;
  for (int i = 0; i < count; ++i) total += groups(products[i]);
  const Range mine = share_of(total, worker, workers);
  int64_t offset = 0;
  for (int i = 0; i < count; ++i) {
    const Product& p = products[i];
    const int64_t size = groups(p);
    const int64_t first = (mine.first > offset ? mine.first - offset : 0) * kGroupRows;
    const int64_t last = (mine.last - offset < size ? mine.last - offset : size) * kGroupRows;
    const int64_t end = last < p.weights->rows ? last : p.weights->rows;
    if (first < end) use(p, first, end - first);
    offset += size;
  }
}

inline void multiply_share(const Product* products, int count, int worker, int workers) {
  each_share(products, count, worker, workers, [](const Product& p, int64_t first, int64_t rows) {
    p.weights->multiply(p.x, first, rows, p.y + first);
  });
}

// The start of every product that the worker takes part in.
inline void prefetch_share(const Product* products, int count, int worker, int workers) {
  each_share(products, count, worker, workers,
             [](const Product& p, int64_t first, int64_t) { prefetch(p.weights->row(first)); });
}

}  // namespace haloband::decode
