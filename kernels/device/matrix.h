// 16 x 16 x 16 matrix products of F16 with F32 accumulation, the same calls on both vendors: WMMA on gfx11, pairs of
// mma.m16n8k16 on NVIDIA. Operands come from LDS; which lane holds which element differs, so a kernel asks
// `tile_row(i)` and `tile_column(i)` where element i of its accumulator stands and never assumes it.
//
// Shapes: A is [16 rows][16 k], B is [16 columns][16 k] (both with k contiguous: D = A times B transposed). `stride` is
// the distance between rows in halves, a multiple of 8; padding a row by 8 halves keeps the loads free of conflicts.
#pragma once
#include "portable.h"

namespace hb {

struct Accumulator {
    float v[8];
    DEVICE_MEMBER void clear() {
#pragma unroll
        for (u32 i = 0; i < 8; ++i) v[i] = 0.0f;
    }
};

#if defined(HB_MATRIX_AMD)

// Lane l holds row (A) or column (B) l % 16, all 16 values of k; the two halves of the wave hold the same.
struct Fragment { u32 r[8]; };

DEVICE u32 tile_row(u32 i) { return 2 * i + lane() / 16; }
DEVICE u32 tile_column(u32) { return lane() % 16; }

DEVICE void load_fragment(Fragment& f, const u16* tile, u32 stride) {
    const U32x4* source = (const U32x4*)(tile + (lane() % 16) * stride);
    const U32x4 a = source[0], b = source[1];
    f.r[0] = a.x, f.r[1] = a.y, f.r[2] = a.z, f.r[3] = a.w;
    f.r[4] = b.x, f.r[5] = b.y, f.r[6] = b.z, f.r[7] = b.w;
}
DEVICE void load_a(Fragment& f, const u16* tile, u32 stride) { load_fragment(f, tile, stride); }
DEVICE void load_b(Fragment& f, const u16* tile, u32 stride) { load_fragment(f, tile, stride); }
// B from a tile stored [16 k][columns], columns contiguous: sixteen 16-bit reads a lane.
DEVICE void load_b_transposed(Fragment& f, const u16* tile, u32 stride) {
    const u16* column = tile + lane() % 16;
#pragma unroll
    for (u32 i = 0; i < 8; ++i) f.r[i] = column[2 * i * stride] | (u32)column[(2 * i + 1) * stride] << 16;
}
// An accumulator to memory, rows `stride` floats apart (a multiple of 4).
DEVICE void store_tile(const Accumulator& a, float* tile, u32 stride) {
#pragma unroll
    for (u32 i = 0; i < 8; ++i) tile[tile_row(i) * stride + tile_column(i)] = a.v[i];
}
// The element beside element i of an accumulator: same row, columns 2c and 2c + 1 change places.
DEVICE float beside(const Accumulator& a, u32 i) { return lane_xor<1>(a.v[i]); }

DEVICE void multiply(Accumulator& d, const Fragment& a, const Fragment& b) { wmma_16x16x16(d.v, a.r, b.r); }

#else

// A: registers 0..3 are the quadrants (low rows, low k), (high rows, low k), (low rows, high k), (high rows, high k).
// B: registers 0, 1 are low and high k of columns 0..7, registers 2, 3 of columns 8..15.
struct Fragment { u32 r[4]; };

DEVICE u32 tile_row(u32 i) { return lane() / 4 + (i & 2) * 4; }
DEVICE u32 tile_column(u32 i) { return lane() % 4 * 2 + (i & 1) + (i & 4) * 2; }

DEVICE void load_a(Fragment& f, const u16* tile, u32 stride) {
    load_matrices(f.r, tile + (lane() % 16) * stride + lane() / 16 * 8);
}
DEVICE void load_b(Fragment& f, const u16* tile, u32 stride) {
    load_matrices(f.r, tile + (lane() % 8 + lane() / 16 * 8) * stride + lane() / 8 % 2 * 8);
}
// B from a tile stored [16 k][16 columns], columns contiguous.
DEVICE void load_b_transposed(Fragment& f, const u16* tile, u32 stride) {
    load_matrices_transposed(f.r, tile + (lane() % 16) * stride + lane() / 16 * 8);
}

DEVICE void store_tile(const Accumulator& a, float* tile, u32 stride) {
#pragma unroll
    for (u32 i = 0; i < 8; i += 2) *(F32x2*)(tile + tile_row(i) * stride + tile_column(i)) = {a.v[i], a.v[i + 1]};
}
DEVICE float beside(const Accumulator& a, u32 i) { return a.v[i ^ 1]; }

DEVICE void multiply(Accumulator& d, const Fragment& a, const Fragment& b) {
    mma_16x8x16(d.v, a.r, b.r);
    mma_16x8x16(d.v + 4, a.r, b.r + 2);
}

#endif

}  // namespace hb
