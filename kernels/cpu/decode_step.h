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
  template <size_t N>
  void multiply(const Product (&products)[N], int count) const {
    multiply_share(products, count, worker, workers);
  }
};

// The mixed and normed input of a sublayer goes to own().x; the return value is needed to expand its output. One phase.
struct Mixing;
Mixing enter_sublayer(const Step& step, const Mixer& mixer, const float* norm);

// Attention and experts of one layer: from own().x to the streams, ring and rows of the layer's state included.
void run_attention(const Step& step, const Layer& layer, const HbLayerState& state, const Mixing& mixing);
void run_experts(const Step& step, const Layer& layer, const Mixing& mixing);

}  // namespace haloband::decode
