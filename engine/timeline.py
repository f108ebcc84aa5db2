"""One committed timeline of tokens: the ids, the state they led to, and the positions it can return to.

The session runs steps through it. A step either commits as a whole or leaves no trace: on a stop or an error the
state goes back to where the step began. So it does when something else begins while a step is unfinished: the later
one goes on from the last commit, and the unfinished step can only be abandoned. Checkpoints let a changed conversation
keep the part it still shares.
"""

import threading
from collections.abc import Generator, Sequence

import torch

from engine.model import Network
from engine.plan import Step
from engine.state import Checkpoint, SessionState

KEPT_CHECKPOINTS = 8
_SAVED_CHECKPOINTS = 2  # where the last question began and ended: what changing the last turn needs


class Timeline:
    """Tokens and state move together. `selects` False is dense mode. Not thread safe: one session owns it."""

    def __init__(self, network: Network, state: SessionState, selects: bool) -> None:
        self.network, self.state, self.selects = network, state, selects
        self.tokens: list[int] = []
        self._checkpoints: list[Checkpoint] = []
        self._unfinished: Checkpoint | None = None  # where the running step began

    @property
    def position(self) -> int:
        return self.state.position

    def run(
        self, ids: Sequence[int], step: Step, stop: threading.Event | None = None
    ) -> Generator[int, None, torch.Tensor]:
        """Run one step and commit it, yielding after each layer; returns the last token's streams [1, n, D].

        Whatever is raised inside (Stopped, an allocation failure, an exception thrown in by the caller), and also when
        the caller abandons the generator, the state is restored to the step's start first. Raises RuntimeError when
        it is continued after something else has begun: a mistake of the caller.
        """
        self.settle()
        token_ids = torch.tensor(ids, dtype=torch.int64)
        before = self._unfinished = self.state.checkpoint()
        try:
            streams = yield from self._layers(token_ids, step, stop, before)
        except BaseException:
            if self._unfinished is before:
                self.settle()
            raise
        self._unfinished = None
        self.state.position = step.stop
        self.tokens.extend(ids)
        return streams[-1:]

    def _layers(
        self, token_ids: torch.Tensor, step: Step, stop: threading.Event | None, before: Checkpoint
    ) -> Generator[int, None, torch.Tensor]:
        """Network.run_step for as long as nothing else begins."""
        running = self.network.run_step(token_ids, self.state, step, self.selects, stop)
        while True:
            try:
                layer = next(running)
            except StopIteration as finished:
                streams: torch.Tensor = finished.value
                return streams
            yield layer
            if self._unfinished is not before:
                raise RuntimeError("another prompt began in this session before the last one was read to its end")

    def settle(self) -> None:
        """Go back to the last commit if a step is unfinished. For whoever is about to read or change the state."""
        if self._unfinished is not None:
            self.state.restore_volatile(self._unfinished)
            self._unfinished = None

    def accept(self, token: int) -> None:
        """Record a token that a fused decode program has already brought into the state."""
        self.tokens.append(token)
        self.state.position += 1

    def mark(self, logits: torch.Tensor | None) -> None:
        """Keep this position as one to return to; the oldest beyond a few are forgotten."""
        self.settle()
        if logits is None and any(kept.position == self.position for kept in self._checkpoints):
            return  # the logits that are known there stay so
        self._checkpoints = [kept for kept in self._checkpoints if kept.position != self.position]
        self._checkpoints.append(self.state.checkpoint(logits))
        del self._checkpoints[:-KEPT_CHECKPOINTS]

    def points(self, end: int | None = None) -> list[Checkpoint]:
        """What a saved session holds: the two newest positions to return to, and the last is where it will stand.

        That is the position itself, whose tensors are not copied, or the last one kept up to `end`; none kept: empty.
        """
        self.settle()
        found = [kept for kept in self._checkpoints if end is None or kept.position <= end][-_SAVED_CHECKPOINTS:]
        if end is None and not (found and found[-1].position == self.position):
            now = (tensor for layer in self.state.layers for tensor in layer.volatile())
            found.append(Checkpoint(self.position, tuple(now), None))
        return found

    def reusable(self, ids: Sequence[int]) -> int:
        """How many leading tokens of `ids` need not be computed again, without changing anything."""
        found = self._return_point(ids)
        if found is None:
            return self.position if self._continues(ids) else 0
        return found.position

    def return_to_shared(self, ids: Sequence[int]) -> torch.Tensor | None:
        """Go back to the longest prefix shared with `ids` that can be restored; its logits when `ids` ends there."""
        self.settle()
        if self._continues(ids):
            return None
        found = self._return_point(ids)
        if found is None:
            self.reset()
            return None
        self.state.rewind(found)
        del self.tokens[found.position :]
        self._checkpoints = [kept for kept in self._checkpoints if kept.position <= found.position]
        return found.logits if found.position == len(ids) else None

    def reset(self) -> None:
        self._unfinished = None
        self.state.reset()
        self.tokens.clear()
        self._checkpoints.clear()

    def adopt(self, tokens: list[int], points: list[Checkpoint]) -> None:
        """Take over what a snapshot holds besides the state, which has been restored from it."""
        self.tokens = tokens
        self._checkpoints = [point for point in points if point.position < len(tokens) or point.logits is not None]

    def _continues(self, ids: Sequence[int]) -> bool:
        """Whether `ids` goes on from here with at least one token to compute."""
        return len(ids) > self.position and list(ids[: self.position]) == self.tokens

    def _return_point(self, ids: Sequence[int]) -> Checkpoint | None:
        if self._continues(ids):
            return None
        shared = _shared_prefix(self.tokens, ids)
        usable = [
            kept
            for kept in self._checkpoints
            if kept.position < len(ids) or (kept.position == len(ids) and kept.logits is not None)
        ]
        return max((kept for kept in usable if kept.position <= shared), key=lambda kept: kept.position, default=None)


def _shared_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    for index, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return index
    return min(len(a), len(b))
