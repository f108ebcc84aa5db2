"""Optional compiled CPU kernels: `load(threads)` gives the operations, or the reason why torch has to do the work.

Called by engine/backends only, on any thread. The kernels take and return torch CPU tensors, run on their own pool of
worker threads without the GIL, and give the same bits for any split of the tokens and any number of threads.
"""

from kernels.cpu.library import Library, NativeUnavailable, load_library

__all__ = ["Library", "NativeUnavailable", "load_library"]
