// How one token's rows are cut for decode: K_ROWS rows a split, by their place in the list alone. The raw window has its own
// splits, then come those of the compressed rows; how many rows a split has is known on the device only, so a grid covers
// all splits that may be and those without rows are passed over.
//
//   K_ROWS, K_WINDOW, K_WIDTH, K_HEADS   rows of a split; rows of the window, a multiple of them; channels of a row; heads
#pragma once
#include "visibility.h"

namespace hb {

constexpr u32 RAW_SPLITS = K_WINDOW / K_ROWS;
static_assert(K_WINDOW % K_ROWS == 0);
constexpr u32 WORK_HEADS = (K_HEADS + 15) / 16 * 16;  // in the work buffer: whole tiles are stored
// A head's part of a split in the work buffer: the output before division, its largest score, its sum of weights.
constexpr u32 PARTIAL_WIDTH = K_WIDTH + 4, LARGEST_COLUMN = K_WIDTH, TOTAL_COLUMN = K_WIDTH + 1;

struct Splits {
    u32 raw_rows, compressed_rows;

    DEVICE_MEMBER u32 rows(u32 split) const {
        const bool is_raw = split < RAW_SPLITS;
        const u32 before = (is_raw ? split : split - RAW_SPLITS) * K_ROWS, all = is_raw ? raw_rows : compressed_rows;
        return all > before ? smaller(all - before, K_ROWS) : 0;
    }
    DEVICE_MEMBER u32 end() const { return RAW_SPLITS + ceil_div(compressed_rows, K_ROWS); }
};

// The rows of the only token of a step.
DEVICE Splits splits_of(const Visibility& view, u32 plan, const i32* counts, u32 top_k) {
    switch (plan) {
        case PLAN_CONTIGUOUS: return {view.raw_count(0), view.visible(0)};
        case PLAN_INDEXED: return {view.raw_count(0), smaller((u32)counts[0], top_k)};
        default: return {view.raw_count(0), 0};
    }
}

}  // namespace hb
