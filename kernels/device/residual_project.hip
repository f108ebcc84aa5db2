// Residual mixing, first half: the mixing logits of every token's four streams, before their RMS scale, as partial sums
// over K_SPLITS pieces; a piece is a range of channels in all streams. With K_EXPANDS the streams are first taken back from
// the sublayer before (residual_expand), so that they are read once. The pieces and the order of additions inside one are
// the same for every K_TOKENS, so a token's logits do not depend on its batch; residual_finish adds the pieces in order.
//
//   K_STREAMS, K_HIDDEN   4, 4096 (V4-Flash); 4, 384 (embedded)
//   K_OUTPUTS             24 (a sublayer's mixer) or 4 (the final collapse)
//   K_SPLITS              32, or less where K_HIDDEN / 4 is no multiple of it
//   K_TOKENS              tokens a workgroup: 16 share each row of the mixer; 1 where there are few, for speed
//   K_EXPANDS             1: streams become S'[k] = post[k] y + sum over j of comb[j, k] S[j]
#include "overlap.h"
#include "residual_streams.h"

using namespace hb;

constexpr u32 THREADS = 256, WAVES = THREADS / WAVE;
constexpr u32 QUADS = K_HIDDEN / 4 / K_SPLITS, PIECE = K_STREAMS * QUADS;  // of one stream, of all; in groups of four
constexpr u32 COLUMNS = (K_TOKENS * QUADS + THREADS - 1) / THREADS;  // columns of four channels that a thread brings
constexpr u32 STEPS = (PIECE + WAVE - 1) / WAVE;
constexpr u32 TOKENS_A_WAVE = K_TOKENS < 8 ? K_TOKENS : 8, OUTPUT_GROUPS = WAVES * TOKENS_A_WAVE / K_TOKENS;
constexpr u32 OUTPUTS_A_WAVE = (K_OUTPUTS + OUTPUT_GROUPS - 1) / OUTPUT_GROUPS;
constexpr u32 STEPS_AHEAD = K_TOKENS == 1 ? STEPS : 1;  // of the mixer's rows, while the streams are on their way
constexpr u32 STEPS_UNROLLED = K_TOKENS == 1 ? STEPS : 2;
static_assert(K_HIDDEN % (K_SPLITS * 4) == 0 && K_TOKENS % TOKENS_A_WAVE == 0 && WAVES * TOKENS_A_WAVE % K_TOKENS == 0);

DEVICE float dot(const F32x4& a, const F32x4& b, float sum) {
    return fused(a.w, b.w, fused(a.z, b.z, fused(a.y, b.y, fused(a.x, b.x, sum))));
}

// A lane's part of a piece at a step, stream-major: `at` in the piece, and where that stands in a token's streams.
DEVICE u32 in_piece(u32 step) { return step * WAVE + lane(); }
DEVICE u32 in_streams(u32 at, u32 split) { return at / QUADS * (K_HIDDEN / 4) + split * QUADS + at % QUADS; }

DEVICE void load_weights(F32x4 (&weight)[OUTPUTS_A_WAVE], const float* fn, u32 step, u32 split) {
    const u32 at = smaller(in_piece(step), PIECE - 1);
#pragma unroll
    for (u32 o = 0; o < OUTPUTS_A_WAVE; ++o) {
        const u32 output = smaller(wave() % OUTPUT_GROUPS * OUTPUTS_A_WAVE + o, K_OUTPUTS - 1);
        weight[o] = ((const F32x4*)fn)[output * (K_STREAMS * K_HIDDEN / 4) + in_streams(at, split)];
    }
}

// streams [tokens, 4, K_HIDDEN], fn [K_OUTPUTS, 4 K_HIDDEN] -> partial [tokens, K_SPLITS, K_OUTPUTS + 1]: the dot products,
// then the sum of squares. With K_EXPANDS streams change in place, by y [tokens, K_HIDDEN], post [tokens, 4] and comb
// [tokens, 4, 4]. Grid (tokens / K_TOKENS, K_SPLITS); a wave owns OUTPUTS_A_WAVE outputs of TOKENS_A_WAVE tokens.
KERNEL(THREADS) residual_project(float* streams, const float* y, const float* post, const float* comb, const float* fn,
                                 float* partial, u32 tokens) {
    SHARED F32x4 tile[K_TOKENS][PIECE];
    const u32 first = group_x() * K_TOKENS, split = group_y();
    F32x4 ahead[STEPS_AHEAD][OUTPUTS_A_WAVE];
#pragma unroll
    for (u32 step = 0; step < STEPS_AHEAD; ++step) load_weights(ahead[step], fn, step, split);
    allow_next();
    await_inputs();

#pragma unroll
    for (u32 c = 0; c < COLUMNS; ++c) {
        const u32 at = c * THREADS + thread_index(), local = at / QUADS, quad = at % QUADS;
        if (at >= K_TOKENS * QUADS) continue;
        F32x4 value[K_STREAMS] = {};
        if (first + local < tokens) {
            const u64 token = first + local;
            F32x4* column = (F32x4*)streams + token * K_HIDDEN + split * QUADS + quad;
            load_streams(value, column, K_HIDDEN / 4);
            if constexpr (K_EXPANDS) {
                const F32x4 fresh = ((const F32x4*)y)[token * (K_HIDDEN / 4) + split * QUADS + quad];
                expand_streams(value, fresh, post + token * 4, comb + token * 16);
                store_streams(value, column, K_HIDDEN / 4);
            }
        }
#pragma unroll
        for (u32 j = 0; j < K_STREAMS; ++j) tile[local][j * QUADS + quad] = value[j];
    }
    barrier();

    const u32 column = wave() / OUTPUT_GROUPS * TOKENS_A_WAVE;
    float sums[OUTPUTS_A_WAVE][TOKENS_A_WAVE];
#pragma unroll
    for (u32 o = 0; o < OUTPUTS_A_WAVE; ++o)
#pragma unroll
        for (u32 t = 0; t < TOKENS_A_WAVE; ++t) sums[o][t] = 0.0f;
#pragma unroll STEPS_UNROLLED
    for (u32 step = 0; step < STEPS; ++step) {
        F32x4(&weight)[OUTPUTS_A_WAVE] = ahead[step % STEPS_AHEAD];
        if (step >= STEPS_AHEAD) load_weights(weight, fn, step, split);
        if (in_piece(step) >= PIECE) continue;
#pragma unroll
        for (u32 t = 0; t < TOKENS_A_WAVE; ++t) {
            const F32x4 value = tile[column + t][in_piece(step)];
#pragma unroll
            for (u32 o = 0; o < OUTPUTS_A_WAVE; ++o) sums[o][t] = dot(weight[o], value, sums[o][t]);
        }
    }

    constexpr u64 ROW = K_OUTPUTS + 1;
#pragma unroll
    for (u32 o = 0; o < OUTPUTS_A_WAVE; ++o) {
        const float sum = wave_sums(sums[o]);
        const u32 output = wave() % OUTPUT_GROUPS * OUTPUTS_A_WAVE + o, token = first + column + lane();
        if (lane() < TOKENS_A_WAVE && output < K_OUTPUTS && token < tokens)
            partial[(token * K_SPLITS + split) * ROW + output] = sum;
    }
    for (u32 local = wave(); local < K_TOKENS; local += WAVES) {
        float squares = 0.0f;
#pragma unroll
        for (u32 step = 0; step < STEPS; ++step)
            if (in_piece(step) < PIECE) squares = dot(tile[local][in_piece(step)], tile[local][in_piece(step)], squares);
        squares = wave_sum(squares);
        if (lane() == 0 && first + local < tokens)
            partial[((u64)(first + local) * K_SPLITS + split) * ROW + K_OUTPUTS] = squares;
    }
}
EXPORT_KERNEL(residual_project)
