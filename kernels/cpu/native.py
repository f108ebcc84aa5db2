"""The CPU kernels as methods on torch tensors: what engine/backends calls in place of the torch operations.

Every method checks its tensors (ValueError names the offending one), then computes on the library's worker pool without
the GIL. Results do not depend on the number of threads nor on how the tokens are grouped into calls.
"""

from kernels.cpu.attention import AttentionKernels
from kernels.cpu.experts import ExpertKernels
from kernels.cpu.library import Library
from kernels.cpu.mixing import MixingKernels


class NativeCpu(AttentionKernels, MixingKernels, ExpertKernels):
    """The kernels of one opened library: `variant` names the build, `reason` says why it and no faster one."""

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.variant, self.reason, self.threads = library.variant, library.reason, library.threads
