// The tile of a matrix product with quantised weights: 128 rows of F16 activations times 256 rows of weights, decoded to
// F16 in registers on their way to LDS, F32 accumulation on matrix cores. Eight waves, two by four; a wave owns every
// second 16-row subtile and 64 weight rows, so that a tile with few rows skips work in all waves alike. LDS is double
// buffered in steps of one unit (32 of k); the sum over k runs in one order whatever the number of rows.
#pragma once
#include "blocks_256.h"
#include "matrix.h"

namespace hb {

constexpr u32 TILE_ROWS = 128, TILE_COLUMNS = 256, TILE_THREADS = 256, TILE_STRIDE = 40;
constexpr u32 WAVE_ROW_TILES = 4, WAVE_COLUMN_TILES = 4;
constexpr u32 TILE_HALVES = (TILE_ROWS + TILE_COLUMNS) * TILE_STRIDE;  // one of the two buffers
constexpr u32 TILE_POOL_BYTES = 2 * TILE_HALVES * 2;

// Pair of halves: half `a` (0 low, 1 high) of x, then half `b` of y. a and b are constants once loops are unrolled.
DEVICE u32 join_halves(u32 x, u32 y, u32 a, u32 b) {
    if (a) return b ? permute<0x7632>(x, y) : permute<0x5432>(x, y);
    return b ? permute<0x7610>(x, y) : permute<0x5410>(x, y);
}

// One unit of weights as 16 pairs of F16 in natural order.
template <class Format>
DEVICE void decode_weights(const u32* words, u32 index, const u32* table, u32* halves) {
    Unit unit;
    Format::decode(words, index, table, unit);
    constexpr float IN_SCALE = Format::CODE_UNIT > 1.0f ? 1.0f : Format::CODE_UNIT;
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
        const float scale = unit.scale[half] * IN_SCALE;
        const u32 scales = pack_halves(scale, scale);
        const u32 offsets = Format::OFFSETS ? pack_halves(unit.offset[half], unit.offset[half]) : 0;
#pragma unroll
        for (u32 i = half * 8; i < half * 8 + 8; ++i) {
            u32 codes = unit.pairs[i];
            if constexpr (Format::CODE_UNIT > 1.0f) codes = pair_multiply(codes, 0x74007400u);  // 2^14
            unit.pairs[i] = Format::OFFSETS ? pair_fma(codes, scales, offsets) : pair_multiply(codes, scales);
        }
    }
    static_assert(Format::CODE_UNIT <= 1.0f || Format::CODE_UNIT == 16384.0f);
#pragma unroll
    for (u32 p = 0; p < 16; ++p) {
        const u32 a = Format::slot(2 * p), b = Format::slot(2 * p + 1);
        halves[p] = a + 1 == b && a % 2 == 0 ? unit.pairs[a / 2] : join_halves(unit.pairs[a / 2], unit.pairs[b / 2], a % 2, b % 2);
    }
}

// What a thread carries from memory to LDS for one step: 32 bytes of one activation row and one unit of one weight row.
template <class Format>
struct StepCarrier {
    const u16* activations;  // this thread's row, at its half of the step
    const u8* weights;
    u64 first_block;  // of this thread's weight row
    U32x4 left, right;
    u32 words[Format::WORDS + 1];

    DEVICE_MEMBER void load(u32 step) {
        const U32x4* source = (const U32x4*)(activations + step * 32);
        left = source[0], right = source[1];
        constexpr u32 UNITS = Format::WEIGHTS / 32;
        Format::load(words, weights, first_block + step / UNITS, step % UNITS);
    }
    DEVICE_MEMBER void store(u16* buffer, u32 step, const u32* table) const {
        U32x4* row = (U32x4*)(buffer + thread_index() / 2 * TILE_STRIDE + thread_index() % 2 * 16);
        row[0] = left, row[1] = right;
        u32 halves[16];
        decode_weights<Format>(words, step % (Format::WEIGHTS / 32), table, halves);
        U32x4* column = (U32x4*)(buffer + (TILE_ROWS + thread_index()) * TILE_STRIDE);
#pragma unroll
        for (u32 i = 0; i < 4; ++i) column[i] = {halves[4 * i], halves[4 * i + 1], halves[4 * i + 2], halves[4 * i + 3]};
    }
};

// The accumulators of a wave: row tile r is rows (2 r + wave row) * 16, column tile c is weight rows wave column * 64 +
// c * 16 of the tile.
struct WaveTile {
    Accumulator sum[WAVE_ROW_TILES][WAVE_COLUMN_TILES];

    DEVICE_MEMBER static u32 wave_row() { return wave() / 4; }
    DEVICE_MEMBER static u32 wave_column() { return wave() % 4; }
    DEVICE_MEMBER static u32 first_row(u32 r) { return (2 * r + wave_row()) * 16; }

    DEVICE_MEMBER void clear() {
#pragma unroll
        for (u32 r = 0; r < WAVE_ROW_TILES; ++r)
#pragma unroll
            for (u32 c = 0; c < WAVE_COLUMN_TILES; ++c) sum[r][c].clear();
    }
    DEVICE_MEMBER void add_step(const u16* buffer, u32 rows) {
#pragma unroll
        for (u32 k = 0; k < 2; ++k) {
            Fragment column[WAVE_COLUMN_TILES];
#pragma unroll
            for (u32 c = 0; c < WAVE_COLUMN_TILES; ++c)
                load_b(column[c], buffer + (TILE_ROWS + wave_column() * 64 + c * 16) * TILE_STRIDE + k * 16, TILE_STRIDE);
#pragma unroll
            for (u32 r = 0; r < WAVE_ROW_TILES; ++r) {
                if (first_row(r) >= rows) continue;
                Fragment row;
                load_a(row, buffer + first_row(r) * TILE_STRIDE + k * 16, TILE_STRIDE);
#pragma unroll
                for (u32 c = 0; c < WAVE_COLUMN_TILES; ++c) multiply(sum[r][c], row, column[c]);
            }
        }
    }
};

// All steps of a tile. `rows` activation rows are real; the carrier's pointers are valid for every thread.
template <class Format, u32 STEPS>
DEVICE void multiply_tile(WaveTile& tile, StepCarrier<Format>& carrier, u32 rows, u16* pool, u32* table) {
    carrier.load(0);
    Format::template prepare<TILE_THREADS>(table);
    if constexpr (Format::TABLE_WORDS > 0) barrier();
    tile.clear();
    carrier.store(pool, 0, table);
#pragma unroll 1
    for (u32 step = 0; step < STEPS; ++step) {
        barrier();
        if (step + 1 < STEPS) carrier.load(step + 1);
        tile.add_step(pool + step % 2 * TILE_HALVES, rows);
        if (step + 1 < STEPS) carrier.store(pool + (step + 1) % 2 * TILE_HALVES, step + 1, table);
    }
}

}  // namespace hb
