"""Optional compiled CPU kernels: `load(threads)` gives the operations, or the reason why torch has to do the work.

Called by engine/backends only, on any thread. The kernels take and return torch CPU tensors, run on their own pool of
worker threads without the GIL, and give the same bits for any split of the tokens and any number of threads.
"""

from kernels.cpu.attention import AttentionSpan
from kernels.cpu.library import Library, NativeUnavailable, load_library
from kernels.cpu.mixing import MixedTokens, MixerWeights
from kernels.cpu.native import NativeCpu

__all__ = ["AttentionSpan", "MixedTokens", "MixerWeights", "NativeCpu", "NativeUnavailable", "load"]


def load(threads: int) -> NativeCpu | NativeUnavailable:
    """The fastest kernels this processor runs, on a pool of `threads` (the caller's included), or why there are none.

    HALOBAND_NATIVE=off turns them off; HALOBAND_NATIVE=<variant> picks one build. Raises ValueError for threads < 1.
    """
    library = load_library(threads)
    return NativeCpu(library) if isinstance(library, Library) else library
