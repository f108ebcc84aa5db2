// Launches that overlap. A kernel that calls `await_inputs` may be started while the one before it on its stream still
// runs (NVIDIA's programmatic launches; kernels.cuda_device asks for them where a source includes this header). Until the
// call returns it may read only what no kernel writes, and write nothing; every thread makes the call before it ends.
// `allow_next` lets the next kernel in once every workgroup has called it or ended.
#pragma once
#include "portable.h"

namespace hb {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
DEVICE void await_inputs() { asm volatile("griddepcontrol.wait;" : : : "memory"); }
DEVICE void allow_next() { asm volatile("griddepcontrol.launch_dependents;" : : : "memory"); }
#else
DEVICE void await_inputs() {}
DEVICE void allow_next() {}
#endif

}  // namespace hb
