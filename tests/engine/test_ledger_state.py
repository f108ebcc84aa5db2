"""The ledger against real tensors: what it says of a session is what the session's state holds, layer by layer."""

import pytest

from engine.cache_shape import CacheShape
from engine.config import ModelConfig, YarnScaling
from engine.layers.rounding import KvRounding
from engine.ledger import all_layers, capacity_bytes
from engine.state import LayerState, SessionState

RATIOS = (0, 0, 4, 128, 4, 128, 4)


def small_config() -> ModelConfig:
    return ModelConfig(
        layers=len(RATIOS),
        hidden=64,
        vocab=256,
        context_length=1 << 20,
        heads=4,
        head_dim=64,
        rope_dim=16,
        q_rank=32,
        out_groups=2,
        out_rank=16,
        window=128,
        ratios=RATIOS,
        index_heads=4,
        index_dim=32,
        index_top_k=16,
        experts=8,
        experts_used=2,
        expert_hidden=32,
        expert_scale=1.5,
        hash_layers=0,
        swiglu_limits=(10.0,) * len(RATIOS),
        streams=4,
        sinkhorn_iterations=20,
        hc_eps=1e-6,
        rms_eps=1e-6,
        rope_base=10_000.0,
        compress_rope_base=160_000.0,
        yarn=YarnScaling(16.0, 65_536, 32.0, 1.0),
    )


def tensor_bytes(layer: LayerState) -> int:
    rows = (layer.compressed, layer.index)
    return sum(tensor.nbytes for tensor in (*layer.volatile(), *rows))


@pytest.fixture(params=list(KvRounding), ids=lambda kind: kind.value)
def rounding(request: pytest.FixtureRequest) -> KvRounding:
    kind: KvRounding = request.param
    return kind


@pytest.mark.parametrize("context", [1, 127, 128, 1000, 9133])
def test_capacity_equals_the_allocated_tensors(context: int, rounding: KvRounding) -> None:
    state = SessionState(small_config(), context, rounding)
    shape = CacheShape.from_config(state.config, rounding.row_dtype.itemsize)
    assert capacity_bytes(shape, context) == sum(map(tensor_bytes, state.layers))
    assert shape.volatile_bytes == state.checkpoint().nbytes


@pytest.mark.parametrize("position", [0, 3, 4, 127, 128, 1001])
def test_rows_in_use_equal_the_rows_of_the_state(position: int, rounding: KvRounding) -> None:
    state = SessionState(small_config(), 1024, rounding)
    shape = CacheShape.from_config(state.config, rounding.row_dtype.itemsize)
    for entry, layer in zip(all_layers(shape, position), state.layers, strict=True):
        rows = position // layer.ratio if layer.ratio else 0
        rolling = [part.nbytes for part in (layer.rolling, layer.index_rolling) if part is not None]
        assert entry.raw_bytes == layer.ring.nbytes
        assert entry.compressed_bytes == layer.compressed_rows(rows).nbytes
        assert entry.index_bytes == layer.index_rows(rows).nbytes
        assert entry.rolling_bytes == sum(rolling)
