// The first half of an expert for single tokens: gate and up rows of the chosen experts side by side, then
// silu(min(gate, limit)) * clamp(up, -limit, limit). Also the shared expert, as the only expert of its matrix.
//
//   K_FORMAT, K_WIDTH, K_ALIGNED   as in matvec
//   K_ROWS                         rows a wave streams at a time: half of them of gate, half of up
#include "matvec.h"

using namespace hb;

using Format = K_FORMAT;
constexpr u32 THREADS = 256, WAVES = THREADS / WAVE, UNITS = K_WIDTH / 32, OUTPUTS = K_ROWS / 2;
constexpr u32 CHUNKS = (UNITS + LANE_UNITS - 1) / LANE_UNITS;
constexpr u32 VECTOR_WORDS = (UNITS * Activations<Format>::WORDS_A_UNIT + 3) / 4 * 4;
constexpr bool WHOLE = UNITS % LANE_UNITS == 0;
using C = Chunk<Format, K_ROWS, K_ALIGNED, WHOLE>;

// x [tokens, K_WIDTH], gate and up [all experts, rows, K_WIDTH] in blocks, experts [tokens, used] -> inner
// [tokens, used, rows]. A workgroup takes 8 * K_ROWS / 2 * passes rows. Grid (rows / that, tokens * used).
KERNEL(256) matvec_gate_up(const float* x, const u8* gate, const u8* up, const i32* experts, float* inner, u32 rows,
                           u32 all_experts, u32 used, u32 row_bytes, u32 passes, float limit) {
    SHARED_POOL(pool, K_POOL_BYTES);
    static_assert(K_POOL_BYTES == VECTOR_WORDS * 4, "kernels.ops.matvec must ask for the vector's size");
    SHARED u8 raw[WAVES][K_ROWS * C::ROW_STRIDE] __attribute__((aligned(16)));
    SHARED u32 table[Format::TABLE_WORDS + 1];
    const u32 slot = group_y(), expert = (u32)experts[slot];
    const u32 first = (group_x() * passes * WAVES + wave()) * OUTPUTS, steps = passes * CHUNKS;
    const u64 expert_first = (u64)expert * rows;
    RowBlock<K_ROWS, 2> block{{gate, up},
                              (expert_first + first) * row_bytes,
                              (u64)all_experts * rows * row_bytes,
                              row_bytes};
    const Activations<Format> activations = Activations<Format>::at((u32*)pool, UNITS);
    Carrier<C, WHOLE, K_ROWS, 2> carrier;
    carrier.load(block, 0);
    Format::template prepare<THREADS>(table);
    activations.template fill<THREADS>(x + (u64)(slot / used) * K_WIDTH, UNITS);
    barrier();

    float sum[K_ROWS];
#pragma unroll
    for (u32 r = 0; r < K_ROWS; ++r) sum[r] = 0.0f;
    RowBlock<K_ROWS, 2> next = block;
#pragma unroll 1
    for (u32 step = 0, chunk = 0; step < steps; ++step) {
        wave_fence();
        carrier.store(raw[wave()]);
        wave_fence();
        const bool ends_rows = chunk + 1 == CHUNKS;
        if (ends_rows) next.first += (u64)WAVES * OUTPUTS * row_bytes;
        if (step + 1 < steps) carrier.load(next, ends_rows ? 0 : chunk + 1);
        add_chunk<Format, C, WHOLE, K_ROWS, 2>(sum, raw[wave()], block, chunk, UNITS, activations, table);
        chunk = ends_rows ? 0 : chunk + 1;
        if (!ends_rows) continue;
        const u32 row = first + step / CHUNKS * WAVES * OUTPUTS;
        float gates[OUTPUTS], ups[OUTPUTS];
#pragma unroll
        for (u32 r = 0; r < OUTPUTS; ++r) {
            gates[r] = sum[r], ups[r] = sum[OUTPUTS + r];
            sum[r] = 0.0f, sum[OUTPUTS + r] = 0.0f;
        }
        const float g = smaller(wave_sums(gates), limit), u = smaller(larger(wave_sums(ups), -limit), limit);
        if (lane() < OUTPUTS && row + lane() < rows) inner[(u64)slot * rows + row + lane()] = silu(g) * u;
        block = next;
    }
}
EXPORT_KERNEL(matvec_gate_up)
