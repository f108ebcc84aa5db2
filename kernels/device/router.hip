// Routing, one token a wave: scores sqrt(softplus(logit)), the K_USED best by score plus bias (or the token's row of a
// table), and weights from the unbiased scores. Equal scores go to the lower expert.
//
//   K_EXPERTS, K_USED   256, 6 (V4-Flash); 16, 6 (embedded); 160 in pruned files
//   K_HASHED            1: experts come from the token-id table
#include "portable.h"

using namespace hb;

constexpr u32 SLOTS = (K_EXPERTS + WAVE - 1) / WAVE;

// logits [tokens, K_EXPERTS]; bias [K_EXPERTS] or null; table [vocabulary, K_USED] and token_ids [tokens] when hashed.
// experts, weights [tokens, K_USED]. Grid (tokens / 8).
KERNEL(256) router(const float* logits, const float* bias, const i32* table, const i32* token_ids, i32* experts,
                   float* weights, u32 tokens, float expert_scale) {
    const u32 token = group_x() * 8 + wave();
    if (token >= tokens) return;
    float score[SLOTS], rank[SLOTS];
#pragma unroll
    for (u32 i = 0; i < SLOTS; ++i) {
        const u32 expert = i * WAVE + lane();
        score[i] = 0.0f, rank[i] = -1e38f;
        if (expert >= K_EXPERTS) continue;
        score[i] = square_root(softplus(logits[(u64)token * K_EXPERTS + expert]));
        rank[i] = bias ? score[i] + bias[expert] : score[i];
    }

    float chosen_score = 0.0f, total = 0.0f;
    u32 chosen_expert = 0;
    for (u32 k = 0; k < K_USED; ++k) {
        u32 expert;
        if constexpr (K_HASHED) {
            expert = (u32)table[(u64)token_ids[token] * K_USED + k];
        } else {
            float best = rank[0];
            u32 at = lane();
#pragma unroll
            for (u32 i = 1; i < SLOTS; ++i)
                if (rank[i] > best) best = rank[i], at = i * WAVE + lane();
            const float top = wave_max(best);
            // The lowest expert among the lanes that hold the best rank.
            u32 lowest = best == top ? at : 0xffffffffu;
            lowest = smaller(lowest, lane_xor<1>(lowest)), lowest = smaller(lowest, lane_xor<2>(lowest));
            lowest = smaller(lowest, lane_xor<4>(lowest)), lowest = smaller(lowest, lane_xor<8>(lowest));
            expert = uniform(smaller(lowest, lane_xor<16>(lowest)));
#pragma unroll
            for (u32 i = 0; i < SLOTS; ++i)
                if (i * WAVE + lane() == expert) rank[i] = -1e38f;
        }
        float held = score[0];
#pragma unroll
        for (u32 i = 1; i < SLOTS; ++i)
            if (expert / WAVE == i) held = score[i];
        const float value = lane_read(held, expert % WAVE);
        total += value;
        if (lane() == k) chosen_score = value, chosen_expert = expert;
    }
    if (lane() < K_USED) {
        experts[token * K_USED + lane()] = (i32)chosen_expert;
        weights[token * K_USED + lane()] = chosen_score / total * expert_scale;
    }
}
EXPORT_KERNEL(router)
