// The token loop and the C functions of decode.h: embedding, every layer's two sublayers, logits.
#include "decode.h"

#include <algorithm>
#include <cstdio>
#include <new>

#include "decode_mixer.h"
#include "decode_step.h"

namespace haloband::decode {

Mixing enter_sublayer(const Step& step, const Mixer& mixer, const float* norm, const Weights& next) {
  const HbModel& size = step.size();
  const float* streams = step.shared().streams.data();
  float *logits = step.shared().mixing.data(), *x = step.own().x.data();
  step.multiply({&mixer.weight, streams, logits});
  const float inverse = inverse_rms(streams, kStreams * size.hidden, size.rms_eps);
  step.prefetch(next);
  step.meet();
  const Mixing mixing = finish_mixing(logits, mixer, inverse, size);
  collapse(streams, mixing.pre, size.hidden, x);
  normalise(x, norm, size.hidden, size.rms_eps, x);
  return mixing;
}

namespace {

void embed(const Step& step) {
  if (step.worker == 0) {
    const HbModel& size = step.size();
    const Weights& table = step.p.embedding;
    float* streams = step.shared().streams.data();
    table.codec->unpack_row(table.data + step.token.token * table.row_bytes, table.cols, streams);
    for (int64_t j = 1; j < kStreams; ++j) {
      std::memcpy(streams + j * size.hidden, streams, sizeof(float) * size.hidden);
    }
  }
  step.meet();
}

// The final collapse is short enough for every worker to repeat it.
void write_logits(const Step& step) {
  const HbModel& size = step.size();
  const Mixer& mixer = step.p.output_mixer;
  const float* streams = step.shared().streams.data();
  float m[kStreams], weight[kLanes] = {}, *x = step.own().x.data();
  mixer.weight.multiply(streams, 0, kStreams, m);
  const float inverse = inverse_rms(streams, kStreams * size.hidden, size.rms_eps);
  for (int j = 0; j < kStreams; ++j) weight[j] = mixer.scale[0] * (m[j] * inverse) + mixer.base[j];
  store(weight, sigmoid(load(weight)));
  for (int j = 0; j < kStreams; ++j) m[j] = weight[j] + static_cast<float>(size.mixer_eps);
  collapse(streams, m, size.hidden, x);
  normalise(x, step.p.output_norm, size.hidden, size.rms_eps, x);
  step.multiply({&step.p.output, x, step.token.logits});
}

void run_worker(const Step& step) {
  embed(step);
  for (size_t i = 0; i < step.p.layers.size(); ++i) {
    const Layer& layer = step.p.layers[i];
    Mixing mixing = enter_sublayer(step, layer.attention_mixer, layer.attention_norm, layer.q_a);
    run_attention(step, layer, step.token.state[i], mixing);
    mixing = enter_sublayer(step, layer.experts_mixer, layer.experts_norm, layer.router);
    const bool last = i + 1 == step.p.layers.size();
    run_experts(step, layer, mixing, last ? nullptr : &step.p.layers[i + 1].attention_mixer);
  }
  write_logits(step);
}

// Everything that may fail, before the first write to the caller's memory.
void prepare(Program& p, const HbToken& token) {
  p.plain.set(p.plain_frequencies, token.position);
  p.compressed.set(p.compressed_frequencies, token.position);
  int64_t rows = 0, scored = 0;
  for (const Layer& layer : p.layers) {
    if (!layer.ratio) continue;
    const int64_t next = token.position + 1, visible = next / layer.ratio;
    const bool chosen = layer.indexed() && token.selects && visible > p.size.top_k;
    rows = std::max(rows, chosen ? p.size.top_k : visible);
    if (chosen) scored = std::max(scored, visible);
    if (next % layer.ratio) continue;
    (layer.indexed() ? p.closed_4 : p.closed_long).set(p.compressed_frequencies, next - layer.ratio);
  }
  p.reserve_rows(std::min(p.size.window, token.position + 1) + rows, scored);
}

HbDecodeStatus run_token(Program& p, const HbToken& token) {
  const HbDecodeStatus status = check_token(p, token);
  if (status != kDecoded) return status;
  try {
    prepare(p, token);
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  }
  p.pool->each_worker([&](int worker, int workers) { run_worker(Step{p, token, worker, workers}); });
  return kDecoded;
}

}  // namespace
}  // namespace haloband::decode

using namespace haloband::decode;

HB_EXPORT void* hb_decode_create(void* pool, const HbModel* model, char* message, int64_t message_size) {
  std::string complaint;
  std::unique_ptr<Program> program = make_program(static_cast<haloband::Pool*>(pool), *model, complaint);
  if (!program && message_size > 0) std::snprintf(message, static_cast<size_t>(message_size), "%s", complaint.c_str());
  return program.release();
}

HB_EXPORT void hb_decode_destroy(void* program) { delete static_cast<Program*>(program); }

HB_EXPORT int64_t hb_decode_token(void* program, const HbToken* token) {
  Program& p = *static_cast<Program*>(program);
  if (p.busy.exchange(true, std::memory_order_acquire)) return kBusy;
  const HbDecodeStatus status = run_token(p, *token);
  p.busy.store(false, std::memory_order_release);
  return status;
}

HB_EXPORT int64_t hb_matvec(void* pool, const HbMatrix* matrix, const float* x, float* y) {
  const Weights weights = weights_of(*matrix);
  if (!weights.codec) return 0;
  const Product product{&weights, x, y};
  static_cast<haloband::Pool*>(pool)->each_worker(
      [&](int worker, int workers) { multiply_share(&product, 1, worker, workers); });
  return 1;
}

HB_EXPORT int64_t hb_unpack_row(const HbMatrix* matrix, int64_t row, float* out) {
  const Weights weights = weights_of(*matrix);
  if (!weights.codec || row < 0 || row >= weights.rows) return 0;
  weights.codec->unpack_row(weights.data + row * weights.row_bytes, weights.cols, out);
  return 1;
}

HB_EXPORT int64_t hb_decode_sizeof(int64_t index) {
  static constexpr int64_t sizes[] = {sizeof(HbMatrix),     sizeof(HbVector), sizeof(HbIntegers),   sizeof(HbMixer),
                                      sizeof(HbCompressor), sizeof(HbLayer),  sizeof(HbModel), sizeof(HbLayerState),
                                      sizeof(HbToken)};
  return index >= 0 && index < static_cast<int64_t>(std::size(sizes)) ? sizes[index] : 0;
}
