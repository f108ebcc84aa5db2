"""Runs torch on one thread: for tests of small tensors, where others only wait (on a busy machine, for minutes)."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def one_torch_thread() -> Iterator[None]:
    """Import this name into a test module and it holds for all tests there."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
