"""The teacher's decode attention: each row sees its own slots alone, and the kernel agrees with torch's attention.

The kernel runs where there is a GPU, or in Triton's interpreter: TRITON_INTERPRET=1 with triton installed.
"""

import importlib.util
import os
import pickle

import pytest
import torch
from recipe.teacher_attention import attend, attend_by_kernel

from engine.errors import UserError

ROWS, KV_HEADS, GROUP, SIZE, LENGTH = 5, 2, 3, 16, 200
AT = torch.tensor([149])
FIRST = torch.tensor([0, 63, 64, 100, 149])  # whole blocks, parts of blocks, one slot

is_interpreted = bool(os.environ.get("TRITON_INTERPRET")) and importlib.util.find_spec("triton") is not None


def some_rows(device: str) -> tuple[torch.Tensor, ...]:
    """Queries, and keys and values that are wrong wherever no row may look."""
    generator = torch.Generator().manual_seed(2)
    queries = torch.randn(ROWS, KV_HEADS, GROUP, SIZE, generator=generator)
    keys, values = torch.randn(2, ROWS, KV_HEADS, LENGTH, SIZE, generator=generator)
    for row, first in enumerate(FIRST.tolist()):
        for cached in (keys, values):
            cached[row, :, :first] = cached[row, :, 150:] = torch.nan
    return tuple(part.to(device) for part in (queries, keys, values, AT, FIRST))


def expected() -> torch.Tensor:
    """By hand, a row and a head at a time."""
    queries, keys, values, _, _ = some_rows("cpu")
    mixed = torch.empty_like(queries)
    for row, first in enumerate(FIRST.tolist()):
        for head in range(KV_HEADS):
            k, v = keys[row, head, first:150], values[row, head, first:150]
            mixed[row, head] = ((queries[row, head] @ k.T) * SIZE**-0.5).softmax(dim=1) @ v
    return mixed


def test_rows_attend_to_their_own_slots() -> None:
    """What other slots hold must be a number there, for torch's attention weighs it by 0."""
    queries, keys, values, at, first = some_rows("cpu")
    found = attend(queries, keys.nan_to_num(7.0), values.nan_to_num(7.0), at, first)
    torch.testing.assert_close(found, expected(), atol=1e-5, rtol=1e-5)


@pytest.mark.skipif(not is_interpreted, reason="needs triton and TRITON_INTERPRET=1, or a GPU (tests/gpu)")
def test_the_kernel_agrees_in_the_interpreter() -> None:
    torch.testing.assert_close(attend_by_kernel(*some_rows("cpu")), expected(), atol=1e-5, rtol=1e-5)


def test_without_triton_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under Windows, in a process of its own."""
    monkeypatch.setattr("recipe.teacher_attention.triton", None)
    with pytest.raises(UserError, match="Triton is not installed") as caught:
        attend_by_kernel(*some_rows("cpu"))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
