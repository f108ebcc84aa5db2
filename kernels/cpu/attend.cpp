// Attention of a whole step: tiles of neighbouring queries, handed out to the pool. A tile converts the raw rows its
// queries share once; each query then runs alone through the pieces of attention.h, so a tile's size changes no bit.
#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "attention.h"

namespace haloband {
namespace {

constexpr int64_t kTileTokens = 16;
constexpr int64_t kResidentBytes = 1 << 20;  // compressed rows of a query are kept as float32 if they fit in this

// The rows a query sees, in the order of the contract: raw rows [raw_first, raw_last), then `compressed` rows, which
// are those listed in `ids`, or 0 .. compressed - 1 where ids is null.
struct Seen {
  int64_t raw_first, raw_last, compressed;
  const int32_t* ids;
};

// Scratch memory of one worker.
struct Arena {
  std::unique_ptr<float[]> raw, rows, scores, q16, out16;
  std::unique_ptr<int32_t[]> ids;
};

class Step {
 public:
  explicit Step(const HbAttend& arguments) : a(arguments) {
    const int64_t most_visible = visible(a.tokens - 1);
    most_compressed_ = a.ids ? std::min(most_visible, a.id_stride) : most_visible;
    in_place_ = !a.ids && a.row_format == kF32;
    capacity_ = in_place_ ? most_compressed_ : std::min(most_compressed_, kResidentBytes / (a.width * 4));
  }

  Arena arena() const {
    Arena m;
    m.raw.reset(new float[std::min(a.prior + a.tokens, a.window + kTileTokens - 1) * a.width]);
    m.rows.reset(new float[in_place_ ? 0 : capacity_ * a.width]);
    m.scores.reset(new float[(a.window + most_compressed_) * kLanes]);
    m.q16.reset(new float[a.width * kLanes]);
    m.out16.reset(new float[a.width * kLanes]);
    m.ids.reset(new int32_t[a.ids ? a.id_stride : 0]);
    return m;
  }

  // Queries [first, last), at most kTileTokens of them.
  void tile(int64_t first, int64_t last, Arena& m) const {
    const int64_t raw_begin = raw_first(first);
    const float* raw = rows_as_f32(a.raw, raw_begin, a.prior + last - raw_begin, m.raw.get());
    const bool shared = !a.ids && !in_place_ && visible(last - 1) <= capacity_;
    if (shared) load_compressed(nullptr, 0, visible(last - 1), m.rows.get());
    for (int64_t t = first; t < last; ++t) {
      const Seen seen = see(t, m.ids.get());
      const bool resident = in_place_ || seen.compressed <= capacity_;
      if (resident && !shared && !in_place_) load_compressed(seen.ids, 0, seen.compressed, m.rows.get());
      for (int64_t head = 0; head < a.heads; head += kLanes) {
        query(t, head, seen, raw + (seen.raw_first - raw_begin) * a.width, resident, m);
      }
    }
  }

 private:
  int64_t raw_first(int64_t t) const { return std::max<int64_t>(0, a.prior + t - (a.window - 1)); }
  int64_t visible(int64_t t) const { return a.ratio ? std::min(a.compressed_rows, (a.start + t + 1) / a.ratio) : 0; }

  // The common list, ascending and in sight, is used as it is. Otherwise ids outside [0, V(t)) are dropped and the
  // others sorted, each once, so that no list can read outside the rows.
  Seen see(int64_t t, int32_t* scratch) const {
    Seen seen{raw_first(t), a.prior + t + 1, visible(t), nullptr};
    if (!a.ids) return seen;
    const int32_t* listed = a.ids + t * a.id_stride;
    const int64_t count = std::min<int64_t>(std::max<int32_t>(a.id_counts[t], 0), a.id_stride);
    const int64_t rows = seen.compressed;
    bool ascending = true;
    for (int64_t i = 1; i < count; ++i) ascending &= listed[i - 1] < listed[i];
    if (ascending && (count == 0 || (listed[0] >= 0 && listed[count - 1] < rows))) {
      seen.ids = listed;
      seen.compressed = count;
      return seen;
    }
    int32_t* end = std::copy_if(listed, listed + count, scratch, [rows](int32_t id) { return id >= 0 && id < rows; });
    std::sort(scratch, end);
    seen.ids = scratch;
    seen.compressed = std::unique(scratch, end) - scratch;
    return seen;
  }

  const float* rows_as_f32(const void* rows, int64_t first, int64_t count, float* scratch) const {
    if (a.row_format == kF32) return static_cast<const float*>(rows) + first * a.width;
    to_f32(rows, a.row_format, first * a.width, count * a.width, scratch);
    return scratch;
  }

  // Entries [first, first + count) of a list of compressed rows into out[count][width].
  void load_compressed(const int32_t* ids, int64_t first, int64_t count, float* out) const {
    if (!ids) return to_f32(a.compressed, a.row_format, first * a.width, count * a.width, out);
    for (int64_t r = 0; r < count; ++r) {
      to_f32(a.compressed, a.row_format, ids[first + r] * a.width, a.width, out + r * a.width);
    }
  }

  // Calls use(rows, first, count) over the compressed rows of a query in order; `resident` ones are loaded already.
  template <typename Use>
  void each_chunk(const Seen& seen, bool resident, float* scratch, Use&& use) const {
    if (resident) {
      const float* rows = in_place_ ? static_cast<const float*>(a.compressed) : scratch;
      if (seen.compressed) use(rows, int64_t{0}, seen.compressed);
      return;
    }
    for (int64_t first = 0; first < seen.compressed; first += capacity_) {
      const int64_t count = std::min(capacity_, seen.compressed - first);
      load_compressed(seen.ids, first, count, scratch);
      use(static_cast<const float*>(scratch), first, count);
    }
  }

  // Sixteen heads of one query; `raw` points at its first raw row.
  void query(int64_t t, int64_t head, const Seen& seen, const float* raw, bool resident, Arena& m) const {
    const float *cosine = a.cosine + t * a.pairs, *sine = a.sine + t * a.pairs;
    const int64_t row = a.heads * a.width, raw_rows = seen.raw_last - seen.raw_first;
    const char* q_row = static_cast<const char*>(a.q) + t * row * (a.q_format == kF32 ? 4 : 2);
    char* out_row = static_cast<char*>(a.out) + t * row * (a.out_format == kF32 ? 4 : 2);
    float *q16 = m.q16.get(), *out16 = m.out16.get(), *scores = m.scores.get();
    float* compressed_scores = scores + raw_rows * kLanes;

    prepare_query(q_row, a.q_format, a.heads, head, a.width, a.pairs, cosine, sine, a.eps, q16);
    score_rows(q16, raw, raw_rows, a.width, scores);
    each_chunk(seen, resident, m.rows.get(), [&](const float* rows, int64_t first, int64_t count) {
      score_rows(q16, rows, count, a.width, compressed_scores + first * kLanes);
    });
    const F32x16 scale = softmax_rows(scores, raw_rows + seen.compressed, load_sinks(a.sinks, a.heads, head));
    weigh_rows(scores, raw, raw_rows, a.width, 0, a.width, false, out16);
    each_chunk(seen, resident, m.rows.get(), [&](const float* rows, int64_t first, int64_t count) {
      weigh_rows(compressed_scores + first * kLanes, rows, count, a.width, 0, a.width, true, out16);
    });
    finish_output(out16, scale, a.heads, head, a.width, a.pairs, cosine, sine, out_row, a.out_format);
  }

  const HbAttend& a;
  int64_t most_compressed_, capacity_;
  bool in_place_;  // the compressed rows are float32 and consecutive: no copy is needed
};

}  // namespace
}  // namespace haloband

HB_EXPORT int64_t hb_sizeof_attend(void) { return sizeof(HbAttend); }

HB_EXPORT int64_t hb_attend(void* pool_handle, const HbAttend* arguments) {
  using namespace haloband;
  Pool& pool = *static_cast<Pool*>(pool_handle);
  const Step step(*arguments);
  const int64_t tokens = arguments->tokens, share = 4 * pool.threads();
  const int64_t size = std::clamp<int64_t>((tokens + share - 1) / share, 1, kTileTokens);
  try {
    std::vector<Arena> arenas;
    for (int worker = 0; worker < pool.threads(); ++worker) arenas.push_back(step.arena());
    pool.each_index((tokens + size - 1) / size, [&](int64_t tile, int worker) {
      step.tile(tile * size, std::min(tokens, (tile + 1) * size), arenas[worker]);
    });
  } catch (const std::bad_alloc&) {
    return 1;
  }
  return 0;
}
