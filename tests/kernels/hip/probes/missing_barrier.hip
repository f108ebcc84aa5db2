// A kernel with a race that a correct emulator must show: LDS is read without the barrier that K_BARRIER puts there.
#include "portable.h"

using namespace hb;

KERNEL(64) missing_barrier(const float* values, float* out) {
    SHARED float tile[64];
    tile[thread_index()] = values[thread_index()];
    if constexpr (K_BARRIER) barrier();
    out[thread_index()] = tile[63 - thread_index()];
}
EXPORT_KERNEL(missing_barrier)
