"""Finds and opens the compiled CPU kernels: the fastest variant this processor can run, or the reason there is none.

`load` is called once per model by engine/backends; it opens one shared library with ctypes and starts one worker pool.
"""

import ctypes
import os
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernels.cpu.build import SOURCES, Variant, variants

SWITCH = "HALOBAND_NATIVE"


@dataclass(frozen=True, slots=True)
class NativeUnavailable:
    """Why the native kernels are not used; the torch operations take their place."""

    reason: str
    variant: None = None


class Library:
    """One opened variant and its worker pool. Closed with the last reference; ctypes releases the GIL in every call."""

    def __init__(self, handle: ctypes.CDLL, variant: Variant, reason: str, threads: int) -> None:
        self.variant = variant.name
        self.reason = reason
        self.threads = threads
        self._handle = handle
        create = self.function("hb_pool_create", [ctypes.c_int64], ctypes.c_void_p)
        destroy = self.function("hb_pool_destroy", [ctypes.c_void_p], None)
        self.pool: int = create(threads) or 0
        if not self.pool:
            raise OSError(f"cannot start {threads} worker threads")
        weakref.finalize(self, destroy, self.pool)

    def function(self, name: str, arguments: list[Any], result: Any) -> Any:
        """The exported function `name` with its ctypes signature set. Raises AttributeError if it is not there."""
        found = getattr(self._handle, name)
        found.argtypes, found.restype = arguments, result
        return found


def load_library(
    threads: int, folder: Path = SOURCES, environment: Mapping[str, str] = os.environ
) -> Library | NativeUnavailable:
    """Open the fastest variant in `folder` that this processor runs, with a pool of `threads` workers.

    HALOBAND_NATIVE=off turns the kernels off, HALOBAND_NATIVE=<variant> asks for one by name (for tests).
    Raises ValueError if `threads` is below one.
    """
    if threads < 1:
        raise ValueError(f"a pool needs at least one thread, not {threads}")
    wanted = environment.get(SWITCH, "").strip().lower()
    if wanted in {"off", "0", "no"}:
        return NativeUnavailable(f"turned off by {SWITCH}={wanted}")
    candidates = [variant for variant in variants() if wanted in {"", "on", variant.name}]
    if not candidates:
        return NativeUnavailable(f"{SWITCH}={wanted} names none of {', '.join(v.name for v in variants())}")
    passed_over = []
    for variant in candidates:
        missing = _missing_features(variant, folder)
        if missing:
            passed_over.append(f"{variant.name}: {missing}")
            continue
        try:
            handle = ctypes.CDLL(str(folder / variant.filename))
            return Library(handle, variant, "; ".join(passed_over) or "fastest variant", threads)
        except OSError as failure:
            passed_over.append(f"{variant.name}: {failure}")
    return NativeUnavailable("; ".join(passed_over))


def _missing_features(variant: Variant, folder: Path) -> str:
    """What stands against `variant`: its file or processor features; empty if nothing does."""
    if not (folder / variant.filename).exists():
        return "not built"
    if not variant.needs:
        return ""
    baseline = variants()[-1]
    try:
        has = ctypes.CDLL(str(folder / baseline.filename)).hb_cpu_has
    except OSError:
        return f"{baseline.name}, which tells the processor's features, cannot be opened"
    has.argtypes, has.restype = [ctypes.c_char_p], ctypes.c_int64
    missing = sorted(name for name in variant.needs if has(name.encode()) != 1)
    return f"this processor lacks {', '.join(missing)}" if missing else ""
