// Launches that overlap. A kernel that calls `await_inputs` may be started while the one before it on its stream still
// runs (NVIDIA's programmatic launches; kernels.cuda_device asks for them where a source includes this header). Until the
// call returns it may read only what no kernel writes, and write nothing; every thread makes the call before it ends.
#pragma once
#include "portable.h"

namespace hb {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
DEVICE void await_inputs() {
    asm volatile("griddepcontrol.launch_dependents;" : : : "memory");  // the next kernel may be brought in
    asm volatile("griddepcontrol.wait;" : : : "memory");
}
#else
DEVICE void await_inputs() {}
#endif

}  // namespace hb
