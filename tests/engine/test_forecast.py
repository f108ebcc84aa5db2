"""The forecast of a step's temporaries against the measured peak of live tensors, on both CPU backends."""

from functools import cache

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

import engine
from engine.backends.cpu import CpuBackend
from engine.cache_shape import CacheShape
from engine.loading import Model
from engine.plan import Step
from engine.step_buffers import peak_bytes

TOLERANCE = 0.05


@cache
def model(dtype: str) -> Model:
    return engine.load(dtype=dtype)


def measured_peak(loaded: Model, tokens: int) -> int:
    """The most bytes that tensors allocated during one step had alive at once, from the allocator's own events."""
    session = loaded.session()
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
