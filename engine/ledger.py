"""Memory accounting per layer: integers from shapes alone, the same in the window, on the command line and in tests.

`MemoryReport` is what crosses threads; it holds no tensors. The session and `haloband memory` build it here, on any
thread. docs/memory.md explains each number; section numbers are those of the banded-prefill specification.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.cache_shape import F16_BYTES, F32_BYTES, OVERLAP_RATIO, SPARE_ROWS, CacheShape
from engine.plan import Step, Visibility


@dataclass(frozen=True, slots=True)
class LayerMemory:
    """Bytes of one layer's session state, and of what other designs would hold in its place.

    `raw_bytes` ring, `compressed_bytes` and `index_bytes` rows in use (not capacity), `rolling_bytes` unfinished
    windows, `plain_bytes` full F16 keys and values of every head for the same tokens, `mask_bytes` the F32 mask of the
    largest step so far that was never allocated.
    """

    layer: int
    ratio: int
    raw_bytes: int
    compressed_bytes: int
    index_bytes: int
    rolling_bytes: int
    plain_bytes: int
    mask_bytes: int

    @property
    def held_bytes(self) -> int:
        return self.raw_bytes + self.compressed_bytes + self.index_bytes + self.rolling_bytes


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """The ledger of a session at one position: one entry a layer, plus buffers shared by all layers.

    `step_buffer_bytes` is the most that temporaries of one step take, `forecast_peak_bytes` the most that weights,
    the session at full context and one step take together.
    """

    position: int
    layers: tuple[LayerMemory, ...]
    step_buffer_bytes: int
    weight_bytes: int
    forecast_peak_bytes: int

    @property
    def held_bytes(self) -> int:
        return sum(layer.held_bytes for layer in self.layers)

    @property
    def plain_bytes(self) -> int:
        return sum(layer.plain_bytes for layer in self.layers)

    @property
    def mask_bytes(self) -> int:
        return sum(layer.mask_bytes for layer in self.layers)

    def mask_bytes_of(self, ratio: int) -> int:
        """Mask bytes never allocated in all layers of one compression ratio (0: the plain layers)."""
        return sum(layer.mask_bytes for layer in self.layers if layer.ratio == ratio)


def mask_bytes(view: Visibility) -> int:
    """The F32 mask that one step would retain in one layer: 4 * N * (P + N + C) bytes (5.1)."""
    return F32_BYTES * view.tokens * (view.prior + view.tokens + view.compressed)


def plain_bytes_per_token(shape: CacheShape) -> int:
    """One token in one layer of plain attention: a key and a value for every query head, F16, nothing shared."""
    return 2 * shape.heads * shape.head_dim * F16_BYTES


def layer_memory(shape: CacheShape, layer: int, position: int, steps: Sequence[Step] = ()) -> LayerMemory:
    """The ledger of one layer after `position` tokens, of which `steps` were computed as steps (5.1, 5.3).

    Tokens that were decoded one by one or restored need not appear in `steps`: their masks would have been small or
    somebody else's. Raises ValueError for a negative position.
    """
    if position < 0:
        raise ValueError(f"a session cannot be at position {position}")
    ratio = shape.ratios[layer]
    rows = position // ratio if ratio else 0
    views = (Visibility(step.start, step.tokens, ratio, shape.window) for step in steps)
    return LayerMemory(
        layer=layer,
        ratio=ratio,
        raw_bytes=shape.ring_bytes,
        compressed_bytes=rows * shape.row_bytes,
        index_bytes=rows * shape.index_row_bytes if ratio == OVERLAP_RATIO else 0,
        rolling_bytes=shape.rolling_bytes(ratio),
        plain_bytes=position * plain_bytes_per_token(shape),
        mask_bytes=max(map(mask_bytes, views), default=0),
    )


def all_layers(shape: CacheShape, position: int, steps: Sequence[Step] = ()) -> tuple[LayerMemory, ...]:
    """`layer_memory` of every layer. Layers of one ratio hold equally much, so each ratio is counted once."""
    examples = {
        ratio: layer_memory(shape, shape.ratios.index(ratio), position, steps) for ratio in sorted(set(shape.ratios))
    }
    return tuple(replace(examples[ratio], layer=layer) for layer, ratio in enumerate(shape.ratios))


def capacity_bytes(shape: CacheShape, context: int) -> int:
    """A session as allocated for `context` tokens: rings, rolling state, and floor(context/r) + 16 rows a layer (5.3).

    Raises ValueError for a context below one token.
    """
    if context < 1:
        raise ValueError(f"a session cannot have a context of {context} tokens")
    rows = (shape.rows_bytes(ratio, context // ratio + SPARE_ROWS) for ratio in shape.ratios if ratio)
    return shape.volatile_bytes + sum(rows)


def memory_report(
    shape: CacheShape,
    position: int,
    steps: Sequence[Step],
    context: int,
    weight_bytes: int,
    step_buffer_bytes: int,
    checkpoints: int = 0,
) -> MemoryReport:
    """The whole ledger. `step_buffer_bytes` comes from the backend (engine.step_buffers), for its largest step.

    The forecast adds weights, the session's full capacity, `checkpoints` kept positions, and one step's buffers.
    """
    session = capacity_bytes(shape, context) + checkpoints * shape.volatile_bytes
    return MemoryReport(
        position=position,
        layers=all_layers(shape, position, steps),
        step_buffer_bytes=step_buffer_bytes,
        weight_bytes=weight_bytes,
        forecast_peak_bytes=weight_bytes + session + step_buffer_bytes,
    )
