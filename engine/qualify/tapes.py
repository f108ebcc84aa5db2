"""The frozen tapes: for each domain a text in resources/tapes/ and, for each tokenizer known, its ids and their hash.

A model whose tokenizer is not known gets ids made from the same text; the report then says that they are not frozen.
`python -m engine.qualify.freeze` writes the files. Pure functions; reading takes milliseconds.
"""

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import resources
from engine.errors import UserError
from engine.qualify.records import EXACT_PROMPT_TOKENS, EXACT_ROWS, PROMPT_TOKENS, ROWS, Domain
from engine.record_json import from_plain
from engine.strict_json import parse_value

TAPES = resources.ROOT / "tapes"
TAPE_TOKENS = PROMPT_TOKENS + ROWS
assert EXACT_PROMPT_TOKENS + EXACT_ROWS <= TAPE_TOKENS


class TapeTokenizer(Protocol):
    """The part of a tokenizer that makes and identifies tapes."""

    @property
    def vocab_size(self) -> int: ...
    @property
    def bos(self) -> int: ...
    def encode(self, text: str) -> list[int]: ...
    def piece(self, id: int) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Tape:
    """Ids of one domain: begin of text, prompt, continuation."""

    domain: Domain
    ids: tuple[int, ...]
    sha256: str
    is_frozen: bool


@dataclass(frozen=True, slots=True)
class FrozenTape:
    """A tape in a tape file."""

    domain: Domain
    text_sha256: str
    ids_sha256: str
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TapeFile:
    """All tapes of one tokenizer."""

    tokenizer: str
    tokenizer_sha256: str
    tapes: tuple[FrozenTape, ...]


def ids_sha256(ids: Sequence[int]) -> str:
    """SHA-256 over the ids as little-endian 32-bit numbers."""
    return hashlib.sha256(struct.pack(f"<{len(ids)}I", *ids)).hexdigest()


def tokenizer_sha256(tokenizer: TapeTokenizer) -> str:
    """SHA-256 over the bytes of every token, in order."""
    digest = hashlib.sha256()
    for token in range(tokenizer.vocab_size):
        piece = tokenizer.piece(token)
        digest.update(struct.pack("<I", len(piece)) + piece)
    return digest.hexdigest()


def read_text(domain: Domain, folder: Path = TAPES) -> str:
    return (folder / f"{domain.value}.txt").read_text(encoding="utf-8")


def read_tape_files(folder: Path = TAPES) -> tuple[TapeFile, ...]:
    """Every tape file. Raises UserError naming a damaged one, also when ids do not have the hash beside them."""
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            file = from_plain(TapeFile, parse_value(path.read_text(encoding="utf-8")), path.name)
        except (OSError, ValueError) as error:
            raise UserError(f"The tapes in {path.name} are damaged: {error}.") from None
        for tape in file.tapes:
            if ids_sha256(tape.ids) != tape.ids_sha256:
                raise UserError(
                    f"The tape {tape.domain.value} in {path.name} does not have the hash it was frozen with."
                )
        found.append(file)
    return tuple(found)


def load_tapes(tokenizer: TapeTokenizer, folder: Path = TAPES) -> dict[Domain, Tape]:
    """The tapes for a model: frozen ones if its tokenizer is known, or gives the very ids of one that is."""
    files, own = read_tape_files(folder), tokenizer_sha256(tokenizer)
    for file in files:
        if file.tokenizer_sha256 == own:
            return {tape.domain: Tape(tape.domain, tape.ids, tape.ids_sha256, True) for tape in file.tapes}
    known = {tape.ids_sha256 for file in files for tape in file.tapes}
    made = (make_tape(domain, tokenizer, folder) for domain in Domain)
    return {tape.domain: replace(tape, is_frozen=tape.sha256 in known) for tape in made}


def make_tape(domain: Domain, tokenizer: TapeTokenizer, folder: Path = TAPES) -> Tape:
    """A tape from the domain's text. Raises UserError if the text is too short for this tokenizer."""
    ids = (tokenizer.bos, *tokenizer.encode(read_text(domain, folder)))[:TAPE_TOKENS]
    if len(ids) < TAPE_TOKENS:
        raise UserError(f"The text of the {domain.value} tape gives {len(ids):,} tokens; {TAPE_TOKENS:,} are needed.")
    return Tape(domain, ids, ids_sha256(ids), False)
