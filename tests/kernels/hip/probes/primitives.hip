// Every wave primitive on known values, for comparison with plain arithmetic.
#include "matrix.h"

using namespace hb;

// a, b [16, 16] F16; product [16, 16]; lanes [32, 7]: sum, maximum, neighbour, value of lane 5, prefix, ballot bits, and
// of the eight lists (k + 1) * values the sum of list lane % 8.
KERNEL(32) primitives(const float* values, const u16* a, const u16* b, float* product, float* lanes) {
    SHARED u16 tile_a[16 * 24] __attribute__((aligned(16)));
    SHARED u16 tile_b[16 * 24] __attribute__((aligned(16)));
    const float value = values[lane()];
    float* mine = lanes + lane() * 7;
    float lists[8];
    for (u32 k = 0; k < 8; ++k) lists[k] = (float)(k + 1) * value;
    mine[6] = wave_sums(lists);
    mine[0] = wave_sum(value);
    mine[1] = wave_max(value);
    mine[2] = lane_xor<1>(value);
    mine[3] = lane_read(value, 5);
    mine[4] = (float)wave_prefix(lane());
    mine[5] = (float)count_bits(wave_ballot(value > 0.0f));
    for (u32 i = lane(); i < 256; i += 32) {
        tile_a[i / 16 * 24 + i % 16] = a[i];
        tile_b[i / 16 * 24 + i % 16] = b[i];
    }
    wave_fence();
    Fragment x, y;
    load_a(x, tile_a, 24), load_b(y, tile_b, 24);
    Accumulator sum;
    sum.clear();
    multiply(sum, x, y);
    multiply(sum, x, y);
    for (u32 i = 0; i < 8; ++i) product[tile_row(i) * 16 + tile_column(i)] = sum.v[i];
}
EXPORT_KERNEL(primitives)
