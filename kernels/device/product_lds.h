// The tile of product.h on gfx11: weights are decoded on their way to LDS, from where all waves read them. Waves stand two
// by four; a wave owns every second 16-row subtile and 64 weight rows, so that a tile with few rows skips work in all waves
// alike. LDS is double buffered, one barrier a step; raw blocks and activations travel through registers a step ahead.
#pragma once

namespace hb {

constexpr u32 TILE_STRIDE = 40;
constexpr u32 WAVE_ROW_TILES = 4, WAVE_COLUMN_TILES = 4;
constexpr u32 TILE_HALVES = (TILE_ROWS + TILE_COLUMNS) * TILE_STRIDE;  // one of the two buffers

template <class Format>
constexpr u32 PRODUCT_POOL = 2 * TILE_HALVES * 2;

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

// Activations of a step on their way through registers.
struct ActivationCarrier {
    const ActivationRows& rows;
    U32x4 piece[2];

    DEVICE_MEMBER void load(u32 step) {
#pragma unroll
        for (u32 i = 0; i < 2; ++i) piece[i] = *(const U32x4*)(rows.row[i] + step * 32);
    }
    DEVICE_MEMBER void store(u16* buffer) const {
#pragma unroll
        for (u32 i = 0; i < 2; ++i)
            *(U32x4*)(buffer + ActivationRows::tile_row(i) * TILE_STRIDE + ActivationRows::column()) = piece[i];
    }
};

// Each thread reads its own weight row, a step ahead, and decodes it into the tile.
template <class Format>
struct WeightCarrier {
    static constexpr u32 BLOCK_UNITS = Format::WEIGHTS / 32;
    const u8* matrix;
    u64 row;
    u32 next[Format::WORDS + 1];

    DEVICE_MEMBER explicit WeightCarrier(const WeightRows& source)
        : matrix(source.matrix(thread_index())), row(source.offset(thread_index())) {}

    DEVICE_MEMBER void load(u32 step) { Format::load(next, matrix, row + step / BLOCK_UNITS * Format::BYTES, step % BLOCK_UNITS); }
    DEVICE_MEMBER void store(u16* buffer, u32 step, u32 steps, const u32* table) {
        u32 words[Format::WORDS + 1], halves[16];
#pragma unroll
        for (u32 i = 0; i < Format::WORDS; ++i) words[i] = next[i];
        if (step + 1 < steps) load(step + 1);
        decode_weights<Format>(words, step % BLOCK_UNITS, table, halves);
        U32x4* column = (U32x4*)(buffer + (TILE_ROWS + thread_index()) * TILE_STRIDE);
#pragma unroll
        for (u32 i = 0; i < 4; ++i) column[i] = {halves[4 * i], halves[4 * i + 1], halves[4 * i + 2], halves[4 * i + 3]};
    }
};

// The accumulators of a wave: row tile r is rows (2 r + wave row) * 16, column tile c is weight rows wave column * 64 +
// c * 16 of the tile.
struct WaveTile {
    Accumulator sum[WAVE_ROW_TILES][WAVE_COLUMN_TILES];

    DEVICE_MEMBER static u32 wave_column() { return wave() % 4; }
    DEVICE_MEMBER static u32 first_row(u32 r) { return (2 * r + wave() / 4) * 16; }

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
    // visit(row, weight row, sum) for all sums of this lane.
    template <class Visit>
    DEVICE_MEMBER void each(Visit visit) const {
#pragma unroll
        for (u32 r = 0; r < WAVE_ROW_TILES; ++r)
#pragma unroll
            for (u32 c = 0; c < WAVE_COLUMN_TILES; ++c)
#pragma unroll
                for (u32 i = 0; i < 8; ++i)
                    visit(first_row(r) + tile_row(i), wave_column() * 64 + c * 16 + tile_column(i), sum[r][c].v[i]);
    }
    // visit(row, output, gate, up) where rows are paired.
    template <class Visit>
    DEVICE_MEMBER void each_pair(Visit visit) const {
#pragma unroll
        for (u32 r = 0; r < WAVE_ROW_TILES; ++r)
#pragma unroll
            for (u32 c = 0; c < 2; ++c)
#pragma unroll
                for (u32 i = 0; i < 8; ++i)
                    visit(first_row(r) + tile_row(i), wave_column() * 32 + c * 16 + tile_column(i), sum[r][c].v[i],
                          sum[r][c + 2].v[i]);
    }
};

// All steps of a tile, of which `live` activation rows are real; the rows are valid for every thread.
template <class Format, u32 STEPS>
DEVICE void multiply_tile(WaveTile& tile, const ActivationRows& activation_rows, const WeightRows& weight_rows, u32 live,
                          u8* pool, u32* table) {
    u16* buffers = (u16*)pool;
    WeightCarrier<Format> weights(weight_rows);
    ActivationCarrier activations{activation_rows, {}};
    weights.load(0);
    activations.load(0);
    Format::template prepare<TILE_THREADS>(table);
    tile.clear();
    barrier();
    activations.store(buffers);
    if (STEPS > 1) activations.load(1);
    weights.store(buffers, 0, STEPS, table);
#pragma unroll 1
    for (u32 step = 0; step < STEPS; ++step) {
        const u16* here = buffers + step % 2 * TILE_HALVES;
        u16* there = buffers + (step + 1) % 2 * TILE_HALVES;
        const bool has_next = step + 1 < STEPS;
        barrier();
        if (has_next) activations.store(there);
        if (step + 2 < STEPS) activations.load(step + 2);
        tile.add_step(here, live);
        if (has_next) weights.store(there, step + 1, STEPS, table);
    }
}

}  // namespace hb
