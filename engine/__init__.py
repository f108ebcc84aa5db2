"""The engine: token ids in, token ids and typed events out. `load` is the way in; torch is imported on its first call.

The names here and in engine.events, engine.errors, engine.plan and engine.ledger are the stable face.
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.model_info import ModelInfo

if TYPE_CHECKING:
    from engine.loading import Model
    from engine.session import Session

__all__ = ["Model", "ModelInfo", "Session", "load"]


def load(
    path: str | Path | None = None,
    backend: str = "auto",
    kv_rounding: str | None = None,
    dtype: str = "auto",
    progress: Callable[[int, int], None] | None = None,
    stop: threading.Event | None = None,
    prefix_folder: Path | None = None,
) -> "Model":
    """Load a model; see engine.loading.load. None is the embedded model."""
    # Read by torch's thread library when it loads. Waiting threads sleep: spinning ones would take the processor from
    # the window's thread and slow a busy machine thirtyfold; a prompt takes as long either way.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    from engine.loading import load as load_model

    return load_model(path, backend, kv_rounding, dtype, progress, stop, prefix_folder)


def __getattr__(name: str) -> object:
    if name == "Model":
        from engine.loading import Model

        return Model
    if name == "Session":
        from engine.session import Session

        return Session
    raise AttributeError(f"module 'engine' has no attribute {name!r}")
