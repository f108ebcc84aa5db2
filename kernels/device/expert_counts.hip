// How many (token, slot) pairs go to each expert; one workgroup an expert, no atomics on memory.
#include "portable.h"

using namespace hb;

constexpr u32 THREADS = 256;

// experts [pairs] -> counts [experts]. Grid (experts).
KERNEL(256) expert_counts(const i32* experts, i32* counts, u32 pairs) {
    SHARED u32 found[THREADS / WAVE];
    u32 own = 0;
    for (u32 i = thread_index(); i < pairs; i += THREADS) own += (u32)experts[i] == group_x() ? 1 : 0;
    const u32 before = wave_prefix(own);
    if (lane() == WAVE - 1) found[wave()] = before + own;
    barrier();
    if (thread_index() != 0) return;
    u32 total = 0;
    for (u32 w = 0; w < THREADS / WAVE; ++w) total += found[w];
    counts[group_x()] = (i32)total;
}
EXPORT_KERNEL(expert_counts)
