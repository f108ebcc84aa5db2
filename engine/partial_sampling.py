"""Some of the numbers of a sampling: what a person wishes, what a model's makers advise, what holds otherwise.

Without torch and numpy, because the window shows them; engine.sampling.sampling_of makes a whole sampling of them.
"""

from dataclasses import dataclass, fields

TEMPERATURE, TOP_P, TOP_K, MIN_P = 0.7, 0.95, 40, 0.0  # where nobody says anything


@dataclass(frozen=True, slots=True)
class PartialSampling:
    """Meanings as in engine.sampling.Sampling; None where nothing is said."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None

    def over(self, other: "PartialSampling") -> "PartialSampling":
        """These numbers, and those of `other` where these say nothing."""
        mine = ((field.name, getattr(self, field.name)) for field in fields(self))
        return PartialSampling(**{n: getattr(other, n) if value is None else value for n, value in mine})


UNSAID = PartialSampling()
DEFAULTS = PartialSampling(TEMPERATURE, TOP_P, TOP_K, MIN_P)
