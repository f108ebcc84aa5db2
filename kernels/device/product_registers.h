// The tile of product.h on NVIDIA: weights are the first operand of mma.m16n8k16 and never pass LDS as F16. A wave owns 32
// weight rows for all 128 activation rows; its lanes decode the next step's weights straight into the operand's registers
// while this step is multiplied. Lane l stands for rows l / 4 + 8 i and octet l % 4 of each unit: within a product the order
// of k is free as long as both operands keep it, so a lane's eight weights, and the 16 bytes of activations beside them, are
// neighbours in memory. Raw blocks and activations come to LDS by the copy engine, a stage ahead, with one barrier a stage.
#pragma once
#include "octets.h"

namespace hb {

constexpr u32 STAGE_UNITS = 4, UNIT_POOL = TILE_ROWS * 64, ACTIVATION_STAGE = STAGE_UNITS * UNIT_POOL;
constexpr u32 ACTIVATION_POOL = 2 * ACTIVATION_STAGE;
constexpr u32 WAVE_ROWS = TILE_COLUMNS / (TILE_THREADS / WAVE);  // weight rows of a wave
constexpr u32 TOKEN_BLOCKS = 4;  // of 32 activation rows: what a tile with few rows leaves out
static_assert(WAVE_ROWS == 32 && PAIRED_ROWS == 16);

// Starts the copies of a stage of activations, unit by unit, a row's 64 bytes beside the next row's.
template <u32 STEPS>
DEVICE void begin_activations(const ActivationRows& rows, u8* pool, u32 stage) {
    u8* target = pool + stage % 2 * ACTIVATION_STAGE + ActivationRows::column() * 2;
#pragma unroll
    for (u32 unit = 0; unit < STAGE_UNITS; ++unit) {
        const u32 step = stage * STAGE_UNITS + unit;
        const bool is_there = STEPS % STAGE_UNITS == 0 || step < STEPS;
#pragma unroll
        for (u32 i = 0; i < 2; ++i)
            copy_async(target + unit * UNIT_POOL + ActivationRows::tile_row(i) * 64, rows.row[i] + (is_there ? step * 32 : 0),
                       is_there ? 16 : 0);
    }
}

// The operands of one step: weight rows 16 m + l / 4 (registers 0, 2) and eight more (1, 3), for both products of a unit.
struct WeightFragments {
    u32 r[2][2][4];  // [16-row tile][product]

    DEVICE_MEMBER void set(u32 i, const u32 (&pairs)[4]) {  // rows l / 4 + 8 i
#pragma unroll
        for (u32 p = 0; p < 4; ++p) r[i / 2][p / 2][p % 2 * 2 + i % 2] = pairs[p];
    }
};

// The raw blocks of a wave's weight rows, two stages of at least 128 weights in LDS. No other wave touches them.
template <class Format>
struct RawBlocks {
    static constexpr u32 BLOCK_UNITS = Format::WEIGHTS / 32;
    static constexpr u32 UNITS = BLOCK_UNITS > STAGE_UNITS ? BLOCK_UNITS : STAGE_UNITS;  // of a stage
    static constexpr u32 BYTES = UNITS / BLOCK_UNITS * Format::BYTES;
    static constexpr u32 PIECES = ((BYTES + 12 + 15) / 16) | 1;  // an odd number spreads the rows over the banks
    static constexpr u32 ROW_POOL = PIECES * 16, STAGE_POOL = TILE_COLUMNS * ROW_POOL;
    static_assert(UNITS % STAGE_UNITS == 0 && UNITS % BLOCK_UNITS == 0);

    const WeightRows& rows;
    u8* pool;
    u32 shift[4];  // of this lane's rows inside a piece

    DEVICE_MEMBER RawBlocks(const WeightRows& source, u8* raw) : rows(source), pool(raw) {
#pragma unroll
        for (u32 i = 0; i < 4; ++i) shift[i] = (u32)source.offset(own_row(i)) & 15;
    }
    DEVICE_MEMBER static u32 own_row(u32 i) { return wave() * WAVE_ROWS + i * 8 + lane() / 4; }

    // Starts the copies of a stage. The four lanes of a row bring neighbouring pieces.
    DEVICE_MEMBER void begin(u32 stage) const {
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
            const u64 row_begin = rows.offset(own_row(i)) - shift[i], left = rows.total_bytes - row_begin;
            const u32 row_end = (shift[i] + rows.row_bytes + 15) & ~15u, end = left < row_end ? (u32)left : row_end;
            const u8* source = rows.matrix(own_row(i)) + row_begin;
            u8* target = pool + stage % 2 * STAGE_POOL + own_row(i) * ROW_POOL;
#pragma unroll
            for (u32 first = 0; first < PIECES; first += 4) {
                const u32 piece = first + lane() % 4, from = ((shift[i] + stage * BYTES) & ~15u) + piece * 16;
                const u32 wanted = from < end ? smaller(end - from, 16) : 0;
                if (piece < PIECES) copy_async(target + piece * 16, source + (wanted ? from : 0), wanted);
            }
        }
    }
    // Row i of this lane, one step.
    DEVICE_MEMBER void decode(WeightFragments& to, u32 i, u32 step, const u32* table) const {
        const u32 stage = step / UNITS, within = step % UNITS;
        const u8* row = pool + stage % 2 * STAGE_POOL + own_row(i) * ROW_POOL;
        const u32 at = ((shift[i] + stage * BYTES) & 15) + within / BLOCK_UNITS * Format::BYTES;
        u32 pairs[4];
        Octet<Format>::decode(row, at, within % BLOCK_UNITS, lane() % 4, table, pairs);
        to.set(i, pairs);
    }
};

template <class Format>
constexpr u32 PRODUCT_POOL = ACTIVATION_POOL + 2 * RawBlocks<Format>::STAGE_POOL;

// The sums of a wave, weight rows down and activation rows across: sum[m][n] is weight rows 16 m of the wave and activation
// rows 8 n.
struct WaveTile {
    float sum[2][TILE_ROWS / 8][4];

    DEVICE_MEMBER void clear() {
#pragma unroll
        for (u32 m = 0; m < 2; ++m)
#pragma unroll
            for (u32 n = 0; n < TILE_ROWS / 8; ++n)
#pragma unroll
                for (u32 i = 0; i < 4; ++i) sum[m][n][i] = 0.0f;
    }
    // Adds 32 activation rows of one step; `unit` is the unit's activations in LDS.
    DEVICE_MEMBER void add_block(u32 block, const WeightFragments& weights, const u8* unit) {
        U32x4 x[4];
#pragma unroll
        for (u32 n = 0; n < 4; ++n) x[n] = *(const U32x4*)(unit + (block * 4 + n) * 8 * 64 + lane() * 16);
#pragma unroll
        for (u32 k = 0; k < 2; ++k)
#pragma unroll
            for (u32 n = 0; n < 4; ++n) {
                const u32 pairs[2] = {k ? x[n].z : x[n].x, k ? x[n].w : x[n].y};
#pragma unroll
                for (u32 m = 0; m < 2; ++m) mma_16x8x16(sum[m][block * 4 + n], weights.r[m][k], pairs);
            }
    }
    DEVICE_MEMBER static u32 row(u32 n, u32 i) { return n * 8 + lane() % 4 * 2 + i % 2; }
    DEVICE_MEMBER static u32 weight_row(u32 i) { return lane() / 4 + i / 2 * 8; }

    // visit(row, weight row, sum) for all sums of this lane.
    template <class Visit>
    DEVICE_MEMBER void each(Visit visit) const {
#pragma unroll
        for (u32 n = 0; n < TILE_ROWS / 8; ++n)
#pragma unroll
            for (u32 m = 0; m < 2; ++m)
#pragma unroll
                for (u32 i = 0; i < 4; ++i) visit(row(n, i), wave() * WAVE_ROWS + m * 16 + weight_row(i), sum[m][n][i]);
    }
    // visit(row, output, gate, up) where rows are paired.
    template <class Visit>
    DEVICE_MEMBER void each_pair(Visit visit) const {
#pragma unroll
        for (u32 n = 0; n < TILE_ROWS / 8; ++n)
#pragma unroll
            for (u32 i = 0; i < 4; ++i) visit(row(n, i), wave() * PAIRED_ROWS + weight_row(i), sum[0][n][i], sum[1][n][i]);
    }
};

// The steps of a tile whose live rows fill BLOCKS blocks. The first stage has arrived.
template <u32 BLOCKS, class Format, u32 STEPS>
DEVICE void multiply_blocks(WaveTile& tile, const ActivationRows& activations, const RawBlocks<Format>& raw, u8* pool,
                            const u32* table) {
    WeightFragments now, next;
#pragma unroll
    for (u32 i = 0; i < 4; ++i) raw.decode(now, i, 0, table);
#pragma unroll 1
    for (u32 step = 0; step < STEPS; ++step) {
        if (step % STAGE_UNITS == 0) {
            if (step) barrier();  // this stage has arrived for all, and all have left the one before
            if (step + STAGE_UNITS < STEPS) begin_activations<STEPS>(activations, pool, step / STAGE_UNITS + 1);
            if (step % RawBlocks<Format>::UNITS == 0 && step + RawBlocks<Format>::UNITS < STEPS)
                raw.begin(step / RawBlocks<Format>::UNITS + 1);
        }
        if (step % STAGE_UNITS == STAGE_UNITS - 1) {
            wait_copies();
            wave_fence();  // the wave's raw blocks, which the next step's weights may be the first of
        }
        const u8* unit = pool + step / STAGE_UNITS % 2 * ACTIVATION_STAGE + step % STAGE_UNITS * UNIT_POOL;
#pragma unroll
        for (u32 block = 0; block < TOKEN_BLOCKS; ++block) {
            raw.decode(next, block, step + 1, table);  // past the last step: of whatever lies there, unused
            if (block < BLOCKS) tile.add_block(block, now, unit);
        }
        now = next;
    }
}

// All steps of a tile, of which `live` activation rows are real; the rows are valid for every thread.
template <class Format, u32 STEPS>
DEVICE void multiply_tile(WaveTile& tile, const ActivationRows& activations, const WeightRows& rows, u32 live, u8* pool,
                          u32* table) {
    const RawBlocks<Format> raw(rows, pool + ACTIVATION_POOL);
    raw.begin(0);  // first: where the activations lie is still being read
    begin_activations<STEPS>(activations, pool, 0);
    Octet<Format>::template prepare<TILE_THREADS>(table);
    tile.clear();
    wait_copies();
    barrier();
    const u32 blocks = ceil_div(live, TILE_ROWS / TOKEN_BLOCKS);
    if (blocks == 4) return multiply_blocks<4, Format, STEPS>(tile, activations, raw, pool, table);
    if (blocks == 3) return multiply_blocks<3, Format, STEPS>(tile, activations, raw, pool, table);
    if (blocks == 2) return multiply_blocks<2, Format, STEPS>(tile, activations, raw, pool, table);
    multiply_blocks<1, Format, STEPS>(tile, activations, raw, pool, table);
}

}  // namespace hb
