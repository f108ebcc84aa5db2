// sm_80 and later by built-in functions and inline PTX, for NVRTC and nvcc alike; no CUDA header is needed.
#pragma once

#define KERNEL(threads) extern "C" __global__ __launch_bounds__(threads) void
// Same, with at least `waves` waves on each of a multiprocessor's four schedulers: a ceiling on registers.
#define KERNEL_WAVES(threads, waves) extern "C" __global__ __launch_bounds__(threads, (waves) * 128 / (threads)) void
#define DEVICE static __device__ __forceinline__
#define DEVICE_MEMBER __device__ __forceinline__
#define SHARED __shared__
// More than 48 KiB of shared memory is only given at launch: the pool is the launch's dynamic allocation.
#define SHARED_POOL(name, bytes) extern __shared__ __align__(16) unsigned char name[]
#define CONSTANT static __device__ const
#define EXPORT_KERNEL(name)
#define HB_MATRIX_NVIDIA 1

namespace hb {

DEVICE u32 thread_index() { return threadIdx.x; }
DEVICE u32 group_x() { return blockIdx.x; }
DEVICE u32 group_y() { return blockIdx.y; }
DEVICE u32 group_z() { return blockIdx.z; }

DEVICE void barrier() { __syncthreads(); }
DEVICE void wave_fence() { __syncwarp(); }
DEVICE void pin(float& value) { asm volatile("" : "+f"(value)); }
// A constant in a register of its own: the assembler would keep it in a uniform one and copy it before each use. Threads
// have no second coordinate, which it does not know.
DEVICE u32 in_register(u32 constant) {
    u32 zero;
    asm("mov.u32 %0, %%tid.y;" : "=r"(zero));
    return constant + zero;
}

template <u32 MASK>
DEVICE u32 lane_xor(u32 value) { return __shfl_xor_sync(0xffffffffu, value, MASK); }
DEVICE u32 lane_read(u32 value, u32 source) { return __shfl_sync(0xffffffffu, value, source); }
DEVICE u32 wave_max(u32 value) {
    u32 largest;
    asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(largest) : "r"(value));
    return largest;
}
DEVICE u32 wave_min(u32 value) {
    u32 least;
    asm volatile("redux.sync.min.u32 %0, %1, 0xffffffff;" : "=r"(least) : "r"(value));
    return least;
}
DEVICE u32 uniform(u32 value) { return value; }
DEVICE u32 wave_ballot(bool predicate) { return __ballot_sync(0xffffffffu, predicate); }
DEVICE u32 count_bits(u32 value) { return __popc(value); }

DEVICE float half_to_float(u16 bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}
DEVICE u16 float_to_half(float value) {
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

DEVICE float power2(float x) {
    float value;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
    return value;
}
DEVICE float natural_log(float x) { return logf(x); }
DEVICE float square_root(float x) { return sqrtf(x); }
DEVICE float reciprocal(float x) {  // within one unit in the last place
    float value;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
    return value;
}
DEVICE float fused(float a, float b, float c) { return fmaf(a, b, c); }
DEVICE float round_even(float x) { return rintf(x); }

DEVICE i32 dot4(u32 a, u32 b, i32 acc) {
    i32 value;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(value) : "r"(a), "r"(b), "r"(acc));
    return value;
}
DEVICE i32 dot4_unsigned(u32 a, u32 b, i32 acc) {
    i32 value;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(value) : "r"(a), "r"(b), "r"(acc));
    return value;
}
DEVICE u32 funnel_right(u32 low, u32 high, u32 bits) {
    u32 value;
    asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(value) : "r"(low), "r"(high), "r"(bits));
    return value;
}
DEVICE u32 byte_permute(u32 low, u32 high, u32 selector) {
    u32 value;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(value) : "r"(low), "r"(high), "r"(selector));
    return value;
}
template <u32 NIBBLES>
DEVICE u32 permute(u32 low, u32 high) { return byte_permute(low, high, NIBBLES); }
DEVICE void look_up(u32 low, u32 high, u32 selectors, u32& first, u32& second) {
    first = byte_permute(low, high, selectors), second = byte_permute(low, high, selectors >> 16);
}
DEVICE void look_up_halves(u32 low, u32 high, u32 selectors, u32& lows, u32& highs) {
    u32 first, second;
    look_up(low, high, selectors & 0x77777777u, first, second);  // bit 3 would ask for the sign of the byte
    lows = permute<0x6420>(first, second), highs = permute<0x7531>(first, second);
}
// A byte permute whose nibble has bit 3 set gives the byte's top bit eight times: all ones here, so that each of the two
// tables leaves the other's nibbles as they are.
constexpr bool NIBBLES_IN_ORDER = true;
DEVICE void look_up_16(u32 t0, u32 t1, u32 t2, u32 t3, u32 selectors, u32& first, u32& second) {
    const u32 turned = selectors ^ 0x88888888u;
    first = byte_permute(t0, t1, selectors) & byte_permute(t2, t3, turned);
    second = byte_permute(t0, t1, selectors >> 16) & byte_permute(t2, t3, turned >> 16);
}
DEVICE void look_up_halves_16(u32 t0, u32 t1, u32 t2, u32 t3, u32 selectors, u32& lows, u32& highs) {
    u32 first, second;
    look_up_16(t0, t1, t2, t3, selectors, first, second);
    lows = permute<0x6420>(first, second), highs = permute<0x7531>(first, second);
}

// One instruction also where mask and bits are both constants.
DEVICE u32 and_or(u32 word, u32 mask, u32 bits) {
    u32 value;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(value) : "r"(word), "r"(mask), "r"(bits));
    return value;
}

DEVICE u32 pair_fma(u32 a, u32 b, u32 c) {
    u32 value;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(value) : "r"(a), "r"(b), "r"(c));
    return value;
}
DEVICE u32 pair_add(u32 a, u32 b) {
    u32 value;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(value) : "r"(a), "r"(b));
    return value;
}
DEVICE u32 pair_multiply(u32 a, u32 b) {
    u32 value;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(value) : "r"(a), "r"(b));
    return value;
}
// There is no F16 dot product with an F32 sum: chains of eight products in F16, then one addition in F32.
template <u32 COUNT>
DEVICE float dot_pairs(const u32* a, const u32* b) {
    u32 sum = 0;
#pragma unroll
    for (u32 first = 0; first < COUNT; first += 8) {
        u32 chain = pair_multiply(a[first], b[first]);
#pragma unroll
        for (u32 i = first + 1; i < first + 8; ++i) chain = pair_fma(a[i], b[i], chain);
        sum = first ? pair_add(sum, chain) : chain;
    }
    return half_to_float((u16)sum) + half_to_float((u16)(sum >> 16));
}

// Four 8 x 8 matrices of halves out of shared memory; lane l gives the address of row l % 8 of matrix l / 8.
DEVICE void load_matrices(u32 (&r)[4], const u16* row) {
    const u32 address = (u32)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}
DEVICE void load_matrices_transposed(u32 (&r)[4], const u16* row) {
    const u32 address = (u32)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}
DEVICE void mma_16x8x16(float* d, const u32 (&a)[4], const u32* b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#define HB_ASYNC_COPY 1
// Starts a copy of `bytes` (0 to 16) into 16 bytes of shared memory, zeros after them; wait_copies waits for all copies
// of this thread.
DEVICE void copy_async(void* target, const void* source, u32 bytes) {
    const u32 address = (u32)__cvta_generic_to_shared(target);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(address), "l"(source), "r"(bytes) : "memory");
}
DEVICE void wait_copies() {
    asm volatile("cp.async.commit_group;" : : : "memory");
    asm volatile("cp.async.wait_group 0;" : : : "memory");
}

// Closes the group of copies that this thread has started; wait_groups waits for all but its COUNT latest groups.
DEVICE void commit_copies() { asm volatile("cp.async.commit_group;" : : : "memory"); }
template <u32 COUNT>
DEVICE void wait_groups() { asm volatile("cp.async.wait_group %0;" : : "n"(COUNT) : "memory"); }

// Counting and marking in LDS: sums of integers and unions of bits, which no order of threads can change.
DEVICE u32 shared_add(u32* counter, u32 amount) { return atomicAdd(counter, amount); }
DEVICE u32 shared_or(u32* word, u32 mask) { return atomicOr(word, mask); }

}  // namespace hb
