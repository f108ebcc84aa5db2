"""A second stream beside the current one, for work of one token that does not wait for the rest.

Single tokens fill a GPU badly: their launches are short, so two that do not depend on one another run side by side.
Streams that fork and join while a graph is recorded become branches of the graph. On a CPU, work simply follows.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


class SideStream:
    """Work queued inside `beside` sees everything queued before it; `join` makes the current stream wait for it."""

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None  # type: ignore[no-untyped-call]

    @contextmanager
    def beside(self) -> Iterator[None]:
        if self._stream is None:
            yield
            return
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            yield

    def join(self) -> None:
        if self._stream is not None:
            torch.cuda.current_stream().wait_stream(self._stream)
