// The lightning indexer: scores of compressed rows against a token's index queries, and the exact choice of the best.
//
// score(row) = sum over heads of w[head] * relu(q[head] . key[row]); channels and heads ascending, one chain each, so
// a score does not depend on blocking. Rows are lanes: a block of rows is transposed once and serves a tile of tokens.
#pragma once

#include "convert.h"
#include "pool.h"

namespace haloband {

#if defined(__AVX512F__)
constexpr int kScoreVectors = 3, kScoreHeads = 8;  // row vectors by heads in registers
#else
constexpr int kScoreVectors = 2, kScoreHeads = 2;
#endif
constexpr int64_t kBlockRows = kScoreVectors * kLanes;

// Keys [first, first + kBlockRows) of rows[count][width] as float32, transposed: out[channel][kBlockRows]. Rows past
// the end are zero. width is a multiple of 16.
void transpose_keys(const void* rows, int64_t format, int64_t first, int64_t count, int64_t width, float* out);

// scores[kBlockRows] of one transposed block for one token: q[heads][width], w[heads].
void score_block(const float* q, const float* w, const float* keys, int64_t heads, int64_t width, float* scores);

// The `top` largest of scores[count], count > top: their ids, ascending. Of equal scores the lower id wins; a NaN is
// below everything. keys is scratch of `count` rounded up to 16; the scores are not changed.
void choose_rows(const float* scores, int64_t count, int64_t top, int32_t* keys, int32_t* ids);

}  // namespace haloband

// All tensors contiguous; mirrored in kernels/cpu/arguments.py.
struct HbSelect {
  const float* q;      // [tokens, heads, width], rotated and rounded as the model asks
  const float* w;      // [tokens, heads]
  const void* rows;    // [row_count, width]
  int64_t row_format;  // kF32 or kF16
  int32_t* ids;        // [tokens, top]; entries past a token's count are -1
  int32_t* counts;     // [tokens]
  int64_t tokens, heads, width, row_count, start, ratio, top;
};

// Returns 0, or 1 if scratch memory could not be had.
HB_EXPORT int64_t hb_select(void* pool, const HbSelect* arguments);
HB_EXPORT int64_t hb_sizeof_select(void);
