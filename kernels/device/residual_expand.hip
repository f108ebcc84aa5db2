// The way back from a sublayer: S'[k] = post[k] y + sum over j of comb[j, k] S[j], four channels of all streams a thread.
//
//   K_STREAMS, K_HIDDEN   4, 4096 (V4-Flash); 4, 384 (embedded)
#include "overlap.h"
#include "residual_streams.h"

using namespace hb;

constexpr u32 QUADS = K_HIDDEN / 4;
static_assert(K_HIDDEN % 4 == 0);

// streams, out [tokens, 4, K_HIDDEN] (out may be streams), y [tokens, K_HIDDEN]. Grid (QUADS / 256, tokens).
KERNEL(256) residual_expand(const float* streams, const float* y, const float* post, const float* comb, float* out) {
    allow_next();
    await_inputs();
    const u32 quad = group_x() * 256 + thread_index();
    if (quad >= QUADS) return;
    const u64 token = group_y(), base = token * K_STREAMS * QUADS + quad;
    F32x4 value[K_STREAMS];
    load_streams(value, (const F32x4*)streams + base, QUADS);
    expand_streams(value, ((const F32x4*)y)[token * QUADS + quad], post + token * 4, comb + token * 16);
    store_streams(value, (F32x4*)out + base, QUADS);
}
EXPORT_KERNEL(residual_expand)
