"""Freezes the tapes of one tokenizer: `python -m engine.qualify.freeze NAME MODEL.gguf`. A maintainer's tool.

Run it when a tokenizer is to be known for good; an existing file is never changed, since every earlier report is
about its ids.
"""

import hashlib
import json
import sys
from pathlib import Path

from engine.errors import UserError
from engine.qualify.records import Domain
from engine.qualify.tapes import (
    TAPES,
    FrozenTape,
    TapeFile,
    TapeTokenizer,
    make_tape,
    read_text,
    tokenizer_sha256,
)
from engine.record_json import to_plain


def freeze(name: str, tokenizer: TapeTokenizer, folder: Path = TAPES) -> Path:
    """Write the tape file of a tokenizer and return its path. Raises UserError if it exists."""
    path = folder / f"{name}.json"
    if path.exists():
        raise UserError(f"{path.name} exists; a frozen tape is never changed.")
    tapes = []
    for domain in Domain:
        tape = make_tape(domain, tokenizer, folder)
        text_sha256 = hashlib.sha256(read_text(domain, folder).encode()).hexdigest()
        tapes.append(FrozenTape(domain, text_sha256, tape.sha256, tape.ids))
    file = TapeFile(name, tokenizer_sha256(tokenizer), tuple(tapes))
    path.write_text(json.dumps(to_plain(file), separators=(",", ":")) + "\n", encoding="utf-8")
    return path


def main() -> None:
    from engine.gguf.reader import GgufFile
    from engine.tokenizer import Tokenizer

    if len(sys.argv) != 3:
        sys.exit("usage: python -m engine.qualify.freeze NAME MODEL.gguf")
    try:
        print(freeze(sys.argv[1], Tokenizer.from_gguf(GgufFile.open(sys.argv[2]))))
    except UserError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
