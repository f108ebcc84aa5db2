"""Session states for the decode tests: fresh, copied, compared bit by bit, and fenced by rows that nobody may touch."""

import torch

from kernels.cpu.decode_weights import LayerRows, RowRounding
from tests.kernels.cpu.decode_random import OVERLAP, Shape

GUARD_ROWS = 3


def fresh_state(shape: Shape, context: int, rounding: RowRounding) -> list[LayerRows]:
    """An empty state with room for exactly `context` tokens. Rows that nothing may read hold NaN, and so do rows before
    and after every tensor (see guards_are_untouched).
    """

    def guarded(values: torch.Tensor) -> torch.Tensor:
        fence = torch.full((GUARD_ROWS, values.shape[1]), torch.nan, dtype=values.dtype)
        return torch.cat([fence, values, fence])[GUARD_ROWS:-GUARD_ROWS]

    def rows(count: int, width: int) -> torch.Tensor:
        return guarded(torch.full((count, width), torch.nan, dtype=rounding.dtype))

    def rolling(ratio: int, width: int) -> tuple[torch.Tensor, torch.Tensor]:
        size = (2 * ratio, 2 * width) if ratio == OVERLAP else (ratio, width)
        return guarded(torch.zeros(size)), guarded(torch.full(size, -1e30))

    layers = []
    for ratio in shape.ratios:
        found = LayerRows(rows(shape.window, shape.head_dim))
        if ratio:
            capacity = max(context // ratio, 1)
            found = LayerRows(found.ring, rows(capacity, shape.head_dim), *rolling(ratio, shape.head_dim))
            if ratio == OVERLAP:
                indexer = (rows(capacity, shape.index_dim), *rolling(ratio, shape.index_dim))
                found = LayerRows(found.ring, found.rows, found.values, found.scores, *indexer)
        layers.append(found)
    return layers


def tensors_of(layers: list[LayerRows]) -> dict[tuple[int, str], torch.Tensor]:
    """Every tensor of a state by (layer, field)."""
    found = {}
    for index, layer in enumerate(layers):
        for name in ("ring", "rows", "values", "scores", "index_rows", "index_values", "index_scores"):
            tensor = getattr(layer, name)
            if tensor is not None:
                found[index, name] = tensor
    return found


def copy_of(layers: list[LayerRows]) -> list[LayerRows]:
    """The state's values in memory of their own."""
    return [
        LayerRows(**{name: tensor.clone() for (i, name), tensor in tensors_of(layers).items() if i == index})
        for index in range(len(layers))
    ]


def bits_of(tensor: torch.Tensor) -> bytes:
    """Exact content, NaN and signed zeros included."""
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


def guards_are_untouched(layers: list[LayerRows]) -> bool:
    """The rows around every tensor of fresh_state still hold NaN."""
    for tensor in tensors_of(layers).values():
        size = GUARD_ROWS * tensor.shape[1]
        whole = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
        if not bool(torch.cat([whole[:size], whole[-size:]]).isnan().all()):
            return False
    return True
