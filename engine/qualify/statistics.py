"""Compares two arrays of logits and two greedy answers: KL, top-1, common prefix; banded-prefill 8.2, in float64.

Pure functions on numpy arrays; a few rows at a time, since a row has up to 129,280 logits.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.qualify.records import PairStatistics, TokenProbability

Logits = npt.NDArray[np.float32]
_ROWS_AT_ONCE = 16
_TOP = 5


def log_softmax(logits: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Log-probabilities float64 of logits [..., vocab]."""
    values = np.asarray(logits, dtype=np.float64)
    shifted = values - values.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def row_kl(left: Logits, right: Logits) -> npt.NDArray[np.float64]:
    """KL(left || right) of each row in nats, [rows, vocab] twice -> float64 [rows]."""
    if left.shape != right.shape or left.ndim != 2:
        raise ValueError(f"logits of shape {left.shape} against {right.shape}")
    found = np.empty(left.shape[0])
    for first in range(0, left.shape[0], _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        p, q = log_softmax(left[rows]), log_softmax(right[rows])
        found[rows] = (np.exp(p) * (p - q)).sum(axis=-1)
    return found


def top1_agreement(left: Logits, right: Logits) -> float:
    """Share of rows whose likeliest token is the same; the lower id wins a tie on both sides."""
    return float(np.mean(left.argmax(axis=-1) == right.argmax(axis=-1)))


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """How many leading ids are equal."""
    for index, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return index
    return min(len(left), len(right))


def likeliest(logits: Logits) -> tuple[TokenProbability, ...]:
    """The five likeliest tokens of one row [vocab]."""
    probabilities = np.exp(log_softmax(logits))
    order = np.argsort(-probabilities, kind="stable")[:_TOP]
    return tuple(TokenProbability(int(token), float(probabilities[token])) for token in order)


def compare_pair(
    left: str,
    right: str,
    logits: tuple[Logits, Logits],
    greedy: tuple[Sequence[int], Sequence[int]],
    gaps: Sequence[float],
) -> PairStatistics:
    """All statistics of two processes on one tape. `gaps` are the top-2 gaps of the left one's greedy answer."""
    kl = row_kl(*logits)
    worst, prefix = int(kl.argmax()), common_prefix(*greedy)
    differs = prefix < min(len(greedy[0]), len(greedy[1]))
    return PairStatistics(
        left=left,
        right=right,
        mean_kl=float(kl.mean()),
        p99_kl=float(np.quantile(kl, 0.99)),
        worst_row=worst,
        worst_kl=float(kl[worst]),
        worst_left=likeliest(logits[0][worst]),
        worst_right=likeliest(logits[1][worst]),
        top1=top1_agreement(*logits),
        greedy_prefix=prefix,
        greedy_gap=float(gaps[prefix]) if differs else None,
        row_kl=tuple(float(value) for value in kl),
    )
