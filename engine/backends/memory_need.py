"""Whether a model fits, before anything is allocated: what it needs, what there is, and one sentence when it does not.

Used by the backends when a model is loaded; integers in bytes.
"""

from dataclasses import dataclass

from engine.errors import UserError

_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """`weights` as placed, `session` a conversation of usual length, `step` the buffers of the largest step."""

    weights: int
    session: int = 0
    step: int = 0

    @property
    def total(self) -> int:
        return self.weights + self.session + self.step


def require_room(name: str, where: str, need: MemoryNeed, available: int | None, advice: str) -> None:
    """Raises UserError with `advice` where `need` exceeds `available` (None: not known, then nothing is refused)."""
    if available is None or need.total <= available:
        return
    parts = f" (weights {need.weights / _GIB:.1f})" if need.total > need.weights else ""
    raise UserError(
        f"{name}: on the {where} this model needs {need.total / _GIB:.1f} GiB of memory{parts}, and "
        f"{available / _GIB:.1f} GiB are available; {advice}"
    )
