"""A conversation that does not fit is refused before its memory is taken, and one that fails to get it leaves none."""

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable

import pytest
import torch

from app.sessions import SessionPool
from engine.backends import session_memory
from engine.cache_shape import CacheShape
from engine.errors import EngineError, UserError
from engine.ledger import capacity_bytes
from engine.loading import Model
from engine.state import LayerState, SessionState
from kernels.errors import KernelLaunchError

CONTEXT = 4096
FAILURES = {
    "main memory": MemoryError(),
    "a CPU's torch": RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
    "a GPU's torch": torch.OutOfMemoryError("HIP out of memory. Tried to allocate 2.00 GiB"),
    "a driver": KernelLaunchError("norm_rope", "AMD", "hipModuleLoadData", "hipErrorOutOfMemory"),
}


def needed(model: Model, context: int) -> int:
    return capacity_bytes(CacheShape.from_config(model.config, model.rounding.row_dtype.itemsize), context)


def refuse_to_allocate(monkeypatch: pytest.MonkeyPatch, failure: Exception, times: int) -> list[object]:
    """The last layer's state cannot be had so many times; what was made of the others before."""
    make, made, calls = LayerState.empty.__func__, list[weakref.ref[torch.Tensor]](), []  # type: ignore[attr-defined]

    def empty(cls: type[LayerState], config: object, ratio: int, *rest: object) -> LayerState:
        calls.append(ratio)
        if len(calls) % len(config.ratios) == 0 and len(calls) <= times * len(config.ratios):  # type: ignore[attr-defined]
            raise failure
        layer: LayerState = make(cls, config, ratio, *rest)
        made.append(weakref.ref(layer.ring))
        return layer

    monkeypatch.setattr(LayerState, "empty", classmethod(empty))
    return made  # type: ignore[return-value]


def test_a_context_beyond_what_is_available_names_both_figures(tiny: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    allocated: list[object] = []
    monkeypatch.setattr(SessionState, "__init__", lambda *arguments: allocated.append(arguments))
    monkeypatch.setattr(session_memory, "available_bytes", lambda: needed(tiny, CONTEXT) - 1)
    with pytest.raises(UserError, match=r"of 4096 tokens needs 0\.0 GiB of memory, and 0\.0 GiB are available; choose"):
        tiny.session(context=CONTEXT)
    assert not allocated


@pytest.mark.parametrize("available", [lambda model: needed(model, CONTEXT), lambda model: None])
def test_a_context_that_fits_or_of_which_nothing_is_known_is_let_in(
    tiny: Model, monkeypatch: pytest.MonkeyPatch, available: Callable[[Model], int | None]
) -> None:
    monkeypatch.setattr(session_memory, "available_bytes", lambda: available(tiny))
    session = tiny.session(context=CONTEXT)
    held = sum(
        tensor.nbytes
        for layer in session.timeline.state.layers
        for tensor in (*layer.volatile(), layer.compressed, layer.index)
    )
    assert held == needed(tiny, CONTEXT)


@pytest.mark.parametrize("kind", FAILURES)
def test_memory_that_runs_out_for_a_session_is_one_sentence_and_given_back(
    tiny: Model, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    made = refuse_to_allocate(monkeypatch, FAILURES[kind], times=1)
    with pytest.raises(EngineError, match=r"^memory ran out for a conversation of 4096 tokens; choose") as caught:
        tiny.session(context=CONTEXT)
    gc.collect()
    assert caught.value is not None and made and not [ring for ring in made if ring() is not None]


@pytest.mark.parametrize("kind", FAILURES)
def test_the_app_lets_other_conversations_go_and_tries_once_more(
    tiny: Model, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    pool = SessionPool(limit=2)
    pool.session(tiny, 1, CONTEXT, "sparse")
    with pytest.MonkeyPatch.context() as patch:
        refuse_to_allocate(patch, FAILURES[kind], times=1)
        pool.session(tiny, 2, CONTEXT, "sparse")
    assert [held.conversation_id for held in pool.held_tokens()] == [2]


def test_the_app_tries_again_where_the_forecast_refused(tiny: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    pool, answers = SessionPool(limit=2), iter([None, 0, None])
    monkeypatch.setattr(session_memory, "available_bytes", lambda: next(answers))
    for conversation in (1, 2):
        pool.session(tiny, conversation, CONTEXT, "sparse")
    assert [held.conversation_id for held in pool.held_tokens()] == [2]


def test_a_session_on_the_cpu_brings_no_gpu_kernels_in() -> None:
    """They take a sixth of the time in which the engine is imported."""
    child = (
        "import engine, sys\n"
        "engine.load('synth:small?ratios=0&recipe=q8', backend='cpu').session(context=64)\n"
        "sys.exit(', '.join(name for name in sys.modules if name.startswith('kernels.ops')) or 0)"
    )
    found = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, timeout=120, check=False)
    assert found.returncode == 0, found.stderr
