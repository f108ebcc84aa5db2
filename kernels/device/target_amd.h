// gfx11 (RDNA 3 and 3.5) in wave32, by clang builtins. Compiled by hiprtc on ROCm machines and by a plain clang with
// -nogpuinc and -nogpulib elsewhere, so nothing of the ROCm headers or device libraries is used.
#pragma once

#define KERNEL(threads) \
    extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(threads, threads))) void
// Same, with at least `waves` waves on each SIMD: a ceiling on registers.
#define KERNEL_WAVES(threads, waves)                                                                  \
    extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(threads, threads))) \
    __attribute__((amdgpu_waves_per_eu(waves))) void
#define DEVICE static __attribute__((device)) __attribute__((always_inline)) inline
#define DEVICE_MEMBER __attribute__((device)) __attribute__((always_inline)) inline
#define SHARED __attribute__((shared))
#define SHARED_POOL(name, bytes) __attribute__((shared)) __attribute__((aligned(16))) unsigned char name[bytes]
#define CONSTANT static __attribute__((device)) const
#define EXPORT_KERNEL(name)
#define HB_MATRIX_AMD 1

namespace hb {

DEVICE u32 thread_index() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE u32 group_x() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE u32 group_y() { return __builtin_amdgcn_workgroup_id_y(); }
DEVICE u32 group_z() { return __builtin_amdgcn_workgroup_id_z(); }

DEVICE void barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Orders LDS accesses among the lanes of one wave.
DEVICE void wave_fence() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

// Keeps `value` computed here, in all lanes: the compiler may not move its producer below.
DEVICE void pin(float& value) { asm volatile("" : "+v"(value)); }
// See target_nvidia.h.
DEVICE u32 in_register(u32 constant) { return constant; }

// Exchange inside rows of 16 lanes is a DPP modifier (row_xmask); across them it is v_permlanex16.
template <u32 MASK>
DEVICE u32 lane_xor(u32 value) {
    if constexpr (MASK < 16) return __builtin_amdgcn_update_dpp(0, value, 0x160 + MASK, 0xf, 0xf, true);
    static_assert(MASK <= 16, "one row exchange at a time");
    return __builtin_amdgcn_permlanex16(value, value, 0x76543210u, 0xfedcba98u, false, false);
}
DEVICE u32 lane_read(u32 value, u32 source) { return __builtin_amdgcn_ds_bpermute(source * 4, value); }
// A value that is the same in all lanes, told to the compiler as such: branches on it are scalar.
DEVICE u32 uniform(u32 value) { return __builtin_amdgcn_readfirstlane(value); }
// The largest and the least of a wave's integers, in a scalar register: exchanges cannot sink below it.
DEVICE u32 wave_max(u32 value) {
    u32 other = lane_xor<1>(value);
    value = value > other ? value : other, other = lane_xor<2>(value);
    value = value > other ? value : other, other = lane_xor<4>(value);
    value = value > other ? value : other, other = lane_xor<8>(value);
    value = value > other ? value : other, other = lane_xor<16>(value);
    return uniform(value > other ? value : other);
}
DEVICE u32 wave_min(u32 value) { return ~wave_max(~value); }
DEVICE u32 wave_ballot(bool predicate) { return __builtin_amdgcn_ballot_w32(predicate); }
DEVICE u32 count_bits(u32 value) { return __builtin_popcount(value); }

DEVICE float half_to_float(u16 bits) { return (float)__builtin_bit_cast(_Float16, bits); }
DEVICE u16 float_to_half(float value) { return __builtin_bit_cast(u16, (_Float16)value); }

DEVICE float power2(float x) { return __builtin_amdgcn_exp2f(x); }
DEVICE float natural_log(float x) { return __builtin_logf(x); }
DEVICE float square_root(float x) { return __builtin_sqrtf(x); }
DEVICE float reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }  // within one unit in the last place
DEVICE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
DEVICE float round_even(float x) { return __builtin_rintf(x); }

// acc + the dot product of four signed bytes.
DEVICE i32 dot4(u32 a, u32 b, i32 acc) { return __builtin_amdgcn_sudot4(true, (i32)a, true, (i32)b, acc, false); }
// The same where the bytes of `a` are unsigned.
DEVICE i32 dot4_unsigned(u32 a, u32 b, i32 acc) {
    return __builtin_amdgcn_sudot4(false, (i32)a, true, (i32)b, acc, false);
}
// The low word of high:low shifted right by `bits` (0..31).
DEVICE u32 funnel_right(u32 low, u32 high, u32 bits) { return __builtin_amdgcn_alignbit(high, low, bits); }
// Byte i of the result is byte (nibble i of NIBBLES) of high:low, nibbles 0..7.
template <u32 NIBBLES>
DEVICE u32 permute(u32 low, u32 high) {
    constexpr u32 indices = (NIBBLES & 7) | (NIBBLES >> 4 & 7) << 8 | (NIBBLES >> 8 & 7) << 16 | (NIBBLES >> 12 & 7) << 24;
    return __builtin_amdgcn_perm(high, low, indices);
}
// Eight table bytes (low:high) for the eight nibbles of `selectors`, each 0..7: nibbles 0..3 to `first`, 4..7 to `second`.
DEVICE void look_up(u32 low, u32 high, u32 selectors, u32& first, u32& second) {
    const u32 even = __builtin_amdgcn_perm(high, low, selectors & 0x07070707u);
    const u32 odd = __builtin_amdgcn_perm(high, low, selectors >> 4 & 0x07070707u);
    first = permute<0x5140>(even, odd), second = permute<0x7362>(even, odd);
}
// The same for bytes of two nibbles whose top bits do not count: the low nibbles of all four bytes to `lows`, the high ones
// to `highs`.
DEVICE void look_up_halves(u32 low, u32 high, u32 selectors, u32& lows, u32& highs) {
    lows = __builtin_amdgcn_perm(high, low, selectors & 0x07070707u);
    highs = __builtin_amdgcn_perm(high, low, selectors >> 4 & 0x07070707u);
}
// Eight of sixteen table bytes for the eight nibbles of `selectors`; the top bit of every table byte must be set. In the
// machine's own order: nibbles 0..3 to `first` if NIBBLES_IN_ORDER, else the low nibble of each byte.
constexpr bool NIBBLES_IN_ORDER = false;
DEVICE u32 low_nibbles_of_16(u32 t0, u32 t1, u32 t2, u32 t3, u32 selectors) {
    const u32 eighth = selectors & 0x07070707u, upper = 0x03020100u | (selectors >> 1 & 0x04040404u);
    return __builtin_amdgcn_perm(__builtin_amdgcn_perm(t3, t2, eighth), __builtin_amdgcn_perm(t1, t0, eighth), upper);
}
DEVICE void look_up_16(u32 t0, u32 t1, u32 t2, u32 t3, u32 selectors, u32& first, u32& second) {
    first = low_nibbles_of_16(t0, t1, t2, t3, selectors);
    second = low_nibbles_of_16(t0, t1, t2, t3, selectors >> 4);
}
// Always the low nibble of each byte to `lows`.
DEVICE void look_up_halves_16(u32 t0, u32 t1, u32 t2, u32 t3, u32 selectors, u32& lows, u32& highs) {
    look_up_16(t0, t1, t2, t3, selectors, lows, highs);
}

DEVICE u32 and_or(u32 word, u32 mask, u32 bits) { return (word & mask) | bits; }

// Pairs of F16 in one word.
typedef _Float16 HalfPair __attribute__((ext_vector_type(2)));
DEVICE u32 pair_fma(u32 a, u32 b, u32 c) {
    return __builtin_bit_cast(u32, __builtin_elementwise_fma(__builtin_bit_cast(HalfPair, a), __builtin_bit_cast(HalfPair, b),
                                                             __builtin_bit_cast(HalfPair, c)));
}
DEVICE u32 pair_add(u32 a, u32 b) {
    return __builtin_bit_cast(u32, __builtin_bit_cast(HalfPair, a) + __builtin_bit_cast(HalfPair, b));
}
DEVICE u32 pair_multiply(u32 a, u32 b) {
    return __builtin_bit_cast(u32, __builtin_bit_cast(HalfPair, a) * __builtin_bit_cast(HalfPair, b));
}
// The dot product of COUNT pairs, added in F32.
template <u32 COUNT>
DEVICE float dot_pairs(const u32* a, const u32* b) {
    float sum = 0.0f;
#pragma unroll
    for (u32 i = 0; i < COUNT; ++i)
        sum = __builtin_amdgcn_fdot2(__builtin_bit_cast(HalfPair, a[i]), __builtin_bit_cast(HalfPair, b[i]), sum, false);
    return sum;
}

// d += a times b transposed; the lane layout is that of matrix.h.
DEVICE void wmma_16x16x16(float (&d)[8], const u32 (&a)[8], const u32 (&b)[8]) {
    using Halves = _Float16 __attribute__((ext_vector_type(16)));
    using Floats = float __attribute__((ext_vector_type(8)));
    using Words = u32 __attribute__((ext_vector_type(8)));
    const Words x = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]};
    const Words y = {b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]};
    Floats sum = {d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]};
    sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(__builtin_bit_cast(Halves, x), __builtin_bit_cast(Halves, y), sum);
#pragma unroll
    for (u32 i = 0; i < 8; ++i) d[i] = sum[i];
}

// There is no copy engine into LDS: pieces travel through registers (see Pieces in async.h).
#define HB_ASYNC_COPY 0

// Counting and marking in LDS: sums of integers and unions of bits, which no order of threads can change.
DEVICE u32 shared_add(u32* counter, u32 amount) {
    return __hip_atomic_fetch_add(counter, amount, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
DEVICE u32 shared_or(u32* word, u32 mask) {
    return __hip_atomic_fetch_or(word, mask, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}

}  // namespace hb
