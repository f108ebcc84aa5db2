// What nvcc and NVRTC build in and a bare clang does not: just enough names for clang to check the kernels for NVIDIA
// on a machine without CUDA. Only the tests use it.
#pragma once

#define __CUDACC__ 1
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(n) __attribute__((aligned(n)))

struct ThreadIndex {
    struct X {
        __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_tid_x(); }
    } x;
};
struct BlockIndex {
    struct X {
        __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_ctaid_x(); }
    } x;
    struct Y {
        __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_ctaid_y(); }
    } y;
    struct Z {
        __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_ctaid_z(); }
    } z;
};
extern __device__ const ThreadIndex threadIdx;
extern __device__ const BlockIndex blockIdx;

__device__ static inline void __syncwarp() { __nvvm_bar_warp_sync(0xffffffff); }
__device__ static inline unsigned __shfl_xor_sync(unsigned mask, unsigned value, unsigned lanes) {
    return (unsigned)__nvvm_shfl_sync_bfly_i32((int)mask, (int)value, (int)lanes, 31);
}
__device__ static inline unsigned __shfl_sync(unsigned mask, unsigned value, unsigned source) {
    return (unsigned)__nvvm_shfl_sync_idx_i32((int)mask, (int)value, (int)source, 31);
}
__device__ static inline unsigned __ballot_sync(unsigned mask, bool predicate) {
    return (unsigned)__nvvm_vote_ballot_sync(mask, predicate);
}
__device__ static inline unsigned __popc(unsigned value) { return (unsigned)__builtin_popcount(value); }
__device__ static inline unsigned atomicAdd(unsigned* at, unsigned value) {
    return __nvvm_atom_add_gen_i((int*)at, (int)value);
}
__device__ static inline unsigned atomicOr(unsigned* at, unsigned value) {
    return __nvvm_atom_or_gen_i((int*)at, (int)value);
}
__device__ static inline unsigned long __cvta_generic_to_shared(const void* pointer) {
    return (unsigned long)(const __attribute__((address_space(3))) void*)pointer;
}
__device__ static inline float logf(float x) { return __nvvm_lg2_approx_f(x) * 0.6931471805599453f; }
__device__ static inline float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
__device__ static inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__device__ static inline float rintf(float x) { return __builtin_rintf(x); }
