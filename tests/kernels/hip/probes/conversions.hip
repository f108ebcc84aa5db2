// F16 to F32 and back, one value a thread.
#include "portable.h"

using namespace hb;

KERNEL(256) conversions(const u16* halves, const float* floats, float* widened, u16* narrowed) {
    const u32 at = group_x() * 256 + thread_index();
    widened[at] = half_to_float(halves[at]);
    narrowed[at] = float_to_half(floats[at]);
}
EXPORT_KERNEL(conversions)
