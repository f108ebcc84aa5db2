"""Opens torch's large libraries without holding Python's lock, so that the window does not freeze while they load.

`import torch` calls dlopen with the lock held: hundreds of milliseconds on a CPU build, more with GPU libraries, in
which no other Python thread runs. Opened before, through a foreign call that lets go of the lock, they are only looked
up by the import. Called on the worker thread; failing changes nothing but the freeze.
"""

import contextlib
import ctypes
import gc
import importlib
import importlib.util
import logging
import sys
import threading
import time
from pathlib import Path

log = logging.getLogger("haloband.preload")

_RTLD_LAZY = 1  # the same on all Linux systems


def import_engine() -> None:
    """Import what a model needs, with the window alive meanwhile.

    The hundred thousand objects that the import leaves are then taken out of the garbage collector's sight: they live
    to the end, and looking at them takes a tenth of a second of the GUI thread each time (app/garbage.py). Among them
    are frames that the import left in cycles, so it runs on a thread of its own: they must not lead to the caller's
    frame, which holds the model.
    """
    if "engine.loading" in sys.modules:
        return
    thread = threading.Thread(target=_import_and_freeze, name="import")
    thread.start()
    thread.join()


def _import_and_freeze() -> None:
    preload_torch()
    with contextlib.suppress(Exception):  # the caller imports it again and tells the error
        importlib.import_module("engine.loading")
    gc.freeze()


def preload_torch() -> bool:
    """True if the libraries are open now."""
    if "torch" in sys.modules or not sys.platform.startswith("linux"):
        return False
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return False
    library = Path(spec.origin).parent / "lib" / "libtorch.so"
    if not library.exists():
        return False
    started = time.monotonic()
    libc = ctypes.CDLL(None)
    libc.dlopen.restype = ctypes.c_void_p
    libc.dlopen.argtypes = (ctypes.c_char_p, ctypes.c_int)
    handle = libc.dlopen(str(library).encode(), _RTLD_LAZY)
    log.info("opened %s in %.2f s", library, time.monotonic() - started)
    return handle is not None
