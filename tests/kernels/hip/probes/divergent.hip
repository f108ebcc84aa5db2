// Code that hangs or corrupts a GPU: a wave exchange (K_KIND 0) or a barrier (1) that only some threads reach.
#include "portable.h"

using namespace hb;

KERNEL(64) divergent(float* out) {
    float value = 1.0f;
    if constexpr (K_KIND == 0) {
        if (lane() < 7) value = wave_sum(value);
    } else {
        if (wave() == 1) barrier();
    }
    out[thread_index()] = value;
}
EXPORT_KERNEL(divergent)
