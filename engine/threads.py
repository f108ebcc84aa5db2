"""The one place where the number of CPU threads is decided and set, so that every result and figure can name it."""

import os
from functools import cache

import torch


@cache
def cpu_threads() -> int:
    """Threads for tensor work: the processors this process may use. Sets torch's pool on the first call."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    torch.set_num_threads(usable)
    return usable
