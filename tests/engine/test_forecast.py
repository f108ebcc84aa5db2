"""The forecast of a step's temporaries against the measured peak of live tensors, on both CPU backends."""

from functools import cache

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

import engine
from engine.backends.cpu import CpuBackend
from engine.cache_shape import CacheShape
from engine.layers.rounding import KvRounding
from engine.loading import Model
from engine.plan import Step
from engine.step_buffers import peak_bytes

TOLERANCE = 0.05


@cache
def model(dtype: str) -> Model:
    return engine.load(dtype=dtype)


def measured_peak(loaded: Model, tokens: int, start: int = 0) -> int:
    """The most bytes that tensors allocated during one step had alive at once, from the allocator's own events.

    The step begins at `start`, in a session that holds as many rows of zeros as if it had come there.
    """
    session = loaded.session(context=max(start + tokens, 16_384))
    session.timeline.state.position, session.timeline.tokens = start, [1] * start
    ids = [7 + number % 9000 for number in range(tokens)]
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        session.prefill(ids)
    assert recorded.profiler is not None
    events = recorded.profiler.kineto_results.events()
    changes = sorted((event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]")
    alive = peak = 0
    for _, change in changes:
        alive += change
        peak = max(peak, alive)
    return peak


@pytest.mark.parametrize(("dtype", "tokens"), [("float32", 9133), ("float32", 4096), ("bfloat16", 9133)])
def test_the_native_forecast_is_the_measured_peak(dtype: str, tokens: int) -> None:
    loaded = model(dtype)
    shape = CacheShape.from_config(loaded.config, loaded.rounding.row_dtype.itemsize)
    forecast = peak_bytes(loaded.network.backend.step_buffers(shape, Step(0, tokens)))
    assert measured_peak(loaded, tokens) == pytest.approx(forecast, rel=TOLERANCE)
    assert loaded.session().plan(tokens).memory.step_buffer_bytes == forecast


def test_the_torch_forecast_is_the_measured_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = model("float32")
    plain = CpuBackend(loaded.config, torch.float32)
    monkeypatch.setattr(loaded.network, "backend", plain)
    shape = CacheShape.from_config(loaded.config, loaded.rounding.row_dtype.itemsize)
    forecast = peak_bytes(plain.step_buffers(shape, Step(0, 9133)))
    assert measured_peak(loaded, 9133) == pytest.approx(forecast, rel=TOLERANCE)


DEEP = ((0, 600), (1_000, 200), (20_000, 64), (20_000, 300), (100_000, 40))


@pytest.mark.parametrize("rounding", [KvRounding.F16, KvRounding.NONE])
@pytest.mark.parametrize(("start", "tokens"), DEEP)
def test_the_torch_forecast_knows_how_deep_a_step_begins(
    monkeypatch: pytest.MonkeyPatch, start: int, tokens: int, rounding: KvRounding
) -> None:
    """Copies of all rows, and scores of all of them, are most of what a step deep in a chat takes."""
    loaded = model("float32")
    plain = CpuBackend(loaded.config, torch.float32)
    monkeypatch.setattr(loaded.network, "backend", plain)
    monkeypatch.setattr(loaded, "rounding", rounding)
    shape = CacheShape.from_config(loaded.config, rounding.row_dtype.itemsize)
    forecast = peak_bytes(plain.step_buffers(shape, Step(start, tokens)))
    assert measured_peak(loaded, tokens, start) == pytest.approx(forecast, rel=TOLERANCE)


def test_the_native_forecast_is_as_right_deep_in_a_chat() -> None:
    loaded = model("float32")
    shape = CacheShape.from_config(loaded.config, loaded.rounding.row_dtype.itemsize)
    forecast = peak_bytes(loaded.network.backend.step_buffers(shape, Step(20_000, 2_500)))
    assert measured_peak(loaded, 2_500, 20_000) == pytest.approx(forecast, rel=TOLERANCE)
