// The CPU block emulator seen by a kernel source: the primitives of portable.h on fibers, one a thread of a workgroup.
// A wave exchange or barrier hands control back to the scheduler in emulator.cpp, which resumes a wave only when all of
// its lanes stand at the same exchange, and a workgroup only when all of its waves stand at the barrier. Shared memory
// lives in two sections of the kernel's library, so the scheduler can fill it with poison before each workgroup, and
// knows the pool that asynchronous copies go to.
#pragma once

#include "slot.h"
#include "standard.h"

#define KERNEL(threads) extern "C" void
#define KERNEL_WAVES(threads, waves) extern "C" void
#define DEVICE static inline __attribute__((always_inline, unused))
#define DEVICE_MEMBER inline __attribute__((always_inline))
#define SHARED static __attribute__((section("emulated_lds"), used))
#define SHARED_POOL(name, bytes) \
    static __attribute__((section("emulated_pool"), used, aligned(16))) unsigned char name[bytes]
#define CONSTANT static const
#if !defined(HB_MATRIX_AMD) && !defined(HB_MATRIX_NVIDIA)
#define HB_MATRIX_AMD 1  // the lane layout whose matrix instructions are modelled; the other one by -DHB_MATRIX_NVIDIA
#endif

// The order in which lanes of a wave, and waves of a workgroup, run between two meeting points.
struct EmulatedLaunch {
    uint32_t grid[3];
    uint32_t threads;
    uint32_t seed;  // 0: ascending, 1: descending, else shuffled anew at every meeting point
    char error[256];
};

struct EmulatedMemory {
    char *begin, *end;
};

extern "C" {
void emulator_run(EmulatedLaunch* launch, void (*body)(const void*), const void* context, EmulatedMemory lds,
                  EmulatedMemory pool);
void emulator_meet_wave(int site);
void emulator_meet_group();
extern uint32_t emulator_thread, emulator_group[3];
// The exchange slot of a lane of the running wave: SLOT_WORDS words (slot.h).
// Slots of a wave stand side by side in lane order.
uint32_t* emulator_slot(uint32_t lane);
void emulator_flip();
void emulator_copy_later(void* target, const void* source, uint32_t bytes);
void emulator_copy_now();
void emulator_close_group();
void emulator_copy_groups(uint32_t but_latest);
extern char __start_emulated_lds[] __attribute__((weak, visibility("hidden")));
extern char __stop_emulated_lds[] __attribute__((weak, visibility("hidden")));
extern char __start_emulated_pool[] __attribute__((weak, visibility("hidden")));
extern char __stop_emulated_pool[] __attribute__((weak, visibility("hidden")));
}

namespace hb {

DEVICE u32 thread_index() { return emulator_thread; }
DEVICE u32 group_x() { return emulator_group[0]; }
DEVICE u32 group_y() { return emulator_group[1]; }
DEVICE u32 group_z() { return emulator_group[2]; }
DEVICE void barrier() { emulator_meet_group(); }
DEVICE void wave_fence() { emulator_meet_wave(1); }
DEVICE void pin(float&) {}
DEVICE u32 in_register(u32 constant) { return constant; }

DEVICE u32 exchange(u32 value, u32 source, int site) {
    emulator_slot(emulator_thread % WAVE)[0] = value;
    emulator_meet_wave(site);
    const u32 received = emulator_slot(source)[0];
    emulator_flip();
    return received;
}
template <u32 MASK>
DEVICE u32 lane_xor(u32 value) { return exchange(value, (emulator_thread % WAVE) ^ MASK, 2); }
DEVICE u32 lane_read(u32 value, u32 source) { return exchange(value, source % WAVE, 3); }
DEVICE u32 uniform(u32 value) { return value; }
DEVICE u32 wave_ballot(bool predicate) {
    emulator_slot(emulator_thread % WAVE)[0] = predicate;
    emulator_meet_wave(4);
    u32 mask = 0;
    for (u32 i = 0; i < WAVE; ++i) mask |= emulator_slot(i)[0] << i;
    emulator_flip();
    return mask;
}
DEVICE u32 wave_max(u32 value) {
    emulator_slot(emulator_thread % WAVE)[0] = value;
    emulator_meet_wave(9);
    u32 largest = 0;
    for (u32 i = 0; i < WAVE; ++i) largest = emulator_slot(i)[0] > largest ? emulator_slot(i)[0] : largest;
    emulator_flip();
    return largest;
}
DEVICE u32 wave_min(u32 value) { return ~wave_max(~value); }
DEVICE u32 count_bits(u32 value) { return (u32)__builtin_popcount(value); }

DEVICE float half_to_float(u16 bits) {
    const u32 sign = (u32)(bits & 0x8000u) << 16, exponent = bits >> 10 & 31u, mantissa = bits & 1023u;
    float value;
    if (exponent == 0) {
        value = (float)mantissa * 0x1p-24f;
    } else {
        const u32 word = (exponent == 31 ? 255u << 23 : (exponent + 112u) << 23) | mantissa << 13;
        std::memcpy(&value, &word, 4);
    }
    u32 word;
    std::memcpy(&word, &value, 4);
    word |= sign;
    std::memcpy(&value, &word, 4);
    return value;
}
DEVICE u16 float_to_half(float value) {
    u32 word;
    std::memcpy(&word, &value, 4);
    const u16 sign = (u16)(word >> 16 & 0x8000u);
    const float size = std::fabs(value);
    if (size != size) return (u16)(sign | 0x7e00u);
    if (size >= 65520.0f) return (u16)(sign | 0x7c00u);
    if (size < 0x1p-14f) return (u16)(sign | (u16)std::nearbyint(size * 0x1p24f));
    word &= 0x7fffffffu;
    word += 0xfffu + (word >> 13 & 1u);  // ties to even
    return (u16)(sign | (u16)((word >> 13) - (112u << 10)));
}

DEVICE float power2(float x) { return std::exp2(x); }
DEVICE float natural_log(float x) { return std::log(x); }
DEVICE float square_root(float x) { return std::sqrt(x); }
DEVICE float reciprocal(float x) { return 1.0f / x; }
DEVICE float fused(float a, float b, float c) { return a * b + c; }
DEVICE float round_even(float x) { return std::nearbyint(x); }

DEVICE i32 dot4(u32 a, u32 b, i32 acc) {
    for (int i = 0; i < 4; ++i) acc += (i32)(i8)(a >> 8 * i) * (i32)(i8)(b >> 8 * i);
    return acc;
}
DEVICE i32 dot4_unsigned(u32 a, u32 b, i32 acc) {
    for (int i = 0; i < 4; ++i) acc += (i32)(u8)(a >> 8 * i) * (i32)(i8)(b >> 8 * i);
    return acc;
}
DEVICE u32 funnel_right(u32 low, u32 high, u32 bits) {
    return (u32)(((u64)high << 32 | low) >> (bits & 31u));
}
DEVICE u32 byte_permute(u32 low, u32 high, u32 selector) {
    const u64 bytes = (u64)high << 32 | low;
    u32 value = 0;
    for (int i = 0; i < 4; ++i) value |= (u32)(bytes >> 8 * (selector >> 4 * i & 7u) & 0xffu) << 8 * i;
    return value;
}
template <u32 NIBBLES>
DEVICE u32 permute(u32 low, u32 high) { return byte_permute(low, high, NIBBLES); }
DEVICE void look_up(u32 low, u32 high, u32 selectors, u32& first, u32& second) {
    first = byte_permute(low, high, selectors), second = byte_permute(low, high, selectors >> 16);
}
DEVICE void look_up_halves(u32 low, u32 high, u32 selectors, u32& lows, u32& highs) {
    u32 first, second;
    look_up(low, high, selectors, first, second);
    lows = permute<0x6420>(first, second), highs = permute<0x7531>(first, second);
}
// Poison where a table byte has not its top bit set, which NVIDIA's form needs.
DEVICE u32 byte_of_16(u32 t0, u32 t1, u32 t2, u32 t3, u32 nibble) {
    const u32 tables[4] = {t0, t1, t2, t3}, byte = tables[nibble / 4] >> nibble % 4 * 8 & 0xffu;
    return byte & 0x80u ? byte : 0x55u;
}
DEVICE void look_up_halves_16(u32 t0, u32 t1, u32 t2, u32 t3, u32 selectors, u32& lows, u32& highs) {
    lows = highs = 0;
    for (int i = 0; i < 4; ++i) {
        lows |= byte_of_16(t0, t1, t2, t3, selectors >> 8 * i & 15u) << 8 * i;
        highs |= byte_of_16(t0, t1, t2, t3, selectors >> (8 * i + 4) & 15u) << 8 * i;
    }
}
#if defined(HB_MATRIX_AMD)
constexpr bool NIBBLES_IN_ORDER = false;
#else
constexpr bool NIBBLES_IN_ORDER = true;
#endif
DEVICE void look_up_16(u32 t0, u32 t1, u32 t2, u32 t3, u32 selectors, u32& first, u32& second) {
    u32 lows, highs;
    look_up_halves_16(t0, t1, t2, t3, selectors, lows, highs);
    first = NIBBLES_IN_ORDER ? permute<0x5140>(lows, highs) : lows;
    second = NIBBLES_IN_ORDER ? permute<0x7362>(lows, highs) : highs;
}

DEVICE u32 and_or(u32 word, u32 mask, u32 bits) { return (word & mask) | bits; }
DEVICE float half_of(u32 pair, u32 i) { return half_to_float((u16)(pair >> 16 * i)); }
DEVICE u32 pair_fma(u32 a, u32 b, u32 c) {
    u32 value = 0;
    for (u32 i = 0; i < 2; ++i) value |= (u32)float_to_half(half_of(a, i) * half_of(b, i) + half_of(c, i)) << 16 * i;
    return value;
}
DEVICE u32 pair_add(u32 a, u32 b) { return pair_fma(a, 0x3c003c00u, b); }
DEVICE u32 pair_multiply(u32 a, u32 b) { return pair_fma(a, b, 0); }
#if defined(HB_MATRIX_AMD)
template <u32 COUNT>
DEVICE float dot_pairs(const u32* a, const u32* b) {
    float sum = 0.0f;
    for (u32 i = 0; i < 2 * COUNT; ++i) sum += half_of(a[i / 2], i % 2) * half_of(b[i / 2], i % 2);
    return sum;
}
#else
template <u32 COUNT>
DEVICE float dot_pairs(const u32* a, const u32* b) {
    u32 sum = 0;
    for (u32 first = 0; first < COUNT; first += 8) {
        u32 chain = 0;
        for (u32 i = first; i < first + 8; ++i) chain = pair_fma(a[i], b[i], chain);
        sum = first ? pair_add(sum, chain) : chain;
    }
    return half_of(sum, 0) + half_of(sum, 1);
}
#endif

DEVICE u32 shared_add(u32* counter, u32 amount) {
    const u32 before = *counter;
    *counter += amount;
    return before;
}
DEVICE u32 shared_or(u32* word, u32 mask) {
    const u32 before = *word;
    *word |= mask;
    return before;
}

#if defined(HB_MATRIX_AMD)
#define HB_ASYNC_COPY 0
#else
#define HB_ASYNC_COPY 1
#endif
// Copies happen as late as they may, so that a missing wait shows.
DEVICE void copy_async(void* target, const void* source, u32 bytes) { emulator_copy_later(target, source, bytes); }
DEVICE void wait_copies() { emulator_copy_now(); }
DEVICE void commit_copies() { emulator_close_group(); }
template <u32 COUNT>
DEVICE void wait_groups() { emulator_copy_groups(COUNT); }

// The matrix instructions, each a meeting of the wave: every lane shows its operands, then works out its own results.
template <size_t N>
DEVICE void show(const u32* words, u32 first) {
    float values[2 * N];
    for (size_t i = 0; i < 2 * N; ++i) values[i] = half_to_float((u16)(words[i / 2] >> 16 * (i % 2)));
    std::memcpy(emulator_slot(emulator_thread % WAVE) + first, values, sizeof values);
}
DEVICE const float* shown(u32 lane, u32 first) { return (const float*)emulator_slot(lane) + first; }

DEVICE void wmma_16x16x16(float (&d)[8], const u32 (&a)[8], const u32 (&b)[8]) {
    const u32 self = emulator_thread % WAVE;
    show<8>(a, 0), show<8>(b, 16);
    emulator_meet_wave(5);
    const float* column = shown(self % 16, 16);
    for (u32 i = 0; i < 8; ++i) {
        const float* row = shown(2 * i + self / 16, 0);
        for (u32 k = 0; k < 16; ++k) d[i] += row[k] * column[k];
    }
    emulator_flip();
}

// Element k of row m of A, and of column n of B, in the register layout of mma.m16n8k16; `slots` begin with lane 0's.
DEVICE float mma_a(const float* slots, u32 m, u32 k) {
    return slots[(m % 8 * 4 + k % 8 / 2) * SLOT_WORDS + (m / 8 + k / 8 * 2) * 2 + k % 2];
}
DEVICE float mma_b(const float* slots, u32 n, u32 k) {
    return slots[(n * 4 + k % 8 / 2) * SLOT_WORDS + 8 + k / 8 * 2 + k % 2];
}

DEVICE void mma_16x8x16(float* d, const u32 (&a)[4], const u32* b) {
    const u32 self = emulator_thread % WAVE;
    show<4>(a, 0), show<2>(b, 8);
    emulator_meet_wave(6);
    const float* slots = shown(0, 0);
    float rows[2][16], columns[2][16];
    for (u32 i = 0; i < 2; ++i)
        for (u32 k = 0; k < 16; ++k) {
            rows[i][k] = mma_a(slots, self / 4 + i * 8, k);
            columns[i][k] = mma_b(slots, self % 4 * 2 + i, k);
        }
    for (u32 i = 0; i < 4; ++i)
        for (u32 k = 0; k < 16; ++k) d[i] += rows[i / 2][k] * columns[i % 2][k];
    emulator_flip();
}

DEVICE void load_8x8(u32 (&r)[4], const u16* row, bool transposed) {
    const u32 self = emulator_thread % WAVE;
    if ((uintptr_t)row % 16) std::abort();  // the hardware wants 16-byte rows
    std::memcpy(emulator_slot(self), row, 16);
    emulator_meet_wave(transposed ? 8 : 7);
    for (u32 matrix = 0; matrix < 4; ++matrix) {
        u16 pair[2];
        for (u32 half = 0; half < 2; ++half) {
            const u32 line = transposed ? self % 4 * 2 + half : self / 4, at = transposed ? self / 4 : self % 4 * 2 + half;
            pair[half] = (u16)(emulator_slot(matrix * 8 + line)[at / 2] >> 16 * (at % 2));
        }
        r[matrix] = pair[0] | (u32)pair[1] << 16;
    }
    emulator_flip();
}
DEVICE void load_matrices(u32 (&r)[4], const u16* row) { load_8x8(r, row, false); }
DEVICE void load_matrices_transposed(u32 (&r)[4], const u16* row) { load_8x8(r, row, true); }

// Reads arguments out of a packed buffer, each at its natural alignment, as the HIP launch interface lays them out.
template <class... A>
struct PackedCall {
    void (*kernel)(A...);
    const char* packed;

    template <class T>
    static T take(const char* packed, size_t& offset) {
        offset = (offset + alignof(T) - 1) / alignof(T) * alignof(T);
        T value;
        std::memcpy(&value, packed + offset, sizeof(T));
        offset += sizeof(T);
        return value;
    }
    static void call(const void* self) {
        const PackedCall* me = static_cast<const PackedCall*>(self);
        size_t offset = 0;
        std::tuple<A...> arguments{take<A>(me->packed, offset)...};
        std::apply(me->kernel, arguments);
    }
};
template <class... A>
void emulate(void (*kernel)(A...), EmulatedLaunch* launch, const void* packed) {
    const PackedCall<A...> call{kernel, static_cast<const char*>(packed)};
    emulator_run(launch, PackedCall<A...>::call, &call, {__start_emulated_lds, __stop_emulated_lds},
                 {__start_emulated_pool, __stop_emulated_pool});
}

}  // namespace hb

#define EXPORT_KERNEL(name)                                                                  \
    extern "C" void emulated_##name(EmulatedLaunch* launch, const void* packed) {            \
        hb::emulate(name, launch, packed);                                                   \
    }
