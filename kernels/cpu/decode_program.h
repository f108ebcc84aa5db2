// The compiled form of a model description: checked weights, and the scratch memory of one token's computation.
//
// Built once by make_program() (decode_check.cpp), used by the workers of decode.cpp. Sizes keep the names of HbModel.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "decode.h"
#include "matvec.h"

namespace haloband::decode {

constexpr int64_t kStreams = 4;
constexpr int64_t kMixerOutputs = kStreams * (2 + kStreams);
constexpr int64_t kMostUsed = 64;     // routed experts of a token
constexpr int64_t kRowUnit = 8;       // rows that a worker scores together
constexpr int64_t kOverlapRatio = 4;  // windows of this ratio overlap and have an indexer

// Float32 memory that starts on a cache line.
class Floats {
 public:
  Floats() = default;
  explicit Floats(int64_t count) : lines_(static_cast<size_t>((count + kLanes - 1) / kLanes)) {}
  float* data() { return lines_.empty() ? nullptr : lines_.front().lane; }
  int64_t size() const { return static_cast<int64_t>(lines_.size()) * kLanes; }

 private:
  struct alignas(64) Line {
    float lane[kLanes];
  };
  std::vector<Line> lines_;
};

struct Mixer {
  Weights weight;
  const float *scale, *base;
};

struct Compressor {
  Weights values, scores;
  const float *position_bias, *norm;
  int64_t ratio, width;
  bool overlaps() const { return ratio == kOverlapRatio; }
  int64_t lanes() const { return overlaps() ? 2 * width : width; }
};

struct Layer {
  int64_t ratio;
  Mixer attention_mixer, experts_mixer;
  const float *attention_norm, *experts_norm, *q_a_norm, *kv_norm, *sinks, *router_bias;
  const int32_t* router_table;  // null where scores choose
  Weights q_a, q_b, kv, out_a, out_b;
  Compressor compressor, index_compressor;
  Weights index_query, index_weight;
  Weights router, expert_gate, expert_up, expert_down, shared_gate, shared_up, shared_down;
  float swiglu_limit;
  bool indexed() const { return ratio == kOverlapRatio; }
};

// cos and sin of one position's angles, float32 from float64.
struct Rotation {
  std::vector<float> cosine, sine;
  void set(const std::vector<double>& frequencies, int64_t position);
};

// What every worker reads and one worker, or each its own part, writes; a barrier lies between.
struct Shared {
  Floats streams, mixing, q_rank, kv, values, scores, index_values, index_scores, index_weight, queries,
      index_queries, row_scores, head_scores, weighed, out_rank, router, activations,
      shared_activations;
};

// One worker's own copies of what is cheaper to compute again than to wait for.
struct Own {
  Floats x, q_rank, queries, rows, head_scores, output, keys, index_weight, router;
  std::vector<int32_t> ids, order;
};

struct Program {
  Pool* pool;
  Barrier barrier;
  HbModel size;  // the numbers; its pointers are not used after construction
  std::vector<double> plain_frequencies, compressed_frequencies;
  Weights embedding, output;
  Mixer output_mixer;
  const float* output_norm;
  std::vector<Layer> layers;

  Rotation plain, compressed, closed_4, closed_long;  // of the token's position, and of the windows it closes
  int64_t long_ratio = 0;  // the one ratio above 4 that the model uses, or 0
  Shared shared;
  std::vector<Own> own;  // one a worker
  int64_t row_capacity = 0, index_capacity = 0;  // what reserve_rows() made room for
  std::atomic<bool> busy{false};

  explicit Program(Pool* p) : pool(p), barrier(p->threads()) {}
  int64_t pairs() const { return size.rotary_width / 2; }
  int64_t head_groups() const { return (size.heads + kLanes - 1) / kLanes; }
  // Makes room for a query over `rows` rows and for the scores of `index_rows` index rows. May throw bad_alloc.
  void reserve_rows(int64_t rows, int64_t index_rows);
};

// Checks `model` and builds its program. Returns null and sets `complaint` to one sentence if it does not fit together.
std::unique_ptr<Program> make_program(Pool* pool, const HbModel& model, std::string& complaint);

// The state of one layer fits the model and the position; a status of HbDecodeStatus.
HbDecodeStatus check_token(const Program& program, const HbToken& token);

// A checked matrix, or one without a codec if type, size or address is wrong.
Weights weights_of(const HbMatrix& matrix);

}  // namespace haloband::decode
