"""Samples many scripts from the teacher in lockstep: every row of a batch runs its own script, all advance together.

A row whose script ends begins the next one at the following slot, so no row waits for another. The whole step, choices
included, stays on the device; on a GPU it is one CUDA graph. Runs in the recipe's process.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from recipe.scripts import END, MANNERS, Voice
from recipe.teacher import Cache, Teacher
from torch import Tensor

MIN_P = 0.05  # tokens less likely than this share of the likeliest one are never chosen (min-p sampling)


@dataclass(frozen=True, slots=True)
class Window:
    """What `length` steps chose: tokens and the serial numbers of the scripts they belong to, int32 [length, rows]."""

    tokens: Tensor
    serials: Tensor


@dataclass(frozen=True, slots=True)
class SamplerSize:
    """`rows` sequences of `length` slots."""

    rows: int
    length: int


class Sampler:
    """One batch of rows over a table of scripts (int32 [scripts, width]); `turn_end` is the token that ends a turn."""

    def __init__(self, teacher: Teacher, scripts: Tensor, size: SamplerSize, turn_end: int, seed: int) -> None:
        device = teacher.device
        self._teacher, self._size, self._turn_end = teacher, size, turn_end
        self._scripts = scripts.to(device)
        self._cache = Cache(teacher.shape, size.rows, size.length, teacher.dtype, device)
        self._temperatures = torch.tensor([MANNERS[voice].temperature for voice in Voice], device=device)
        self._limits = torch.tensor([MANNERS[voice].limit for voice in Voice], device=device)
        self._slot = torch.zeros(1, dtype=torch.int64, device=device)
        self._serial = torch.arange(size.rows, device=device)
        self._next_serial = torch.zeros(1, dtype=torch.int64, device=device)
        self._entry = torch.zeros(size.rows, dtype=torch.int64, device=device)
        self._spoken = torch.zeros_like(self._entry)
        self._first = torch.zeros_like(self._entry)
        self._token = torch.zeros_like(self._entry)
        self._chosen = torch.zeros(size.length, size.rows, dtype=torch.int32, device=device)
        self._owners = torch.zeros_like(self._chosen)
        self._advance: Callable[[], None] | None = None
        torch.manual_seed(seed)

    def windows(self, seconds: float, most: int | None = None) -> Iterator[Window]:
        """Windows until the time is up (the one in progress is finished) or there are `most`."""
        began, count = time.monotonic(), 0
        while time.monotonic() - began < seconds and (most is None or count < most):
            yield self._window()
            count += 1

    def _window(self) -> Window:
        """All rows begin new scripts at slot 0; what is unfinished at the last slot is lost."""
        self._slot.zero_()
        self._serial.copy_(self._next_serial + torch.arange(self._size.rows, device=self._slot.device))
        self._next_serial += self._size.rows
        for state in (self._spoken, self._first):
            state.zero_()
        self._entry.fill_(1)
        self._token.copy_(self._scripts[self._serial % len(self._scripts), 0])
        if self._advance is None:
            self._advance = self._capture() if self._slot.device.type == "cuda" else self._step
        for _ in range(self._size.length):
            self._advance()
        return Window(*(made.to("cpu", copy=True) for made in (self._chosen, self._owners)))

    def _capture(self) -> Callable[[], None]:
        """Record the step. The warm-up and the recording must not move the state, so it is put back afterwards."""
        state = (self._slot, self._serial, self._next_serial, self._entry, self._spoken, self._first, self._token)
        kept = [part.clone() for part in state]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self._step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step()
        for part, value in zip(state, kept, strict=True):
            part.copy_(value)
        return graph.replay

    @torch.no_grad()
    def _step(self) -> None:
        """Feed each row's token, choose the next one, and move each row along its script."""
        logits = self._teacher.step(self._token, self._slot, self._first, self._cache)
        script = self._serial % len(self._scripts)
        entry = self._scripts[script, self._entry].long()
        is_given = entry >= 0
        voice = (-1 - entry).clamp(0, len(Voice) - 1)
        is_cut = self._spoken + 1 >= self._limits[voice]
        free = torch.where(is_cut, self._turn_end, choose(logits, self._temperatures[voice]))
        token = torch.where(is_given, entry, free)
        moves = is_given | (token == self._turn_end)
        self._entry += moves
        self._spoken.copy_(torch.where(moves, 0, self._spoken + 1))
        self._chosen.index_copy_(0, self._slot, token.int()[None])
        self._owners.index_copy_(0, self._slot, self._serial.int()[None])
        self._slot += 1
        self._begin_next(token, self._scripts[script, self._entry] == END)

    def _begin_next(self, token: Tensor, is_done: Tensor) -> None:
        """Rows that are done take the next scripts in turn; the table is gone through again when it is used up."""
        serial = torch.where(is_done, self._next_serial + is_done.cumsum(0) - 1, self._serial)
        self._next_serial += is_done.sum()
        self._serial.copy_(serial)
        self._token.copy_(torch.where(is_done, self._scripts[serial % len(self._scripts), 0].long(), token))
        self._entry.copy_(torch.where(is_done, 1, self._entry))
        self._spoken.copy_(torch.where(is_done, 0, self._spoken))
        self._first.copy_(torch.where(is_done, self._slot, self._first))


def choose(logits: Tensor, temperature: Tensor) -> Tensor:
    """One token id per row of logits [rows, vocab] by the Gumbel-max rule, among those that min-p leaves."""
    scaled = logits / temperature[:, None]
    floor = scaled.amax(dim=1, keepdim=True) + math.log(MIN_P)
    noise = -torch.empty_like(scaled).exponential_().log()
    return torch.where(scaled >= floor, scaled + noise, -torch.inf).argmax(dim=1)
