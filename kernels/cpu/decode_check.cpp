// Construction of a decode program and the checks of what its caller hands in: nothing is written before these pass.
#include <cmath>
#include <cstdio>

#include "decode_program.h"
#include "select.h"

namespace haloband::decode {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;  // no dimension or position comes near
constexpr int64_t kSpareRows = 64;

struct Misfit {
  std::string text;
};

[[noreturn]] void refuse(const std::string& text) { throw Misfit{text}; }

// Collects the weights of one layer (or of the model's ends) and names what is wrong.
class Reader {
 public:
  explicit Reader(std::string where) : where_(std::move(where)) {}

  Weights matrix(const char* name, const HbMatrix& m, int64_t rows, int64_t cols) const {
    if (m.rows != rows || m.cols != cols) {
      refuse(where_ + name + " is " + shape(m.rows, m.cols) + ", not " + shape(rows, cols));
    }
    const Weights found = weights_of(m);
    if (!found.codec) refuse(where_ + name + " has a type, size or address that the kernels cannot read");
    return found;
  }
  const float* vector(const char* name, const HbVector& v, int64_t count) const {
    if (!v.data || v.count != count) {
      refuse(where_ + name + " has " + std::to_string(v.count) + " values, not " + std::to_string(count));
    }
    return v.data;
  }
  Mixer mixer(const char* name, const HbMixer& m, int64_t outputs, int64_t scales, int64_t hidden) const {
    return {matrix(name, m.weight, outputs, kStreams * hidden), vector(name, m.scale, scales),
            vector(name, m.base, outputs)};
  }
  Compressor compressor(const char* name, const HbCompressor& c, int64_t ratio, int64_t width, int64_t hidden) const {
    Compressor found{};
    found.ratio = ratio;
    found.width = width;
    found.values = matrix(name, c.values, found.lanes(), hidden);
    found.scores = matrix(name, c.scores, found.lanes(), hidden);
    found.position_bias = vector(name, c.position_bias, ratio * found.lanes());
    found.norm = vector(name, c.norm, width);
    return found;
  }

 private:
  static std::string shape(int64_t rows, int64_t cols) { return std::to_string(rows) + " x " + std::to_string(cols); }
  const std::string where_;
};

void check_sizes(const HbModel& m) {
  const int64_t positive[] = {m.layers,        m.vocab,  m.hidden,  m.heads,        m.head_width,   m.rotary_width,
                              m.q_rank,    m.window, m.experts, m.experts_used, m.expert_width, m.out_groups,
                              m.out_rank,   m.shared_width,      m.sinkhorn_iterations};
  for (const int64_t value : positive) {
    if (value < 1 || value > kLargest) refuse("a size of the model is " + std::to_string(value));
  }
  const int64_t whole[] = {m.hidden, m.head_width, m.q_rank, m.out_rank, m.expert_width, m.shared_width};
  for (const int64_t value : whole) {
    if (value % kLanes) refuse("a width of " + std::to_string(value) + " is not a multiple of 16");
  }
  if (m.heads % m.out_groups) refuse("the heads do not divide into the output groups");
  if (m.rotary_width % 2 || m.rotary_width > m.head_width) refuse("the rotary width does not fit the head width");
  if (m.experts_used > m.experts || m.experts_used > kMostUsed) refuse("too many experts are used");
  if (!m.layer || !m.plain_frequencies || !m.compressed_frequencies) refuse("layers or frequencies are missing");
}

void check_ratios(const HbModel& m, Program& program) {
  for (int64_t i = 0; i < m.layers; ++i) {
    const int64_t ratio = m.layer[i].ratio;
    if (ratio < 0 || ratio > kLargest) refuse("a compression ratio is " + std::to_string(ratio));
    if (ratio == kOverlapRatio) {
      const bool power = m.index_width > 0 && (m.index_width & (m.index_width - 1)) == 0;
      if (!power || m.index_width < m.rotary_width || m.index_width % kLanes || m.index_heads < 1 || m.top_k < 1) {
        refuse("the indexer's sizes do not fit together");
      }
    } else if (ratio > 0) {
      if (program.long_ratio && program.long_ratio != ratio) refuse("more than one ratio beside 4 is used");
      program.long_ratio = ratio;
    }
  }
}

void read_attention(const Reader& read, const HbModel& m, const HbLayer& from, Layer& to) {
  to.attention_mixer = read.mixer("attention mixer", from.attention_mixer, kMixerOutputs, 3, m.hidden);
  to.attention_norm = read.vector("attention norm", from.attention_norm, m.hidden);
  to.q_a = read.matrix("q_a", from.q_a, m.q_rank, m.hidden);
  to.q_a_norm = read.vector("q_a norm", from.q_a_norm, m.q_rank);
  to.q_b = read.matrix("q_b", from.q_b, m.heads * m.head_width, m.q_rank);
  to.kv = read.matrix("kv", from.kv, m.head_width, m.hidden);
  to.kv_norm = read.vector("kv norm", from.kv_norm, m.head_width);
  to.sinks = read.vector("sinks", from.sinks, m.heads);
  const int64_t group = m.heads / m.out_groups * m.head_width, rank = m.out_groups * m.out_rank;
  to.out_a = read.matrix("out_a", from.out_a, rank, group);
  to.out_b = read.matrix("out_b", from.out_b, m.hidden, rank);
  if (!to.ratio) return;
  to.compressor = read.compressor("compressor", from.compressor, to.ratio, m.head_width, m.hidden);
  if (!to.indexed()) return;
  to.index_compressor =
      read.compressor("index compressor", from.index_compressor, to.ratio, m.index_width, m.hidden);
  to.index_query = read.matrix("index query", from.index_query, m.index_heads * m.index_width, m.q_rank);
  to.index_weight = read.matrix("index weight", from.index_weight, m.index_heads, m.hidden);
}

void read_experts(const Reader& read, const HbModel& m, const HbLayer& from, Layer& to) {
  to.experts_mixer = read.mixer("experts mixer", from.experts_mixer, kMixerOutputs, 3, m.hidden);
  to.experts_norm = read.vector("experts norm", from.experts_norm, m.hidden);
  to.router = read.matrix("router", from.router, m.experts, m.hidden);
  to.router_bias = from.router_bias.data ? read.vector("router bias", from.router_bias, m.experts) : nullptr;
  to.router_table = from.router_table.data;
  if (to.router_table && from.router_table.count != m.vocab * m.experts_used) {
    refuse("the token-id table has " + std::to_string(from.router_table.count) + " entries");
  }
  to.expert_gate = read.matrix("expert gate", from.expert_gate, m.experts * m.expert_width, m.hidden);
  to.expert_up = read.matrix("expert up", from.expert_up, m.experts * m.expert_width, m.hidden);
  to.expert_down = read.matrix("expert down", from.expert_down, m.experts * m.hidden, m.expert_width);
  to.shared_gate = read.matrix("shared gate", from.shared_gate, m.shared_width, m.hidden);
  to.shared_up = read.matrix("shared up", from.shared_up, m.shared_width, m.hidden);
  to.shared_down = read.matrix("shared down", from.shared_down, m.hidden, m.shared_width);
  to.swiglu_limit = static_cast<float>(from.swiglu_limit);
}

void allocate(Program& p) {
  const HbModel& m = p.size;
  const int64_t heads = m.heads * m.head_width, index_heads = m.index_heads * m.index_width;
  Shared& s = p.shared;
  s.streams = Floats(kStreams * m.hidden);
  s.mixing = Floats(kMixerOutputs);
  s.q_rank = Floats(m.q_rank);
  s.kv = Floats(m.head_width);
  for (Floats* lanes : {&s.values, &s.scores}) *lanes = Floats(2 * m.head_width);
  for (Floats* lanes : {&s.index_values, &s.index_scores}) *lanes = Floats(2 * m.index_width);
  s.index_weight = Floats(m.index_heads);
  s.queries = Floats(heads);
  s.index_queries = Floats(index_heads);
  s.weighed = Floats(p.head_groups() * m.head_width * kLanes);
  s.out_rank = Floats(m.out_groups * m.out_rank);
  s.router = Floats(m.experts);
  s.activations = Floats(m.experts_used * m.expert_width);
  s.shared_activations = Floats(m.shared_width);
  p.own.resize(p.pool->threads());
  for (Own& own : p.own) {
    own.x = Floats(m.hidden);
    own.q_rank = Floats(m.q_rank);
    own.queries = Floats(p.head_groups() * m.head_width * kLanes);
    own.output = Floats(heads);
    own.keys = Floats(m.index_width * kBlockRows);
    own.index_weight = Floats(m.index_heads);
    own.router = Floats(m.experts);
  }
  p.reserve_rows(m.window + m.top_k, 0);
}

}  // namespace

Weights weights_of(const HbMatrix& m) {
  const CodecEntry* codec = find_codec(m.type);
  const bool sized = m.rows > 0 && m.cols > 0 && m.rows < kLargest && m.cols < kLargest;
  if (!codec || !m.data || !sized || m.cols % codec->block_weights) return {};
  const int64_t row_bytes = m.cols / codec->block_weights * codec->block_bytes;
  if (m.bytes / row_bytes < m.rows) return {};
  return {static_cast<const uint8_t*>(m.data), row_bytes, m.rows, m.cols, codec};
}

void Rotation::set(const std::vector<double>& frequencies, int64_t position) {
  cosine.resize(frequencies.size());
  sine.resize(frequencies.size());
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double angle = static_cast<double>(position) * frequencies[i];
    cosine[i] = static_cast<float>(std::cos(angle));
    sine[i] = static_cast<float>(std::sin(angle));
  }
}

void Program::reserve_rows(int64_t rows, int64_t index_rows) {
  const int64_t lanes = head_groups() * kLanes;
  if (row_capacity < rows) {
    const int64_t count = rows + rows / 2 + kSpareRows;  // grows rarely, not token by token
    const int64_t widest = (size.head_width / kLanes + pool->threads() - 1) / pool->threads() * kLanes;
    for (Own& mine : own) {
      mine.head_scores = Floats(count * kLanes);
      mine.rows = Floats(std::max(count * widest, kRowUnit * size.head_width));  // a share of channels, or a few rows
    }
    shared.head_scores = Floats(count * lanes);
    row_capacity = count;
  }
  if (index_capacity < index_rows) {
    const int64_t count = index_rows + index_rows / 2 + kSpareRows;
    for (Own& mine : own) {
      mine.ids.resize(size.top_k);
      mine.order.resize(count + kLanes);  // both are filled in whole vectors or blocks
    }
    shared.row_scores = Floats(count + kBlockRows);
    index_capacity = count;
  }
}

std::unique_ptr<Program> make_program(Pool* pool, const HbModel& model, std::string& complaint) {
  try {
    check_sizes(model);
    auto program = std::make_unique<Program>(pool);
    check_ratios(model, *program);
    program->size = model;
    const int64_t pairs = model.rotary_width / 2;
    program->plain_frequencies.assign(model.plain_frequencies, model.plain_frequencies + pairs);
    program->compressed_frequencies.assign(model.compressed_frequencies, model.compressed_frequencies + pairs);
    const Reader ends("the model's ");
    program->embedding = ends.matrix("embedding", model.embedding, model.vocab, model.hidden);
    program->output = ends.matrix("output", model.output, model.vocab, model.hidden);
    program->output_mixer = ends.mixer("output mixer", model.output_mixer, kStreams, 1, model.hidden);
    program->output_norm = ends.vector("output norm", model.output_norm, model.hidden);
    for (int64_t i = 0; i < model.layers; ++i) {
      const Reader read("layer " + std::to_string(i) + "'s ");
      Layer layer{};
      layer.ratio = model.layer[i].ratio;
      read_attention(read, model, model.layer[i], layer);
      read_experts(read, model, model.layer[i], layer);
      program->layers.push_back(layer);
    }
    allocate(*program);
    return program;
  } catch (const Misfit& misfit) {
    complaint = misfit.text;
  } catch (const std::bad_alloc&) {
    complaint = "there is not enough memory for the decode program";
  }
  return nullptr;
}

// --- a token ---------------------------------------------------------------------------------------------------

namespace {

bool rolling_fits(const Compressor& c, const float* values, const float* scores, int64_t count) {
  return values && scores && count == (c.overlaps() ? 2 : 1) * c.ratio * c.lanes();
}

HbDecodeStatus check_layer(const Program& p, const Layer& layer, const HbLayerState& s, const HbToken& token) {
  const int64_t element = token.rounding ? 2 : 4, row = p.size.head_width * element;
  if (!s.ring || s.ring_bytes != p.size.window * row) return kBadState;
  if (!layer.ratio) return kDecoded;
  if (!s.rows || !rolling_fits(layer.compressor, s.values, s.scores, s.rolling_count)) return kBadState;
  const int64_t visible = (token.position + 1) / layer.ratio;
  if (visible > s.rows_bytes / row) return kStateFull;
  if (!layer.indexed()) return kDecoded;
  const Compressor& own = layer.index_compressor;
  if (!s.index_rows || !rolling_fits(own, s.index_values, s.index_scores, s.index_rolling_count)) return kBadState;
  return visible > s.index_rows_bytes / (p.size.index_width * element) ? kStateFull : kDecoded;
}

}  // namespace

HbDecodeStatus check_token(const Program& p, const HbToken& token) {
  if (token.token < 0 || token.token >= p.size.vocab) return kBadToken;
  if (token.position < 0 || token.position >= kLargest) return kBadPosition;
  if (token.selects < 0 || token.selects > 1 || token.rounding < 0 || token.rounding > 2) return kBadMode;
  if (!token.logits || token.logits_count != p.size.vocab) return kBadLogits;
  if (!token.state || token.layers != p.size.layers) return kBadState;
  for (int64_t i = 0; i < p.size.layers; ++i) {
    const Layer& layer = p.layers[i];
    const HbDecodeStatus status = check_layer(p, layer, token.state[i], token);
    if (status != kDecoded) return status;
    for (int64_t slot = 0; layer.router_table && slot < p.size.experts_used; ++slot) {
      const int32_t expert = layer.router_table[token.token * p.size.experts_used + slot];
      if (expert < 0 || expert >= p.size.experts) return kBadRouting;
    }
  }
  return kDecoded;
}

}  // namespace haloband::decode
