// Writes one element past the end of its buffer when K_BEYOND is 1.
#include "portable.h"

using namespace hb;

KERNEL(32) stray_write(float* out, u32 count) {
    if (thread_index() < count + K_BEYOND) out[thread_index()] = 1.0f;
}
EXPORT_KERNEL(stray_write)
