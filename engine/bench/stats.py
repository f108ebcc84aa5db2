"""The statistics of a benchmark: mean, median, sample standard deviation, and whether two means differ beyond noise.

Pure functions on floats; the panel, the exports and the comparison all use these and nothing else.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

# Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom, then 40, 60 and 120.
_T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_T95_BEYOND = ((120, 1.980), (60, 2.000), (40, 2.021))


@dataclass(frozen=True, slots=True)
class Stats:
    """Figures of one quantity over `count` runs. `stdev` is the sample deviation, None for a single run."""

    count: int
    mean: float
    median: float
    stdev: float | None

    def __str__(self) -> str:
        """As in llama-bench: 123.45 ± 0.67, and without the second part for a single run."""
        return f"{self.mean:.2f}" if self.stdev is None else f"{self.mean:.2f} ± {self.stdev:.2f}"


def describe(values: Sequence[float]) -> Stats | None:
    """Stats of the values; None if there are none."""
    if not values:
        return None
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return Stats(len(values), statistics.fmean(values), statistics.median(values), deviation)


def t_quantile(degrees: float) -> float:
    """Two-sided 95 % quantile of Student's t, rounded to the side of caution (fewer degrees of freedom)."""
    if degrees < 1:
        raise ValueError(f"{degrees} degrees of freedom")
    whole = math.floor(degrees)
    if whole <= len(_T95):
        return _T95[whole - 1]
    return next((value for floor, value in _T95_BEYOND if whole >= floor), _T95[-1])


@dataclass(frozen=True, slots=True)
class Difference:
    """`new` against `old`: the ratio of the means, and whether the difference is outside the noise.

    `is_outside_noise` is None where either side has a single run: then nothing is known about the noise.
    """

    ratio: float
    low: float | None  # 95 % interval of the difference of the means, as a share of the old mean
    high: float | None
    is_outside_noise: bool | None


def compare(old: Stats, new: Stats) -> Difference | None:
    """Compare two means by Welch's interval: outside the noise if the 95 % interval of their difference excludes 0.

    The degrees of freedom follow Welch and Satterthwaite. Two sides without any spread differ if they are unequal.
    None if the old mean is 0.
    """
    if old.mean == 0:
        return None
    ratio = new.mean / old.mean
    if old.stdev is None or new.stdev is None:
        return Difference(ratio, None, None, None)
    old_variance, new_variance = old.stdev**2 / old.count, new.stdev**2 / new.count
    variance = old_variance + new_variance
    half = 0.0
    if variance > 0:
        spread = old_variance**2 / (old.count - 1) + new_variance**2 / (new.count - 1)
        # Variances so small that their squares vanish leave the fewest degrees of freedom: the widest interval.
        degrees = variance**2 / spread if spread > 0 else min(old.count, new.count) - 1
        half = t_quantile(max(1.0, degrees)) * math.sqrt(variance)
    difference = new.mean - old.mean
    return Difference(
        ratio,
        (difference - half) / old.mean,
        (difference + half) / old.mean,
        abs(difference) > half,
    )
