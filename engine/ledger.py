"""Memory accounting per layer: integers from shapes alone, the same numbers the window, the command line and tests show.

`MemoryReport` is what crosses threads; it holds no tensors.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LayerMemory:
    """Bytes of one layer's session state, and of what other designs would hold in its place.

    `raw_bytes` ring, `compressed_bytes` and `index_bytes` rows in use (not capacity), `rolling_bytes` unfinished
    windows, `plain_bytes` full F16 keys and values of every head for the same tokens, `mask_bytes` the F32 mask of the largest step so far that was never allocated.
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
    """The ledger of a session at one position: one entry a layer, plus buffers shared by all layers."""

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
