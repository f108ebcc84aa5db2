// The experts' sublayer of one token. Phases: route (each worker for itself where that is cheaper than waiting), gate and
// up, down with the combination in slot order.
#include "decode_mixer.h"
#include "decode_step.h"

namespace haloband::decode {
namespace {

constexpr int64_t kRepeatedRouter = 1 << 17;  // weights up to which every worker computes all router scores


// Experts of the token in the order of its slots, with their weights.
struct Routing {
  int64_t count;
  int64_t expert[kMostUsed];
  float weight[kMostUsed];
};

// sqrt(ln(1 + e^z)), the stable form
float gate_score(float z) { return std::sqrt(std::max(z, 0.0f) + std::log1p(std::exp(-std::fabs(z)))); }

// The `count` best of score + bias, best first; of equal ones the lower expert.
void choose_experts(const float* score, const float* bias, int64_t experts, Routing& routing) {
  for (int64_t slot = 0; slot < routing.count; ++slot) {
    int64_t best = -1;
    float top = 0;
    for (int64_t e = 0; e < experts; ++e) {
      bool taken = false;
      for (int64_t i = 0; i < slot; ++i) taken |= routing.expert[i] == e;
      const float value = score[e] + (bias ? bias[e] : 0.0f);
      if (!taken && (best < 0 || value > top)) best = e, top = value;
    }
    routing.expert[slot] = best;
  }
}

// Scores of all experts, or of those that the token-id table names, into own().router.
void score_experts(const Step& step, const Layer& layer, const Routing& named) {
  const HbModel& size = step.size();
  float* score = step.own().router.data();
  const float* x = step.own().x.data();
  if (layer.router_table) {
    for (int64_t i = 0; i < named.count; ++i) layer.router.multiply(x, named.expert[i], 1, score + named.expert[i]);
    return;
  }
  if (size.experts * size.hidden <= kRepeatedRouter) {
    layer.router.multiply(x, 0, size.experts, score);
    return;
  }
  float* all = step.shared().router.data();
  step.multiply({&layer.router, x, all});
  step.meet();
  std::memcpy(score, all, sizeof(float) * size.experts);
}

Routing route(const Step& step, const Layer& layer) {
  const HbModel& size = step.size();
  Routing routing;
  routing.count = size.experts_used;
  for (int64_t i = 0; layer.router_table && i < routing.count; ++i) {
    routing.expert[i] = layer.router_table[step.token.token * routing.count + i];
  }
  score_experts(step, layer, routing);
  float* score = step.own().router.data();
  if (!layer.router_table) {
    for (int64_t e = 0; e < size.experts; ++e) score[e] = gate_score(score[e]);
    choose_experts(score, layer.router_bias, size.experts, routing);
  }
  float sum = 0;
  for (int64_t i = 0; i < routing.count; ++i) {
    const float found = score[routing.expert[i]];
    routing.weight[i] = layer.router_table ? gate_score(found) : found;
    sum += routing.weight[i];
  }
  const float scale = static_cast<float>(size.expert_scale);
  for (int64_t i = 0; i < routing.count; ++i) routing.weight[i] = routing.weight[i] / (sum + 1e-20f) * scale;
  return routing;
}

// weight * silu(min(gate . x, limit)) * clamp(up . x, -limit, limit) of sixteen rows from `row` on.
void activate(const Weights& gate, const Weights& up, const float* x, int64_t row, float limit, float weight,
              float* out) {
  float gated[kLanes], raised[kLanes];
  gate.multiply(x, row, kLanes, gated);
  up.multiply(x, row, kLanes, raised);
  const F32x16 clamped = at_least(splat(-limit), at_most(splat(limit), load(raised)));
  store(out + row, silu(at_most(splat(limit), load(gated))) * clamped * splat(weight));
}

// One expert's matrices, and where its activations go.
struct Expert {
  Weights gate, up;
  float weight;
  float* out;
};

// The expert of a slot; the slot after the routed ones is the shared expert.
Expert expert_of(const Step& step, const Layer& layer, const Routing& routing, int64_t slot) {
  if (slot == routing.count) return {layer.shared_gate, layer.shared_up, 1.0f, step.shared().shared_activations.data()};
  const int64_t width = step.size().expert_width, expert = routing.expert[slot];
  return {layer.expert_gate.stacked(expert, width), layer.expert_up.stacked(expert, width), routing.weight[slot],
          step.shared().activations.data() + slot * width};
}

// Units of sixteen rows: those of every routed expert, slot by slot, then the shared expert's.
void gate_and_up(const Step& step, const Layer& layer, const Routing& routing) {
  const HbModel& size = step.size();
  const int64_t units = size.expert_width / kLanes, routed = routing.count * units;
  const Range mine = step.share(routed + size.shared_width / kLanes);
  const auto slot_of = [&](int64_t unit) { return std::min(unit / units, routing.count); };
  for (int64_t unit = mine.first; unit < mine.last; ++unit) {
    const int64_t slot = slot_of(unit), row = (unit - slot * units) * kLanes;
    if (slot_of(unit + 1) != slot && unit + 1 < mine.last) {
      const Expert next = expert_of(step, layer, routing, slot + 1);
      prefetch(next.gate.data);
      prefetch(next.up.data);
    }
    const Expert e = expert_of(step, layer, routing, slot);
    activate(e.gate, e.up, step.own().x.data(), row, layer.swiglu_limit, e.weight, e.out);
  }
}

// Where channel `first` starts in the down matrix of every routed expert.
void down_rows(const Layer& layer, const Routing& routing, int64_t hidden, int64_t first,
               const uint8_t* (&start)[kMostUsed]) {
  for (int64_t i = 0; i < routing.count; ++i) start[i] = layer.expert_down.row(routing.expert[i] * hidden + first);
}

// A share of the channels: routed experts in slot order, then the shared one, then the streams.
void down_and_combine(const Step& step, const Layer& layer, const Routing& routing, const Mixing& mixing,
                      const Mixer* next) {
  const HbModel& size = step.size();
  Shared& s = step.shared();
  const Range channels = step.share(size.hidden / kLanes);
  const Weights& down = layer.expert_down;
  const uint8_t* start[kMostUsed];
  down_rows(layer, routing, size.hidden, channels.first * kLanes, start);
  for (int64_t i = 0; i < routing.count; ++i) prefetch(start[i]);
  prefetch(layer.shared_down.row(channels.first * kLanes));
  step.meet();
  MixerAhead ahead(step, next, channels.last - channels.first);
  for (int64_t unit = channels.first; unit < channels.last; ++unit) {
    float y[kLanes], shared[kLanes];
    down_rows(layer, routing, size.hidden, unit * kLanes, start);
    down.codec->sum_products(start, routing.count, down.row_bytes, kLanes, down.cols, s.activations.data(), y);
    layer.shared_down.multiply(s.shared_activations.data(), unit * kLanes, kLanes, shared);
    ahead.fetch_piece();
    store(y, load(y) + load(shared));
    expand(s.streams.data(), mixing, y, size.hidden, unit * kLanes, (unit + 1) * kLanes);
  }
  step.meet();
}

}  // namespace

void run_experts(const Step& step, const Layer& layer, const Mixing& mixing, const Mixer* next) {
  const Routing routing = route(step, layer);
  gate_and_up(step, layer, routing);
  down_and_combine(step, layer, routing, mixing, next);
}

}  // namespace haloband::decode
