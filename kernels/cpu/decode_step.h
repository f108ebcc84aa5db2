// One worker's view of the token being computed, and the two sublayers that all workers walk through together.
//
// A phase is what lies between two barriers: each worker writes its own share of the shared scratch memory, then waits.
// What a phase reads was written before the last barrier, so workers never depend on each other's pace.
#pragma once

#include "decode_program.h"

namespace haloband::decode {

struct Step {
  Program& p;
  const HbToken& token;
  int worker, workers;

  Shared& shared() const { return p.shared; }
  Own& own() const { return p.own[worker]; }
  const HbModel& size() const { return p.size; }
  void meet() const { p.barrier.wait(); }
  bool last_worker() const { return worker == workers - 1; }
  Range share(int64_t units) const { return share_of(units, worker, workers); }
  void multiply(const Product* products, int count) const { multiply_share(products, count, worker, workers); }
  void multiply(const Product& product) const { multiply_share(&product, 1, worker, workers); }
  void prefetch(const Weights& weights) const {
    const Product product{&weights, nullptr, nullptr};
    prefetch_share(&product, 1, worker, workers);
  }
};

// The next mixer's rows of a worker, fetched piece by piece while the phase before it computes: a mixer is the largest
// matrix that is read once and for little work.
class MixerAhead {
 public:
  MixerAhead(const Step& step, const Mixer* mixer, int64_t pieces) {
    if (!mixer) return;
    const Weights& weights = mixer->weight;
    const Range groups = step.share((weights.rows + kGroupRows - 1) / kGroupRows);
    next_ = weights.row(groups.first * kGroupRows);
    end_ = weights.row(std::min(groups.last * kGroupRows, weights.rows));
    piece_ = (end_ - next_) / std::max<int64_t>(pieces, 1) + 64;
  }
  void fetch_piece() {
    const uint8_t* stop = std::min(next_ + piece_, end_);
    if (next_ < stop) prefetch(next_, stop - next_);
    next_ = stop;
  }

 private:
  const uint8_t *next_ = nullptr, *end_ = nullptr;
  int64_t piece_ = 0;
};

// The mixed and normed input of a sublayer goes to own().x; the return value is needed to expand its output. One phase.
// `next` is a matrix that the sublayer begins with.
struct Mixing;
Mixing enter_sublayer(const Step& step, const Mixer& mixer, const float* norm, const Weights& next);

// Attention and experts of one layer: from own().x to the streams, ring and rows of the layer's state included. `next`
// is the mixer after the experts, or null.
void run_attention(const Step& step, const Layer& layer, const HbLayerState& state, const Mixing& mixing);
void run_experts(const Step& step, const Layer& layer, const Mixing& mixing, const Mixer* next);

}  // namespace haloband::decode
