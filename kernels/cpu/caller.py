"""The base of the kernel groups: one opened library and the way its functions are called."""

import ctypes

from kernels.cpu.library import Library


class Caller:
    """Calls exported functions with an argument record on the library's pool. Safe from several threads: jobs queue."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def call(self, name: str, record: ctypes.Structure) -> None:
        """Run `name` on a filled record. Raises MemoryError if its scratch memory could not be had."""
        run = self.library.function(name, [ctypes.c_void_p, ctypes.c_void_p], ctypes.c_int64)
        if run(self.library.pool, ctypes.addressof(record)):
            raise MemoryError(f"{name} could not allocate its scratch memory")
