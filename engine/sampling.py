"""Chooses the next token from a model's logits: greedy, or random within top-k, top-p and min-p.

One Sampler serves one answer, on the thread that generates it. The same seed and logits give the same tokens.
"""

import math
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.errors import EngineError, UserError
from engine.partial_sampling import DEFAULTS, MIN_P, TEMPERATURE, TOP_K, TOP_P, PartialSampling

FloatArray = npt.NDArray[np.floating]
IdArray = npt.NDArray[np.intp]

_LARGEST_SEED = (1 << 64) - 1
# With top-k off, the smallest set that reaches top-p is looked for among this many tokens before all are sorted.
_FIRST_LOOK = 256


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to choose a token; checked on creation, UserError otherwise.

    `temperature` 0 always takes the likeliest token. `top_k` keeps the k likeliest (0: all), `top_p` the likeliest
    ones that together reach this probability (1: all), `min_p` those at least this fraction as likely as the
    likeliest (0: all). Without `seed` every run differs.
    """

    temperature: float = TEMPERATURE
    top_p: float = TOP_P
    top_k: int = TOP_K
    min_p: float = MIN_P
    seed: int | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and 0 <= self.temperature <= 100):
            raise UserError(f"The temperature is {self.temperature}, but must be between 0 and 100.")
        if not 0 < self.top_p <= 1:
            raise UserError(f"top-p is {self.top_p}, but must be above 0 and at most 1.")
        if self.top_k < 0:
            raise UserError(f"top-k is {self.top_k}, but must be 0 (off) or more.")
        if not 0 <= self.min_p <= 1:
            raise UserError(f"min-p is {self.min_p}, but must be between 0 and 1.")
        if self.seed is not None and not 0 <= self.seed <= _LARGEST_SEED:
            raise UserError(f"The seed is {self.seed}, but must be between 0 and {_LARGEST_SEED}.")


def sampling_of(wishes: PartialSampling, advice: PartialSampling, seed: int | None = None) -> Sampling:
    """What is wished, else what the model advises, else what holds otherwise. Raises UserError as Sampling does."""
    return Sampling(**asdict(wishes.over(advice).over(DEFAULTS)), seed=seed)


class Sampler:
    """Draws tokens for one answer. Holds its own random generator, so nothing else disturbs a seeded run."""

    __slots__ = ("_generator", "sampling")

    def __init__(self, sampling: Sampling) -> None:
        self.sampling = sampling
        self._generator = torch.Generator()
        if sampling.seed is None:
            self._generator.seed()
        else:
            self._generator.manual_seed(sampling.seed)

    def pick(self, logits: Tensor) -> int:
        """The id of the next token. `logits` is float32 [vocab]; -inf rules a token out.

        Raises EngineError when there is no token to choose: NaN, +inf, or everything ruled out.
        """
        # numpy rather than torch: a vocabulary is too small to be worth waking torch's threads for.
        values = logits.detach().to("cpu", torch.float32).numpy()
        likeliest = int(values.argmax())  # the lowest index of equal values
        if not math.isfinite(values[likeliest]):
            raise EngineError("The model's output is not a number, so no token can be chosen.")
        if self.sampling.temperature == 0:
            return likeliest
        ids, weights = _candidates(values, self.sampling)
        cumulative = weights.cumsum()
        draw = torch.rand((), generator=self._generator, dtype=torch.float64).item()
        place = int(cumulative.searchsorted(draw * cumulative[-1], side="right"))
        return int(ids[min(place, len(ids) - 1)])


def _candidates(logits: FloatArray, sampling: Sampling) -> tuple[IdArray, FloatArray]:
    """Ids of the tokens that may be drawn and float64 weights in proportion to their likelihood."""
    peak, temperature = float(logits.max()), sampling.temperature

    def weigh(chosen: FloatArray) -> FloatArray:
        return np.exp((chosen.astype(np.float64) - peak) / temperature)  # the likeliest token weighs 1

    if sampling.top_k:
        ids = _likeliest(logits, sampling.top_k)
        weights = weigh(logits[ids])
        total = weights.sum()
    else:
        everything = weigh(logits)
        total = everything.sum()
        ids = _likeliest(logits, _FIRST_LOOK) if sampling.top_p < 1 else np.arange(len(logits))
        weights = everything[ids]
        if sampling.top_p < 1 and weights.sum() < sampling.top_p * total:
            ids = _likeliest(logits, len(logits))
            weights = everything[ids]
    kept = (weights > 0) & (weights >= sampling.min_p)
    if sampling.top_p < 1:
        kept &= weights.cumsum() - weights < sampling.top_p * total
    return ids[kept], weights[kept]


def _likeliest(logits: FloatArray, count: int) -> IdArray:
    """Ids of the `count` largest logits in falling order, equal ones by rising id."""
    if count >= len(logits):
        return np.argsort(-logits, kind="stable")
    smallest = np.partition(logits, -count)[-count]
    above, equal = np.flatnonzero(logits > smallest), np.flatnonzero(logits == smallest)
    return np.concatenate((above[np.argsort(-logits[above], kind="stable")], equal[: count - len(above)]))
