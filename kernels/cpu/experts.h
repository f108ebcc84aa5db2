// Everything of a mixture of experts but the matrix products: choose experts, group tokens by expert, the clamped
// SwiGLU between the two products, and the weighted sum in slot order. Formulas: DS4 specification section 4.
#pragma once

#include "convert.h"

// Scores c = sqrt(softplus(logit)); the `used` experts with the largest c + bias, equal ones to the lower expert, or
// those that the token-id table names; weights c / sum(c) * scale from the unbiased scores.
struct HbRoute {
  const float* logits;       // [tokens, experts]
  const float* bias;         // [experts], or null
  const int64_t* table;      // [vocab, used], or null
  const int64_t* token_ids;  // [tokens], with a table
  int64_t* chosen;           // [tokens, used]
  float* weights;            // [tokens, used]
  int64_t tokens, experts, used;
  double scale;
};

// A stable counting sort of (token, slot) pairs by expert; pair = token * used + slot. Each expert's group is filled up
// to a multiple of `grain` rows with token 0, whose results nobody reads: a matrix library then sees few row counts
// and keeps its code for them.
struct HbGroup {
  const int64_t* chosen;  // [tokens * used]
  int64_t* counts;        // [experts]: rows of each group, padding included
  int64_t* source;        // [tokens * used + experts * (grain - 1)]: the token of each row
  int64_t* place;         // [tokens * used]: the row of each pair
  int64_t tokens, used, experts, grain;
};

// out = silu(min(gate, limit)) * clamp(up, -limit, limit); a row of gate_up is [gate | up].
struct HbSwiglu {
  const void* gate_up;  // [rows, 2 * width]
  int64_t format;
  void* out;  // [rows, width]
  int64_t out_format;
  int64_t rows, width;
  double limit;
};

// y[t] = sum over slots, in order, of weights[t, slot] * outputs[place[t, slot]], then + shared[t].
struct HbCombine {
  const void* outputs;  // [tokens * used, width], sorted by expert
  int64_t format;
  const int64_t* place;
  const float* weights;  // [tokens, used]
  const void* shared;    // [tokens, width]
  int64_t shared_format;
  float* y;  // [tokens, width]
  int64_t tokens, used, width;
};
