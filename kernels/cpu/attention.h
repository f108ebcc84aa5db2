// Attention of single queries over float32 rows that are key and value at once, sixteen heads side by side in lanes.
//
// A query is held transposed, q[channel][16 heads]; scores are held as [row][16 heads]. Every sum has one order, fixed
// by the row list of the query alone: channels ascending within a score, rows ascending within a value, the sink last.
// It does not depend on tiles, on threads, or on how many queries are computed. The blocked prefill (attention.cpp) and
// the one-token decode are both made of these pieces, so their bits agree.
#pragma once

#include "convert.h"
#include "elementary.h"
#include "pool.h"

namespace haloband {

#if defined(__AVX512F__)
constexpr int kScoreRows = 8;      // rows scored at once
constexpr int kValueChannels = 16;  // channels accumulated at once
#else
constexpr int kScoreRows = 4;
constexpr int kValueChannels = 4;
#endif

// Heads [first_head, first_head + 16) of one token's query row, q_row[heads * width] in `format`, into
// q16[width][16]: per-head RMS norm without weight, RoPE on the last 2 * pairs channels, scaled by 1/sqrt(width).
// Lanes past the last head are zero. width is a multiple of 16; cosine and sine hold `pairs` values of this position.
void prepare_query(const void* q_row, int64_t format, int64_t heads, int64_t first_head, int64_t width, int64_t pairs,
                   const float* cosine, const float* sine, double eps, float* q16);

// scores[row][16] = sum over channels of rows[row * width + c] * q16[c][16], for `count` rows.
void score_rows(const float* q16, const float* rows, int64_t count, int64_t width, float* scores);

// Replaces scores[count][16] by exp(score - max), the maximum taken over the rows and the sink logits; returns one over
// the sum of these, the sink's own term added last.
F32x16 softmax_rows(float* scores, int64_t count, F32x16 sink);

// out[c][16] = (add ? out[c][16] : 0) + sum over rows of weights[row][16] * rows[row * width + c], for channels
// [first, last). Calls over consecutive pieces of a row list give the bits of one call over the whole list.
void weigh_rows(const float* weights, const float* rows, int64_t count, int64_t width, int64_t first, int64_t last,
                bool add, float* out);

// out16[width][16] times `scale`, its last 2 * pairs channels rotated back, written as the heads
// [first_head, min(first_head + 16, heads)) of out_row[heads * width] in `format` (float32 or bfloat16).
void finish_output(const float* out16, F32x16 scale, int64_t heads, int64_t first_head, int64_t width, int64_t pairs,
                   const float* cosine, const float* sine, void* out_row, int64_t format);

// The sink logits of heads [first_head, first_head + 16), zero past the last head.
F32x16 load_sinks(const float* sinks, int64_t heads, int64_t first_head);

}  // namespace haloband

// All tensors contiguous. Mirrored field by field in kernels/cpu/arguments.py; every field is eight bytes.
struct HbAttend {
  const void* q;            // [tokens, heads, width] as projected: neither normed nor rotated
  int64_t q_format;         // kF32 or kBF16
  const float* cosine;      // [tokens, pairs]
  const float* sine;        // [tokens, pairs]
  const float* sinks;       // [heads]
  const void* raw;          // [prior + tokens, width]
  const void* compressed;   // [compressed_rows, width] or null
  int64_t row_format;       // of raw and compressed: kF32 or kF16
  const int32_t* ids;       // [tokens, id_stride] ascending, or null for all visible rows
  const int32_t* id_counts;  // [tokens] or null
  int64_t id_stride;
  void* out;                // [tokens, heads * width]
  int64_t out_format;       // kF32 or kBF16
  int64_t tokens, heads, width, pairs;
  int64_t start, prior, window, ratio, compressed_rows;
  double eps;
};

// Returns 0, or 1 if scratch memory could not be had (nothing useful was written).
HB_EXPORT int64_t hb_attend(void* pool, const HbAttend* arguments);
HB_EXPORT int64_t hb_sizeof_attend(void);
