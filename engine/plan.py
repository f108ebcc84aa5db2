"""How a prompt is cut into frontier steps and bands, and what each token may see. Integers only, no tensors.

Called by the session (cutting), the layers (visibility) and the ledger (counts), on any thread. The closed forms are
those of banded prefill: a query at absolute position p sees the raw rows of positions max(0, p-127) .. p and the
compressed rows i < (p+1)//r of a layer with compression ratio r. docs/bands.md draws them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

BAND_TOKENS = 2048
STEP_BANDS = 5
STEP_CAP = BAND_TOKENS * STEP_BANDS
RAW_WINDOW = 128
_STEP_GRAIN = 4  # a whole number of ratio-4 windows


class Cut(Enum):
    """The rule that cuts a prompt into steps."""

    EQUAL = "equal"  # as few steps as the cap allows, of nearly equal size
    GREEDY = "greedy"  # min(remaining, cap), left to right: the public rule


@dataclass(frozen=True, slots=True)
class Band:
    """A slice of a step, [start, stop) in step-local token indices, at most BAND_TOKENS long."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Step:
    """One pass of all layers over `tokens` prompt tokens that begin at absolute position `start`."""

    start: int
    tokens: int

    @property
    def stop(self) -> int:
        return self.start + self.tokens

    def bands(self, size: int = BAND_TOKENS) -> Iterator[Band]:
        """The step's bands in order; the last one may be shorter."""
        for first in range(0, self.tokens, size):
            yield Band(first, min(first + size, self.tokens))


def cut_prompt(start: int, tokens: int, cap: int = STEP_CAP, cut: Cut = Cut.EQUAL) -> tuple[Step, ...]:
    """Cut `tokens` new tokens after position `start` into steps of at most `cap`.

    Raises ValueError if a count is negative or the cap is below one token.
    """
    if start < 0 or tokens < 0 or cap < 1:
        raise ValueError(f"cannot cut {tokens} tokens at {start} with a cap of {cap}")
    steps: list[Step] = []
    remaining = tokens
    while remaining:
        size = min(remaining, cap if cut is Cut.GREEDY else _equal_size(remaining, cap))
        steps.append(Step(start + tokens - remaining, size))
        remaining -= size
    return tuple(steps)


def _equal_size(remaining: int, cap: int) -> int:
    """The next step of the equal rule: an equal share of what remains, up to a multiple of 4, never over the cap.

    The share is taken anew for each step: one share for all would add up its rounding and starve the last step.
    """
    steps = -(-remaining // cap)
    share = -(-remaining // steps)
    return min(cap, -(-share // _STEP_GRAIN) * _STEP_GRAIN)


@dataclass(frozen=True, slots=True)
class Visibility:
    """What token t of a step sees in one layer, in the layer's row space [prior raw | current raw | compressed].

    `start` S is the absolute position of the step's first token, `tokens` N its length, `ratio` r the layer's
    compression ratio (0: none). Every bound is inclusive and a row index, as in section 4.1 of the specification.
    """

    start: int
    tokens: int
    ratio: int
    window: int = RAW_WINDOW

    @property
    def prior(self) -> int:
        """P: raw rows before the step that its first tokens still see, min(S, window)."""
        return min(self.start, self.window)

    @property
    def compressed(self) -> int:
        """C: compressed rows that exist once the step's rows are appended, floor((S+N)/r)."""
        return (self.start + self.tokens) // self.ratio if self.ratio else 0

    def raw_first(self, t: int) -> int:
        return max(0, self.prior + t - (self.window - 1))

    def raw_last(self, t: int) -> int:
        return self.prior + t

    def visible(self, t: int) -> int:
        """V(t): compressed rows that token t sees, including the one its own window closes."""
        return (self.start + t + 1) // self.ratio if self.ratio else 0

    def compressed_first(self, t: int) -> int:
        return self.prior + self.tokens

    def compressed_last(self, t: int) -> int:
        return self.prior + self.tokens + self.visible(t) - 1

    def first_scored(self, top_k: int) -> int:
        """t0: the first token with more than `top_k` visible rows; earlier ones select everything. N if none."""
        if not self.ratio:
            return self.tokens
        return min(max(self.ratio * (top_k + 1) - 1 - self.start, 0), self.tokens)


class AttentionPlan(Enum):
    """The closed set of ways to find a token's rows. Dispatch over it has no default branch."""

    WINDOW = auto()  # raw rows only, analytic bounds
    CONTIGUOUS = auto()  # raw rows and every visible compressed row, analytic bounds
    INDEXED = auto()  # raw rows and at most top_k compressed rows by id list


def admit(view: Visibility, top_k: int | None) -> AttentionPlan:
    """The one admission function: which plan serves a step in a layer.

    `top_k` is the selection size of a layer with an indexer that is in force, None where all rows are used.
    Raises ValueError for a geometry no plan covers; there is no fall-back plan to reach by accident.
    """
    if view.tokens < 1 or view.start < 0 or view.ratio < 0 or view.window < 1:
        raise ValueError(f"no attention plan covers {view}")
    if top_k is not None and (top_k < 1 or not view.ratio):
        raise ValueError(f"a selection of {top_k} rows needs a compressed layer")
    if not view.ratio:
        return AttentionPlan.WINDOW
    if top_k is not None and view.first_scored(top_k) < view.tokens:
        return AttentionPlan.INDEXED
    return AttentionPlan.CONTIGUOUS
