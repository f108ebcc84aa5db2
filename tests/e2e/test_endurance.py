"""A long day: 50 chats, 10,000 tokens, 10 loads of a model. Memory, threads and handles stay where they were.

QT_QPA_PLATFORM=offscreen pytest -m long tests/e2e/test_endurance.py -s
"""

import gc
import threading
from dataclasses import dataclass

import psutil
import pytest

from tests.app.window.driver import WindowDriver

pytestmark = pytest.mark.long

CHATS, WARM_UP, TOKENS, SWITCH_EVERY = 50, 10, 200, 5


@dataclass(frozen=True)
class Footprint:
    """What the process holds."""

    memory_bytes: int
    threads: int
    python_threads: int
    handles: int


def footprint() -> Footprint:
    """What is held now, Python's own cycles aside."""
    gc.collect()
    process = psutil.Process()
    return Footprint(process.memory_info().rss, process.num_threads(), threading.active_count(), process.num_fds())


def test_memory_threads_and_handles_stay_constant(real: WindowDriver) -> None:
    real.window.settings.row("answers", "max_tokens").control.setValue(TOKENS)  # type: ignore[attr-defined] # a spin box
    warm: Footprint | None = None
    for number in range(CHATS):
        real.trigger("new_chat")
        real.wait(lambda: not real.messages)
        real.ask(f"Write a long story about the number {number}.")
        if number % SWITCH_EVERY == SWITCH_EVERY - 1:
            real.chats.load_model(None)
            real.wait(lambda: real.chats.model_status.state.value == "loading")
            real.wait(lambda: real.chats.model_status.state.value == "ready")
        if number == WARM_UP - 1:
            warm = footprint()
    end = footprint()
    assert warm is not None
    print(f"\nafter {WARM_UP} chats {warm}\nafter {CHATS} chats {end}")
    assert end.memory_bytes < 1.05 * warm.memory_bytes
    assert end.threads <= warm.threads
    assert end.python_threads <= warm.python_threads
    assert end.handles <= warm.handles
