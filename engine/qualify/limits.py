"""The limits that were fixed before any run, from a file whose hash is in every report. See banded-prefill 8.3."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import resources
from engine.errors import UserError
from engine.record_json import from_plain
from engine.strict_json import parse_value

LIMITS_FILE = resources.ROOT / "qualify" / "limits.json"


@dataclass(frozen=True, slots=True)
class Limits:
    """Numbers of the rules. The first two are the public project's; the others are ours."""

    mean_kl_floor: float
    mean_kl_noise_factor: float
    top1_floor: float
    top1_slack: float
    greedy_prefix: int
    greedy_tie_gap: float
    noise: float
    swapped_in_pages: int

    def mean_kl(self, noise: float) -> float:
        """The largest cross KL that passes at this noise."""
        return max(self.mean_kl_floor, self.mean_kl_noise_factor * noise)

    def top1(self, same: float) -> float:
        """The smallest cross agreement that passes at this agreement within an arm."""
        return max(self.top1_floor, same - self.top1_slack)

    def prefix(self, same: int) -> int:
        """The shortest common greedy prefix that passes without being a tie."""
        return min(same, self.greedy_prefix)


def load_limits(path: Path = LIMITS_FILE) -> tuple[Limits, str]:
    """The limits and the SHA-256 of their file. Raises UserError naming the file."""
    try:
        content = path.read_bytes()
        return from_plain(Limits, parse_value(content.decode()), "limits"), hashlib.sha256(content).hexdigest()
    except (OSError, ValueError) as error:
        raise UserError(f"The limits in {path.name} cannot be used: {error}.") from None
