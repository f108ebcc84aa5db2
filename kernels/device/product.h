// The tile of a matrix product with quantised weights: 128 rows of F16 activations times 256 rows of weights, decoded to
// F16 on their way to LDS, F32 accumulation on matrix cores. Eight waves, two by four; a wave owns every
// second 16-row subtile and 64 weight rows, so that a tile with few rows skips work in all waves alike. LDS is double
// buffered in steps of one unit (32 of k), one barrier a step. Where registers allow, half of the waves decode the next step
// before they multiply this one and half after, so that matrix cores and decoders work side by side. The sum over k runs in
// one order whatever the number of rows.
#pragma once
#include "blocks_256.h"
#include "matrix.h"

namespace hb {

constexpr u32 TILE_ROWS = 128, TILE_COLUMNS = 256, TILE_THREADS = 256, TILE_STRIDE = 40;
constexpr u32 WAVE_ROW_TILES = 4, WAVE_COLUMN_TILES = 4;
constexpr u32 TILE_HALVES = (TILE_ROWS + TILE_COLUMNS) * TILE_STRIDE;  // one of the two buffers
constexpr u32 TILE_POOL_BYTES = 2 * TILE_HALVES * 2;
// Whether there is code of its own for waves that decode first and for tiles with all rows; gfx11 would spill.
constexpr bool HAS_FAST_PATHS = HB_ASYNC_COPY;

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

// Activations of a step on their way through registers: four neighbouring threads bring the 64 bytes of a row, two rows
// each.
struct ActivationCarrier {
    const u16* row[2];  // at this thread's column
    U32x4 piece[2];

    DEVICE_MEMBER static u32 tile_row(u32 which) { return which * 64 + thread_index() / 4; }
    DEVICE_MEMBER static u32 column() { return thread_index() % 4 * 8; }

    DEVICE_MEMBER void load(u32 step) {
#pragma unroll
        for (u32 i = 0; i < 2; ++i) piece[i] = *(const U32x4*)(row[i] + step * 32);
    }
    DEVICE_MEMBER void store(u16* buffer) const {
#pragma unroll
        for (u32 i = 0; i < 2; ++i) *(U32x4*)(buffer + tile_row(i) * TILE_STRIDE + column()) = piece[i];
    }
};

// The weight rows of a tile: row r begins at byte offset(r) of matrix(r). Rows past the end repeat the last one.
struct WeightRows {
    const u8* gate;
    const u8* up;       // the same matrix where rows are not paired
    u64 first;          // byte offset of the first row
    u64 total_bytes;    // of a matrix
    u32 last, row_bytes;
    bool is_paired;     // of each 64 tile rows, 32 are rows of gate and 32 the same rows of up

    DEVICE_MEMBER const u8* matrix(u32 r) const { return is_paired && r % 64 >= 32 ? up : gate; }
    DEVICE_MEMBER u32 after_first(u32 r) const { return smaller(is_paired ? r / 64 * 32 + r % 32 : r, last) * row_bytes; }
    DEVICE_MEMBER u64 offset(u32 r) const { return first + after_first(r); }
};

#if HB_ASYNC_COPY

// Raw blocks of STAGE_UNITS units of every weight row come to LDS by the copy engine, a stage ahead, in 16-byte pieces
// that lie side by side in memory: threads that each read their own row would touch a cache line a lane.
template <class Format>
struct WeightCarrier {
    static constexpr u32 BLOCK_UNITS = Format::WEIGHTS / 32;
    static constexpr u32 STAGE_UNITS = BLOCK_UNITS > 1 ? BLOCK_UNITS : Format::BYTES > 32 ? 4 : 8;
    static constexpr u32 STAGE_BYTES = STAGE_UNITS / BLOCK_UNITS * Format::BYTES;
    static constexpr u32 PIECES = ((STAGE_BYTES + 12 + 15) / 16) | 1;  // an odd number spreads the rows over the banks
    static constexpr u32 STAGE_POOL = TILE_COLUMNS * PIECES * 16, POOL_BYTES = 2 * STAGE_POOL;
    static_assert(TILE_COLUMNS == TILE_THREADS);

    const WeightRows& rows;
    u8* raw;
    u32 own_shift;  // of this thread's row inside a piece

    DEVICE_MEMBER WeightCarrier(const WeightRows& source, u8* pool)
        : rows(source), raw(pool), own_shift((u32)source.offset(thread_index()) & 15) {}

    // Eight neighbouring threads bring the pieces of a row.
    DEVICE_MEMBER void begin_stage(u32 stage) const {
        u8* target = raw + stage % 2 * STAGE_POOL;
        const u32 into_row = stage * STAGE_BYTES, shift = (u32)rows.first & 15;
        const u64 boundary = rows.first - shift, left = rows.total_bytes - boundary;
        const u32 end = left < 1u << 31 ? (u32)left : 1u << 31;
#pragma unroll 2
        for (u32 some = 0; some < TILE_COLUMNS; some += TILE_THREADS / 8) {
            const u32 row = some + thread_index() / 8, begin = shift + rows.after_first(row);
            const u8* matrix = rows.matrix(row) + boundary;
#pragma unroll
            for (u32 i = 0; i < (PIECES + 7) / 8; ++i) {
                const u32 p = i * 8 + thread_index() % 8, piece = ((begin + into_row) & ~15u) + p * 16;
                const u32 wanted = piece < begin + rows.row_bytes ? smaller(end - piece, 16) : 0;
                if (p < PIECES) copy_async(target + (row * PIECES + p) * 16, matrix + (wanted ? piece : 0), wanted);
            }
        }
    }
    DEVICE_MEMBER void begin() const { begin_stage(0); }
    // While step `step` is multiplied: the next stage's room is free from its first step on.
    DEVICE_MEMBER void bring_ahead(u32 step, u32 steps) const {
        if (step % STAGE_UNITS == 0 && step + STAGE_UNITS < steps) begin_stage(step / STAGE_UNITS + 1);
    }
    // Before the barrier after which step `step` is decoded.
    DEVICE_MEMBER void settle(u32 step) const {
        if (step % STAGE_UNITS == 0) wait_copies();
    }
    DEVICE_MEMBER void take(u32* words, u32 step, u32) const {
        const u32 stage = step / STAGE_UNITS, within = step % STAGE_UNITS;
        const u8* row = raw + stage % 2 * STAGE_POOL + thread_index() * (PIECES * 16);
        const u32 shift = (own_shift + stage * STAGE_BYTES) & 15;
        Format::load(words, row, shift + within / BLOCK_UNITS * Format::BYTES, within % BLOCK_UNITS);
    }
};

#else

// Each thread reads its own weight row, a step ahead, into registers.
template <class Format>
struct WeightCarrier {
    static constexpr u32 BLOCK_UNITS = Format::WEIGHTS / 32, POOL_BYTES = 0;
    const u8* matrix;
    u64 row;
    u32 next[Format::WORDS + 1];

    DEVICE_MEMBER WeightCarrier(const WeightRows& source, u8*)
        : matrix(source.matrix(thread_index())), row(source.offset(thread_index())) {}

    DEVICE_MEMBER void load(u32 step) { Format::load(next, matrix, row + step / BLOCK_UNITS * Format::BYTES, step % BLOCK_UNITS); }
    DEVICE_MEMBER void begin() { load(0); }
    DEVICE_MEMBER void bring_ahead(u32, u32) const {}
    DEVICE_MEMBER void settle(u32) const {}
    DEVICE_MEMBER void take(u32* words, u32 step, u32 steps) {
#pragma unroll
        for (u32 i = 0; i < Format::WORDS; ++i) words[i] = next[i];
        if (step + 1 < steps) load(step + 1);
    }
};

#endif

// Decodes this thread's weight row of one step into the tile.
template <class Format>
DEVICE void store_weights(WeightCarrier<Format>& weights, u16* buffer, u32 step, u32 steps, const u32* table) {
    u32 words[Format::WORDS + 1], halves[16];
    weights.take(words, step, steps);
    decode_weights<Format>(words, step % WeightCarrier<Format>::BLOCK_UNITS, table, halves);
    U32x4* column = (U32x4*)(buffer + (TILE_ROWS + thread_index()) * TILE_STRIDE);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) column[i] = {halves[4 * i], halves[4 * i + 1], halves[4 * i + 2], halves[4 * i + 3]};
}

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
    // ALL: every row of the tile is real, and nothing stands between the loads and the products.
    template <bool ALL>
    DEVICE_MEMBER void add_step(const u16* buffer, u32 rows) {
#pragma unroll
        for (u32 k = 0; k < 2; ++k) {
            Fragment column[WAVE_COLUMN_TILES];
#pragma unroll
            for (u32 c = 0; c < WAVE_COLUMN_TILES; ++c)
                load_b(column[c], buffer + (TILE_ROWS + wave_column() * 64 + c * 16) * TILE_STRIDE + k * 16, TILE_STRIDE);
#pragma unroll
            for (u32 r = 0; r < WAVE_ROW_TILES; ++r) {
                if (!ALL && first_row(r) >= rows) continue;
                Fragment row;
                load_a(row, buffer + first_row(r) * TILE_STRIDE + k * 16, TILE_STRIDE);
#pragma unroll
                for (u32 c = 0; c < WAVE_COLUMN_TILES; ++c) multiply(sum[r][c], row, column[c]);
            }
        }
    }
    DEVICE_MEMBER void add_step(const u16* buffer, u32 rows) {
        if (HAS_FAST_PATHS && first_row(WAVE_ROW_TILES - 1) < rows) {
            add_step<true>(buffer, rows);
        } else {
            add_step<false>(buffer, rows);
        }
    }
};

template <class Format>
constexpr u32 PRODUCT_POOL = TILE_POOL_BYTES + WeightCarrier<Format>::POOL_BYTES;

// All steps of a tile, of which `live` activation rows are real; the carriers' rows are valid for every thread.
template <class Format, u32 STEPS>
DEVICE void multiply_tile(WaveTile& tile, ActivationCarrier& activations, const WeightRows& rows, u32 live, u8* pool,
                          u32* table) {
    u16* buffers = (u16*)pool;
    const bool decodes_first = HAS_FAST_PATHS && wave() < TILE_THREADS / WAVE / 2;
    WeightCarrier<Format> weights(rows, pool + TILE_POOL_BYTES);
    weights.begin();
    activations.load(0);
    Format::template prepare<TILE_THREADS>(table);
    tile.clear();
    weights.settle(0);
    barrier();
    activations.store(buffers);
    if (STEPS > 1) activations.load(1);
    store_weights<Format>(weights, buffers, 0, STEPS, table);
#pragma unroll 1
    for (u32 step = 0; step < STEPS; ++step) {
        const u16* here = buffers + step % 2 * TILE_HALVES;
        u16* there = buffers + (step + 1) % 2 * TILE_HALVES;
        const bool has_next = step + 1 < STEPS;
        if (has_next) weights.settle(step + 1);
        barrier();
        weights.bring_ahead(step, STEPS);
        if (has_next) activations.store(there);
        if (step + 2 < STEPS) activations.load(step + 2);
        if (has_next && decodes_first) store_weights<Format>(weights, there, step + 1, STEPS, table);
        tile.add_step(here, live);
        if (has_next && !decodes_first) store_weights<Format>(weights, there, step + 1, STEPS, table);
    }
}

}  // namespace hb
