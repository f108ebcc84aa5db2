// The first half of an expert for single tokens: gate and up rows of the chosen experts side by side, then
// silu(min(gate, limit)) * clamp(up, -limit, limit). Also the shared expert, as the only expert of its matrix.
//
//   K_FORMAT, K_WIDTH, K_ALIGNED, K_AHEAD   as in matvec
//   K_ROWS                                  rows a wave streams at a time: half of them of gate, half of up
#include "matvec.h"
#include "overlap.h"

using namespace hb;

using Format = K_FORMAT;
constexpr u32 THREADS = 256, WAVES = THREADS / WAVE, UNITS = K_WIDTH / 32, OUTPUTS = K_ROWS / 2;
constexpr u32 CHUNKS = (UNITS + LANE_UNITS - 1) / LANE_UNITS;
constexpr u32 VECTOR_WORDS = (UNITS * Activations<Format>::WORDS_A_UNIT + 3) / 4 * 4;
constexpr bool WHOLE = UNITS % LANE_UNITS == 0;
using C = Chunk<Format, K_ROWS, K_ALIGNED, WHOLE>;
using Rows = RowBlock<K_ROWS, 2>;
using RowStream = Stream<C, WHOLE, K_ROWS, 2>;
static_assert(K_POOL_BYTES == VECTOR_WORDS * 4 + WAVES * RowStream::BYTES, "kernels.ops.matvec must ask for this size");

// x [tokens, K_WIDTH], gate and up [all experts, rows, K_WIDTH] in blocks, experts [tokens, used] -> inner
// [tokens, used, rows]. A workgroup takes 8 * K_ROWS / 2 * passes rows. Grid (rows / that, tokens * used).
KERNEL(256) matvec_gate_up(const float* x, const u8* gate, const u8* up, const i32* experts, float* inner, u32 rows,
                           u32 all_experts, u32 used, u32 row_bytes, u32 passes, float limit) {
    SHARED_POOL(pool, K_POOL_BYTES);
    SHARED u32 table[Dot<Format>::TABLE_WORDS + 1];
    Dot<Format>::template prepare<THREADS>(table);
    await_inputs();
    const u32 slot = group_y(), first = (group_x() * passes * WAVES + wave()) * OUTPUTS;
    const u64 expert_first = (u64)(u32)experts[slot] * rows + first, total_bytes = (u64)all_experts * rows * row_bytes;
    const Activations<Format> activations = Activations<Format>::at((u32*)pool, UNITS);
    VectorLoad<Format, THREADS, UNITS> vector(x + (u64)(slot / used) * K_WIDTH);
    auto rows_of = [&](const Walk<CHUNKS>& at) {
        return Rows{{gate, up}, (expert_first + at.pass * WAVES * OUTPUTS) * row_bytes, total_bytes, row_bytes};
    };
    Walk<CHUNKS> now, ahead;
    RowStream stream(pool + VECTOR_WORDS * 4 + wave() * RowStream::BYTES);
    auto bring_next = [&] {
        stream.bring(rows_of(ahead), ahead.chunk, ahead.pass < passes);
        ahead.advance();
    };
#pragma unroll
    for (u32 i = 0; i < RowStream::AHEAD; ++i) bring_next();
    vector.store(activations);
    barrier();

    float sum[K_ROWS];
#pragma unroll
    for (u32 r = 0; r < K_ROWS; ++r) sum[r] = 0.0f;
#pragma unroll 1
    while (now.pass < passes) {
        const u8* buffer = stream.arrive();
        bring_next();
        add_chunk<Format, C, WHOLE, K_ROWS, 2>(sum, buffer, rows_of(now), now.chunk, UNITS, activations, 0, table);
        if (now.ends_rows()) {
            const u32 row = first + now.pass * WAVES * OUTPUTS + lane();
            float gates[OUTPUTS], ups[OUTPUTS];
#pragma unroll
            for (u32 r = 0; r < OUTPUTS; ++r) {
                gates[r] = sum[r], ups[r] = sum[OUTPUTS + r];
                sum[r] = 0.0f, sum[OUTPUTS + r] = 0.0f;
            }
            const float g = smaller(wave_sums(gates), limit), u = smaller(larger(wave_sums(ups), -limit), limit);
            if (lane() < OUTPUTS && row < rows) inner[(u64)slot * rows + row] = silu(g) * u;
        }
        now.advance();
    }
}
EXPORT_KERNEL(matvec_gate_up)
