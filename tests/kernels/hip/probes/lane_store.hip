// A wave sum whose first lane alone stores it: the pattern that some compilers get wrong.
#include "portable.h"

using namespace hb;

KERNEL(32) lane_store(const float* values, float* out) {
    const float sum = wave_sum(values[lane()]);
    if (lane() == 0) out[group_x()] = sum;
}
EXPORT_KERNEL(lane_store)
