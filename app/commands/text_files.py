"""Text files for the command line: UTF-8 or whatever else they are written in, as a string. Any thread."""

from pathlib import Path

from app.errors import DocumentError

LARGEST_BYTES = 64 * 1024 * 1024


def read_text_file(path: Path) -> str:
    """The text of a file, line ends as \\n. Raises DocumentError naming the file and why it cannot be read."""
    try:
        if path.is_dir():
            raise DocumentError(f"{path} is a folder, not a text file.")
        with open(path, "rb") as file:
            content = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise DocumentError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from None
    if len(content) > LARGEST_BYTES:
        raise DocumentError(f"{path} is larger than {LARGEST_BYTES >> 20} MiB; give a part of it.")
    return decode_text(content, str(path))


def decode_text(content: bytes, name: str) -> str:
    """Text of any common encoding. Raises DocumentError when these bytes are not text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = _guess(content, name)
    if "\0" in text:
        raise DocumentError(f"{name} is not a text file: it contains zero bytes.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _guess(content: bytes, name: str) -> str:
    """The likeliest reading of bytes that are not UTF-8."""
    from charset_normalizer import from_bytes  # here: most files are UTF-8 and need no guess

    matches = from_bytes(content)
    best = matches.best()
    if best is None:
        raise DocumentError(f"{name} is not a text file in any encoding we know.")
    # Equally good guesses come in alphabetical order, which would read French as Czech.
    for match in matches:
        if match.encoding == "cp1252" and (match.chaos, match.coherence) == (best.chaos, best.coherence):
            return str(match)
    return str(best)
