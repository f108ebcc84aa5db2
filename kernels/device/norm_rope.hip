// RMS norm, rotation and cache rounding of rows, one wave a row: the tail of the query-a, KV and indexer projections.
//
//   K_WIDTH    values in a row: 1024 (query a), 512 (KV), 128 (indexer queries); 192, 64, 32 in the embedded model
//   K_ROTARY   rotated values at the end of the row, 0 for none
//   K_WEIGHTED 1: RMS norm times weight; 0: no norm at all (indexer queries)
//   K_ROUNDING see Rounding in row.h
//   K_OUTPUT   float, or u16 for F16 storage rows
#include "overlap.h"
#include "row.h"

using namespace hb;

// values [rows, K_WIDTH] -> out. Row i stands at row i / rows_per_position of cosines and sines [.., K_ROTARY / 2] and
// goes to row (start[0] * follows_start + i) & row_mask of `out`: a mask of 127 makes that a ring of 128 rows.
KERNEL(256) norm_rope(const float* values, const float* weight, const float* cosines, const float* sines,
                      K_OUTPUT* out, const u32* start, u32 rows, u32 rows_per_position, u32 follows_start,
                      u32 row_mask, float epsilon) {
    allow_next();
    await_inputs();
    const u32 index = group_x() * 8 + wave();
    if (index >= rows) return;
    // Everything is asked for before anything is used: a single row's time is that of its waits.
    Row<K_WIDTH> row, factor;
    load_row(row, values + (u64)index * K_WIDTH);
    if constexpr (K_WEIGHTED) load_row(factor, weight);
    Angles<K_ROTARY, K_WIDTH> angles;
    const u64 position = index / rows_per_position;
    if constexpr (K_ROTARY > 0) angles.load(cosines + position * (K_ROTARY / 2), sines + position * (K_ROTARY / 2));
    const u32 target = (start[0] * follows_start + index) & row_mask;
    if constexpr (K_WEIGHTED) {
        normalise(row, epsilon);
#pragma unroll
        for (u32 j = 0; j < Row<K_WIDTH>::REGISTERS; ++j) row.v[j] *= factor.v[j];
    }
    if constexpr (K_ROTARY > 0) rotate(row, angles);
    round_stored<K_ROUNDING, K_ROTARY>(row);
    store_row(row, out + (u64)target * K_WIDTH);
}
EXPORT_KERNEL(norm_rope)
