// The attention sublayer of one token. Phases: project, raise queries and keep rows, [score and choose rows], score
// rows, weigh rows, project back. The pieces of the softmax are those of the prefill (attention.h).
#include "attention.h"
#include "decode_compressor.h"
#include "decode_mixer.h"
#include "decode_rows.h"
#include "decode_step.h"
#include "select.h"

namespace haloband::decode {
namespace {

// Which rows the token attends to, in order: `raw` ring rows from position `first` on, then compressed rows.
struct Seen {
  int64_t first, raw, visible, compressed;
  bool chosen;  // compressed rows are those of own().ids, else 0 .. compressed - 1
  int64_t count() const { return raw + compressed; }
};

Seen see(const Step& step, const Layer& layer) {
  Seen seen{};
  const int64_t position = step.token.position;
  seen.first = std::max<int64_t>(0, position + 1 - step.size().window);
  seen.raw = position + 1 - seen.first;
  seen.visible = layer.ratio ? (position + 1) / layer.ratio : 0;
  seen.chosen = layer.indexed() && step.token.selects && seen.visible > step.size().top_k;
  seen.compressed = seen.chosen ? step.size().top_k : seen.visible;
  return seen;
}

void project(const Step& step, const Layer& layer, const Seen& seen) {
  Shared& s = step.shared();
  const float* x = step.own().x.data();
  Product products[7] = {{&layer.q_a, x, s.q_rank.data()}, {&layer.kv, x, s.kv.data()}};
  int count = 2;
  if (layer.ratio) {
    products[count++] = {&layer.compressor.values, x, s.values.data()};
    products[count++] = {&layer.compressor.scores, x, s.scores.data()};
  }
  if (layer.indexed()) {
    products[count++] = {&layer.index_compressor.values, x, s.index_values.data()};
    products[count++] = {&layer.index_compressor.scores, x, s.index_scores.data()};
    if (seen.chosen) products[count++] = {&layer.index_weight, x, s.index_weight.data()};
  }
  step.multiply(products, count);
  step.prefetch(layer.q_b);
  step.meet();
}

// The token's own row into the ring, and the row of a window it ends.
void keep_rows(const Step& step, const Layer& layer, const HbLayerState& state) {
  const HbModel& size = step.size();
  const int64_t position = step.token.position, rounding = step.token.rounding, format = row_format(rounding);
  Shared& s = step.shared();
  float* row = s.kv.data();
  normalise(row, layer.kv_norm, size.head_width, size.rms_eps, row);
  rotate_tail(row, size.head_width, layer.ratio ? step.p.compressed : step.p.plain);
  round_row(row, size.head_width, size.rotary_width, rounding);
  store_row(state.ring, format, position % size.window, size.head_width, row);
  if (!layer.ratio) return;
  const bool closes = (position + 1) % layer.ratio == 0;
  const int64_t index = position / layer.ratio;
  const Rotation& rotation = layer.indexed() ? step.p.closed_4 : step.p.closed_long;
  const RollingState rolling{state.values, state.scores};
  keep_token(layer.compressor, rolling, position, s.values.data(), s.scores.data());
  if (closes) {
    close_window(layer.compressor, rolling, rotation, size.rms_eps, row);
    round_row(row, size.head_width, size.rotary_width, rounding);
    store_row(state.rows, format, index, size.head_width, row);
  }
  if (!layer.indexed()) return;
  const RollingState own{state.index_values, state.index_scores};
  keep_token(layer.index_compressor, own, position, s.index_values.data(), s.index_scores.data());
  if (!closes) return;
  float* index_row = s.index_values.data();
  close_window(layer.index_compressor, own, rotation, size.rms_eps, index_row);
  round_index(index_row, size.index_width, rounding);
  store_row(state.index_rows, format, index, size.index_width, index_row);
}

// Queries of all heads and, where rows must be chosen, the indexer's; one worker also keeps the token's rows.
void raise_queries(const Step& step, const Layer& layer, const HbLayerState& state, const Seen& seen) {
  const HbModel& size = step.size();
  Shared& s = step.shared();
  if (step.last_worker()) keep_rows(step, layer, state);
  float* q_rank = step.own().q_rank.data();
  normalise(s.q_rank.data(), layer.q_a_norm, size.q_rank, size.rms_eps, q_rank);
  step.multiply({&layer.q_b, q_rank, s.queries.data()});
  if (seen.chosen) {
    const Range heads = step.share(size.index_heads);
    const int64_t width = size.index_width;
    float* queries = s.index_queries.data();
    layer.index_query.multiply(q_rank, heads.first * width, (heads.last - heads.first) * width,
                               queries + heads.first * width);
    for (int64_t h = heads.first; h < heads.last; ++h) {
      rotate_tail(queries + h * width, width, step.p.compressed);
      round_index(queries + h * width, width, step.token.rounding);
    }
  }
  step.meet();
}

// Scores every visible index row, a share each; then every worker makes the same choice into own().ids.
void choose_compressed(const Step& step, const HbLayerState& state, const Seen& seen) {
  const HbModel& size = step.size();
  Shared& s = step.shared();
  Own& own = step.own();
  const int64_t format = row_format(step.token.rounding), width = size.index_width;
  const float scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(width * size.index_heads)));
  float *weight = own.index_weight.data(), *keys = own.keys.data(), *scores = s.row_scores.data();
  for (int64_t h = 0; h < size.index_heads; ++h) weight[h] = s.index_weight.data()[h] * scale;
  const Range blocks = step.share((seen.visible + kBlockRows - 1) / kBlockRows);
  for (int64_t block = blocks.first; block < blocks.last; ++block) {
    transpose_keys(state.index_rows, format, block * kBlockRows, seen.visible, width, keys);
    score_block(s.index_queries.data(), weight, keys, size.index_heads, width, scores + block * kBlockRows);
  }
  step.meet();
  choose_rows(scores, seen.visible, size.top_k, own.order.data(), own.ids.data());
}

// Channels [first, first + count) of entry `i` of the list of rows as float32.
void load_row(const Step& step, const HbLayerState& state, const Seen& seen, int64_t i, int64_t first, int64_t count,
              float* out) {
  const int64_t width = step.size().head_width, format = row_format(step.token.rounding);
  if (i < seen.raw) {
    to_f32(state.ring, format, (seen.first + i) % step.size().window * width + first, count, out);
  } else {
    const int64_t entry = i - seen.raw;
    to_f32(state.rows, format, (seen.chosen ? step.own().ids[entry] : entry) * width + first, count, out);
  }
}

// Scores of a share of the rows for all heads. Every worker prepares the queries for itself.
void score_rows_of_token(const Step& step, const Layer& layer, const HbLayerState& state, const Seen& seen) {
  const HbModel& size = step.size();
  Shared& s = step.shared();
  float *queries = step.own().queries.data(), *rows = step.own().rows.data();
  const int64_t width = size.head_width;
  const Rotation& rotation = layer.ratio ? step.p.compressed : step.p.plain;
  for (int64_t group = 0; group < step.p.head_groups(); ++group) {
    prepare_query(s.queries.data(), kF32, size.heads, group * kLanes, width, step.p.pairs(), rotation.cosine.data(),
                  rotation.sine.data(), size.rms_eps, queries + group * width * kLanes);
  }
  const Range units = step.share((seen.count() + kRowUnit - 1) / kRowUnit);
  for (int64_t unit = units.first; unit < units.last; ++unit) {
    const int64_t first = unit * kRowUnit, count = std::min(kRowUnit, seen.count() - first);
    for (int64_t i = 0; i < count; ++i) load_row(step, state, seen, first + i, 0, width, rows + i * width);
    for (int64_t group = 0; group < step.p.head_groups(); ++group) {
      float* scores = s.head_scores.data() + (group * seen.count() + first) * kLanes;
      score_rows(queries + group * width * kLanes, rows, count, width, scores);
    }
  }
  step.meet();
}

// A share of the channels of every head: softmax over all rows, then the weighted sum of the rows. The rows are read
// again, these channels only: that is cheaper than memory which another worker has just written.
void weigh_rows_of_token(const Step& step, const Layer& layer, const HbLayerState& state, const Seen& seen) {
  const HbModel& size = step.size();
  Shared& s = step.shared();
  const Range units = step.share(size.head_width / kLanes);
  const int64_t first = units.first * kLanes, width = units.last * kLanes - first;
  float *weights = step.own().head_scores.data(), *rows = step.own().rows.data();
  for (int64_t i = 0; width && i < seen.count(); ++i) load_row(step, state, seen, i, first, width, rows + i * width);
  for (int64_t group = 0; width && group < step.p.head_groups(); ++group) {
    const float* scores = s.head_scores.data() + group * seen.count() * kLanes;
    float* out = s.weighed.data() + (group * size.head_width + first) * kLanes;
    std::memcpy(weights, scores, sizeof(float) * seen.count() * kLanes);
    const F32x16 sinks = load_sinks(layer.sinks, size.heads, group * kLanes);
    const F32x16 scale = softmax_rows(weights, seen.count(), sinks);
    weigh_rows(weights, rows, seen.count(), width, 0, width, false, out);
    for (int64_t c = 0; c < width; ++c) store(out + c * kLanes, load(out + c * kLanes) * scale);
  }
  step.prefetch(layer.out_a);
  step.meet();
}

// Rotates the heads back and projects them, group by group and then together; ends with the streams expanded.
void project_back(const Step& step, const Layer& layer, const Mixing& mixing) {
  const HbModel& size = step.size();
  Shared& s = step.shared();
  Own& own = step.own();
  const int64_t width = size.head_width;
  const Rotation& rotation = layer.ratio ? step.p.compressed : step.p.plain;
  for (int64_t group = 0; group < step.p.head_groups(); ++group) {
    finish_output(s.weighed.data() + group * width * kLanes, splat(1.0f), size.heads, group * kLanes, width,
                  step.p.pairs(), rotation.cosine.data(), rotation.sine.data(), own.output.data(), kF32);
  }
  const int64_t group_width = layer.out_a.cols, rank = size.out_rank;
  const Range units = step.share(size.out_groups * rank / kGroupRows);
  for (int64_t row = units.first * kGroupRows; row < units.last * kGroupRows;) {
    const int64_t group = row / rank, end = std::min((group + 1) * rank, units.last * kGroupRows);
    layer.out_a.multiply(own.output.data() + group * group_width, row, end - row, s.out_rank.data() + row);
    row = end;
  }
  const Range channels = step.share(size.hidden / kLanes);
  prefetch(layer.out_b.row(channels.first * kLanes));
  step.meet();
  float part[kLanes];
  MixerAhead ahead(step, &layer.experts_mixer, channels.last - channels.first);
  for (int64_t unit = channels.first; unit < channels.last; ++unit) {
    layer.out_b.multiply(s.out_rank.data(), unit * kLanes, kLanes, part);
    ahead.fetch_piece();
    expand(s.streams.data(), mixing, part, size.hidden, unit * kLanes, (unit + 1) * kLanes);
  }
  step.meet();
}

}  // namespace

void run_attention(const Step& step, const Layer& layer, const HbLayerState& state, const Mixing& mixing) {
  const Seen seen = see(step, layer);
  project(step, layer, seen);
  raise_queries(step, layer, state, seen);
  if (seen.chosen) choose_compressed(step, state, seen);
  score_rows_of_token(step, layer, state, seen);
  weigh_rows_of_token(step, layer, state, seen);
  project_back(step, layer, mixing);
}

}  // namespace haloband::decode
