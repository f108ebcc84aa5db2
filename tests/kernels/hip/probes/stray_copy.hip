// Asynchronous copies of 16 bytes a lane into a pool of one piece a lane: K_TO and K_FROM push target and source along.
#include "portable.h"

using namespace hb;

KERNEL(32) stray_copy(const u8* values, u8* out) {
    SHARED_POOL(pool, K_POOL_BYTES);
    SHARED u32 neighbour[64];
    neighbour[lane()] = 0;
    copy_async(pool + lane() * 16 + K_TO, values + lane() * 16 + K_FROM, 16);
    wait_copies();
    wave_fence();
    for (u32 i = 0; i < 16; ++i) out[lane() * 16 + i] = pool[lane() * 16 + i];
}
EXPORT_KERNEL(stray_copy)
