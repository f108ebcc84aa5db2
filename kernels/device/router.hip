// Routing: scores sqrt(softplus(logit)), the K_USED best by score plus bias (or the token's row of a table), and weights
// from the unbiased scores. Equal scores go to the lower expert.
//
// A single token's time is that of fetching instructions, so there is one copy of the arithmetic and no unrolled round:
// a thread scores one expert of each of the workgroup's tokens, then wave w chooses for token w.
//
//   K_EXPERTS, K_USED   256, 6 (V4-Flash); 16, 6 (embedded); 160 in pruned files
//   K_HASHED            1: experts come from the token-id table
#include "overlap.h"

using namespace hb;

constexpr u32 THREADS = 256, TOKENS = THREADS / WAVE, SLOTS = (K_EXPERTS + WAVE - 1) / WAVE;
static_assert(K_EXPERTS <= THREADS && K_USED <= WAVE);

struct Scores {
    float score[TOKENS][SLOTS * WAVE];
    u32 rank[TOKENS][SLOTS * WAVE];  // ordered bits of score plus bias; 0, below all of them, once chosen
};

// All threads: fills `s` for the workgroup's tokens.
DEVICE void score_tokens(Scores& s, const float* logits, const float* bias, u32 first, u32 tokens) {
    const u32 expert = thread_index(), count = smaller(TOKENS, tokens - first);
    if (expert >= SLOTS * WAVE) return;
    const bool is_there = expert < K_EXPERTS;
    const float own_bias = bias && is_there ? bias[expert] : 0.0f;
#pragma unroll
    for (u32 t = 0; t < TOKENS; ++t)
        if (t < count) s.score[t][expert] = is_there ? logits[(u64)(first + t) * K_EXPERTS + expert] : 0.0f;
#pragma unroll 1
    for (u32 t = 0; t < count; ++t) {
        const float score = square_root(softplus(s.score[t][expert]));
        s.score[t][expert] = score;
        s.rank[t][expert] = is_there ? ordered_bits(score + own_bias) : 0;
    }
}

// One wave: the expert of lane k is the k-th best.
DEVICE u32 choose_best(u32* ranks) {
    u32 rank[SLOTS], chosen = 0;
#pragma unroll
    for (u32 i = 0; i < SLOTS; ++i) rank[i] = ranks[i * WAVE + lane()];
#pragma unroll 1
    for (u32 k = 0; k < K_USED; ++k) {
        u32 best = rank[0], at = lane();
#pragma unroll
        for (u32 i = 1; i < SLOTS; ++i)
            if (rank[i] > best) best = rank[i], at = i * WAVE + lane();
        const u32 top = wave_max(best), expert = wave_min(best == top ? at : 0xffffffffu);
#pragma unroll
        for (u32 i = 0; i < SLOTS; ++i)
            if (i * WAVE + lane() == expert) rank[i] = 0;
        if (lane() == k) chosen = expert;
    }
    return chosen;
}

// logits [tokens, K_EXPERTS]; bias [K_EXPERTS] or null; table [vocabulary, K_USED] and token_ids [tokens] when hashed.
// experts, weights [tokens, K_USED]. Grid (tokens / 8).
KERNEL(256) router(const float* logits, const float* bias, const i32* table, const i32* token_ids, i32* experts,
                   float* weights, u32 tokens, float expert_scale) {
    allow_next();
    await_inputs();
    const u32 first = group_x() * TOKENS, token = first + wave();
    u32 expert = 0;
    float score = 0.0f;
    if constexpr (K_HASHED) {
        if (token >= tokens) return;
        if (lane() < K_USED) {
            expert = (u32)table[(u64)token_ids[token] * K_USED + lane()];
            score = square_root(softplus(logits[(u64)token * K_EXPERTS + expert]));
        }
    } else {
        SHARED Scores s;
        score_tokens(s, logits, bias, first, tokens);
        barrier();
        if (token >= tokens) return;
        expert = choose_best(s.rank[wave()]);
        score = s.score[wave()][expert];
    }
    float total = 0.0f;
#pragma unroll
    for (u32 k = 0; k < K_USED; ++k) total += lane_read(score, k);
    if (lane() < K_USED) {
        experts[token * K_USED + lane()] = (i32)expert;
        weights[token * K_USED + lane()] = score / total * expert_scale;
    }
}
EXPORT_KERNEL(router)
