"""Imports pyqtgraph, which takes a tenth of a second, without a pause of the window. GUI thread.

PySide6 makes a class when it is first asked for, and two threads that ask at the same time can crash the program.
pyqtgraph's import asks for every class there is. So the GUI thread has them all made first, a few milliseconds at a
time, and only then a thread of its own imports.
"""

import contextlib
import importlib
import sys
import threading
import time
from collections.abc import Iterator

_SLICE_S = 0.003  # of at most 8 ms that the GUI thread may take; one class takes up to two
_MODULES = ("QtCore", "QtGui", "QtWidgets", "QtSvg", "QtOpenGLWidgets", "QtTest")  # what pyqtgraph imports

_import = threading.Thread(target=importlib.import_module, args=("pyqtgraph",), name="charts", daemon=True)


def charts_are_ready() -> bool:
    """True if a plot can be made at once. If not, some of what it needs was done now: ask again a little later."""
    if _import.ident is None and "pyqtgraph" not in sys.modules:
        if not _make_some_classes():
            return False
        _import.start()
    return not _import.is_alive()


def _make_classes() -> Iterator[None]:
    """Make one class of Qt, or import one module, at each step."""
    for name in _MODULES:
        with contextlib.suppress(ImportError):  # pyqtgraph does without it too
            module = importlib.import_module(f"PySide6.{name}")
            for attribute in dir(module):
                getattr(module, attribute)
                yield


_classes = _make_classes()


def _make_some_classes() -> bool:
    """Work for a moment; True when all are made."""
    end = time.monotonic() + _SLICE_S
    return all(time.monotonic() < end for _ in _classes)
