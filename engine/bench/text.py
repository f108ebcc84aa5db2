"""The fixed text that benchmarks read: real prose from resources/texts/, the same words on every machine.

Called by the runner before the clock starts. A prompt longer than the text goes through it again from the start, and
the run's record says how often.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import resources

PROSE = "persuasion.txt"


class Encoder(Protocol):
    """The part of a tokenizer this module needs."""

    def encode(self, text: str) -> Sequence[int]:
        """Plain text to ids; never a control token."""
        ...


@dataclass(frozen=True, slots=True)
class BenchText:
    """Token ids of the fixed text, and what it is. `ids` has exactly the tokens asked for; `repeats` >= 1."""

    name: str
    sha256: str
    ids: tuple[int, ...]
    repeats: int

    @property
    def description(self) -> str:
        again = f", read {self.repeats} times over" if self.repeats > 1 else ""
        return f"real prose: Jane Austen, Persuasion (public domain){again}"


def read_prose() -> str:
    """The fixed text."""
    return (resources.ROOT / "texts" / PROSE).read_text(encoding="utf-8")


def bench_text(encoder: Encoder, tokens: int, first: int | None = None) -> BenchText:
    """The first `tokens` ids of the fixed text, opened by the id `first` (begin of text) if there is one."""
    prose = read_prose()
    # Encoding half a megabyte for a prompt of 512 tokens would be felt: a token is rarely over 16 bytes.
    body = list(encoder.encode(prose[: 16 * tokens]))
    if len(body) < tokens and len(prose) > 16 * tokens:
        body = list(encoder.encode(prose))
    opening = [] if first is None else [first]
    repeats = max(1, -(-(tokens - len(opening)) // max(1, len(body))))
    ids = (opening + body * repeats)[:tokens]
    return BenchText(PROSE, hashlib.sha256(prose.encode()).hexdigest(), tuple(ids), repeats)
