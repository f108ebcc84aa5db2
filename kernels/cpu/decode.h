// The C interface of whole-token decode: one call takes one token through every layer of a DS4 model.
//
// Weights and state are described by the structs below, mirrored field by field in kernels/cpu/decode_layout.py; every
// field is eight bytes. Memory stays the caller's: matrices are read where they lie (GGUF blocks included) and the state
// is advanced in place. A program may be used from any thread, by one call at a time.
#pragma once

#include <cstdint>

#include "pool.h"

// A matrix of `rows` rows of `cols` weights; `type` is the GGML type id (matvec.h lists those that have a kernel).
struct HbMatrix {
  const void* data;
  int64_t bytes, rows, cols, type;
};
struct HbVector {
  const float* data;
  int64_t count;
};
struct HbIntegers {
  const int32_t* data;
  int64_t count;
};

struct HbMixer {
  HbMatrix weight;  // [24, 4 * hidden], the output's [4, 4 * hidden]
  HbVector scale;   // [3], the output's [1]
  HbVector base;    // [24], the output's [4]
};

// c = 2 for ratio 4, else 1; d is the head width, or the index width for the indexer's own compressor.
struct HbCompressor {
  HbMatrix values, scores;  // [c * d, hidden]
  HbVector position_bias;   // [ratio, c * d]
  HbVector norm;            // [d]
};

struct HbLayer {
  int64_t ratio;  // 0, 4 (overlapping windows and an indexer) or larger
  HbMixer attention_mixer;
  HbVector attention_norm;  // [hidden]
  HbMatrix q_a;      // [q_rank, hidden]
  HbVector q_a_norm;      // [q_rank]
  HbMatrix q_b;        // [heads * head_width, q_rank]
  HbMatrix kv;             // [head_width, hidden]
  HbVector kv_norm;        // [head_width]
  HbVector sinks;           // [heads]
  HbMatrix out_a;     // [groups * out_rank, heads * head_width / groups]
  HbMatrix out_b;       // [hidden, groups * out_rank]
  HbCompressor compressor;  // ratio > 0
  HbCompressor index_compressor;  // ratio 4, like the next two
  HbMatrix index_query;           // [index_heads * index_width, q_rank]
  HbMatrix index_weight;          // [index_heads, hidden]
  HbMixer experts_mixer;
  HbVector experts_norm;    // [hidden]
  HbMatrix router;          // [experts, hidden]
  HbVector router_bias;     // [experts] or empty
  HbIntegers router_table;  // [vocab, experts_used], or empty where scores choose
  HbMatrix expert_gate, expert_up;  // [experts * expert_width, hidden]
  HbMatrix expert_down;             // [experts * hidden, expert_width]
  HbMatrix shared_gate, shared_up;  // [shared_width, hidden]
  HbMatrix shared_down;             // [hidden, shared_width]
  double swiglu_limit;
};

struct HbModel {
  int64_t layers, vocab, hidden;
  int64_t heads, head_width, rotary_width, q_rank, out_groups, out_rank;
  int64_t window, index_heads, index_width, top_k;
  int64_t experts, experts_used, expert_width, shared_width;
  int64_t sinkhorn_iterations;
  double expert_scale, rms_eps, mixer_eps;
  const double* plain_frequencies;       // [rotary_width / 2], of layers with ratio 0
  const double* compressed_frequencies;  // [rotary_width / 2], of the others
  HbMatrix embedding;                    // [vocab, hidden]
  HbMixer output_mixer;
  HbVector output_norm;  // [hidden]
  HbMatrix output;       // [vocab, hidden]
  const HbLayer* layer;  // [layers]
};

// One layer's state. Rows are float32 for rounding 0, float16 otherwise. Position p fills ring slot p mod window; row c
// of a ratio is appended by position (c + 1) * ratio - 1.
struct HbLayerState {
  void* ring;                 // [window, head_width]
  void* rows;                 // [row_capacity, head_width]; ratio > 0
  void* index_rows;           // [row_capacity, index_width]; ratio 4
  float *values, *scores;     // [8, 2 * head_width] for ratio 4, [ratio, head_width] for larger ones
  float *index_values, *index_scores;  // [8, 2 * index_width]; ratio 4
  int64_t ring_bytes, rows_bytes, index_rows_bytes, rolling_count, index_rolling_count;
};

struct HbToken {
  int64_t token, position;
  int64_t selects;      // 1: at most top_k compressed rows where the layer has an indexer; 0: all visible rows
  int64_t rounding;     // 0 none, 1 float16 rows, 2 E4M3 rows and Hadamard + E2M1 indexer
  int64_t layers;       // of `state`
  const HbLayerState* state;
  float* logits;        // [logits_count]
  int64_t logits_count;
};

// Results of hb_decode_token. Anything but kDecoded means that neither state nor logits were touched.
enum HbDecodeStatus : int64_t {
  kDecoded = 0,
  kBadToken = 1,        // token outside the vocabulary
  kBadPosition = 2,     // negative or past 2^31
  kBadMode = 3,         // selects or rounding
  kBadLogits = 4,       // logits missing or not `vocab` long
  kBadState = 5,        // a state of other size than the model's
  kStateFull = 6,       // the position needs more compressed rows than a layer can hold
  kBadRouting = 7,      // the token-id table names an expert that does not exist
  kOutOfMemory = 8,
  kBusy = 9,            // another call is using this program
};

// Checks every size against the model and returns a program, or null with a sentence in message[message_size].
HB_EXPORT void* hb_decode_create(void* pool, const HbModel* model, char* message, int64_t message_size);
HB_EXPORT void hb_decode_destroy(void* program);
HB_EXPORT int64_t hb_decode_token(void* program, const HbToken* token);

// y[rows] = matrix . x[cols], and the float32 weights of one row: the pieces of the program, for tests. 1 on success, 0
// if the matrix is malformed.
HB_EXPORT int64_t hb_matvec(void* pool, const HbMatrix* matrix, const float* x, float* y);
HB_EXPORT int64_t hb_unpack_row(const HbMatrix* matrix, int64_t row, float* out);

// sizeof the structs above in order of appearance, so that the Python mirror can be checked: struct 0 is HbMatrix.
HB_EXPORT int64_t hb_decode_sizeof(int64_t index);
