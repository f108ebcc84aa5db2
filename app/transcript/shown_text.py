"""The words that a message shows, without making a document of them, and where other words stand in a text.

Find looks through a whole chat with it; `inline_text` is also what the documents are written with, so that both agree.
Pure, any thread.
"""

from collections.abc import Generator, Iterator

from markdown_it.token import Token
from PySide6.QtCore import QCoreApplication

from app.transcript.markdown import Block, BlockKind, inline_tokens, parse_blocks

_LINE_ENDS = {"paragraph_close", "heading_close", "th_close", "td_close"}


def inline_text(token: Token) -> str:
    """What one token inside a line shows."""
    match token.type:
        case "softbreak":
            return " "
        case "hardbreak":
            return "\u2028"
        case "image":
            label = token.content or str(token.attrGet("src") or "")
            return QCoreApplication.translate("Transcript", "Image: {description}").format(description=label)
        case _:
            return token.content


def block_words(block: Block) -> str:
    """The words of a block as a person reads them. Paragraphs, cells and lines of code are lines of it."""
    return "".join(_parts(block))


def words_in_steps(source: str) -> Generator[None, None, list[str]]:
    """The words of every block of a Markdown text. A thousand characters take about a millisecond, so it yields after
    each paragraph or cell; only the cut into blocks at the beginning is one step.
    """
    words: list[str] = []
    for block in parse_blocks(source):
        parts: list[str] = []
        for part in _parts(block):
            parts.append(part)
            yield
        words.append("".join(parts))
    return words


def _parts(block: Block) -> Iterator[str]:
    if block.kind is not BlockKind.PROSE:
        yield block.text
        return
    for token in block.tokens:
        if token.type == "inline":
            yield "".join(inline_text(child) for child in inline_tokens(token, block.environment))
        elif token.type in ("fence", "code_block"):  # inside a list or a quote
            yield token.content
        elif token.type in _LINE_ENDS:
            yield "\n"


def places_of(text: str, needle: str) -> list[tuple[int, int]]:
    """Start and end of every match in characters of `text`, whatever its case. `needle` is case-folded and not empty.

    A folded text may be longer than the text ("ß" folds to "ss"); a match inside such a letter takes all of it.
    """
    folded = text.casefold()
    owners = range(len(text)) if len(folded) == len(text) else _owners(text)
    found: list[tuple[int, int]] = []
    at = folded.find(needle)
    while at >= 0:
        end = at + len(needle)
        place = owners[at], owners[end - 1] + 1
        if not found or place[0] >= found[-1][1]:
            found.append(place)
        at = folded.find(needle, end)
    return found


def _owners(text: str) -> list[int]:
    """For each character of the folded text, the one that it came from."""
    return [index for index, letter in enumerate(text) for _ in letter.casefold()]


def in_utf16(text: str, places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ordered places in characters, as places in UTF-16 units, which QTextDocument counts."""
    if text.isascii():
        return places
    found: list[tuple[int, int]] = []
    at = units = 0
    for start, end in places:
        first = units + utf16_units(text[at:start])
        units = first + utf16_units(text[start:end])
        found.append((first, units))
        at = end
    return found


def utf16_units(text: str) -> int:
    """How many positions a text takes in Qt."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
