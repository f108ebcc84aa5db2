"""What a search shows of a message: the words around the best match, as they read and not as Markdown writes them.

Called by app.store.search on the store's reading thread. The index marks the matches in the text as it is stored; the
marks go through the Markdown parser with the words they stand around, so they come out at the right place.
"""

import re
from itertools import islice

from markdown_it import MarkdownIt
from markdown_it.token import Token

OPEN, CLOSE = "\ufdd0", "\ufdd1"  # marks around matches: noncharacters, which Markdown takes for letters
Marks = tuple[tuple[int, int], ...]  # (start, length) of each match, in characters

_CHARACTERS = 160
_BEFORE = 24  # characters before the match; the list is narrow, and the match is what one looks for
_PASSAGE = 2_000  # characters of Markdown that are read on each side of a match
_MOST_MATCHES = 1_000  # of one message that are weighed
_MOST_REFERENCES = 200  # lines of link addresses of one message that are read

_MATCH = re.compile(f"{OPEN}([^{CLOSE}]*){CLOSE}")
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n(?=\S)")  # what follows is no continuation of a list or of indented code
_FENCE = re.compile(r"^[^\S\n]*(`{3,}|~{3,}).*$", re.MULTILINE)
_REFERENCE = re.compile(r"^ {0,3}\[[^\]\n]+\]:.*$", re.MULTILINE)
_SENTENCE_END = tuple(".,:;!?…。！？")


class _Reader(MarkdownIt):
    """The transcript's Markdown. A parser of our own, for parsers are not made to be used on two threads."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False, "linkify": False, "typographer": False})
        self.enable(["table", "strikethrough"])

    def normalizeLink(self, url: str) -> str:
        """The address as it is written: it may be shown here and is never opened."""
        return url

    def normalizeLinkText(self, link: str) -> str:
        """The same for an address that is its own text."""
        return link


_READER = _Reader()


def snippet(marked: str) -> tuple[str, Marks]:
    """One line of plain text around the best match of a message, and the matches in it.

    `marked` is the message's Markdown with OPEN and CLOSE around each match.
    """
    passage = _passage(marked)
    addresses = islice(_REFERENCE.finditer(marked), _MOST_REFERENCES)  # they may stand anywhere in the message
    references = "\n".join(match[0] for match in addresses)
    readable = _readable(f"{passage}\n\n{references}")
    if OPEN not in readable:  # the match is in what is not shown, such as an unused address
        readable = _one_line(passage)
    return split_marks(_window(readable))


def split_marks(marked: str) -> tuple[str, Marks]:
    """Plain text on one line, and (start, length) of each marked part."""
    plain: list[str] = []
    marks: list[tuple[int, int]] = []
    opened: int | None = None
    for char in marked:
        if char == OPEN:
            opened = len(plain)
        elif char == CLOSE:
            if opened is not None and len(plain) > opened:
                marks.append((opened, len(plain) - opened))
            opened = None
        else:
            plain.append(" " if char.isspace() else char)
    return "".join(plain), tuple(marks)


def _best_match(marked: str) -> int:
    """Where the match stands that has the most different matches right after it; 0 without any."""
    matches = [(match.start(), match[1].casefold()) for match in islice(_MATCH.finditer(marked), _MOST_MATCHES)]
    best, most = 0, 0
    for number, (start, _) in enumerate(matches):
        words = set()
        for other, word in matches[number:]:
            if other - start > _CHARACTERS - _BEFORE:
                break
            words.add(word)
        if len(words) > most:
            best, most = start, len(words)
    return best


def _passage(marked: str) -> str:
    """The paragraphs around the best match, as Markdown that can be read by itself."""
    at = _best_match(marked)
    first = max(0, at - _PASSAGE)
    starts = [match.end() for match in _PARAGRAPH.finditer(marked, first, at)]
    start = starts[-1] if starts else max(first, marked.rfind("\n", first, at) + 1) if first else 0
    ended = _PARAGRAPH.search(marked, at + _CHARACTERS, at + _PASSAGE)
    end = ended.start() if ended else at + _PASSAGE
    return _open_fence(marked[:start]) + marked[start:end]


def _open_fence(before: str) -> str:
    """The line that opens the code that `before` ends in; empty if it does not end in code."""
    opened = ""
    for match in _FENCE.finditer(before):
        if not opened:
            opened = match[1]
        elif match[1].startswith(opened):
            opened = ""
    return f"{opened}\n" if opened else ""


def _readable(markdown: str) -> str:
    """Markdown as one line of plain text, with the marks in it."""
    parts: list[str] = []
    for token in _READER.parse(markdown):
        if token.type == "inline":
            parts.append(_inline(token.children or []))
        elif token.type in ("fence", "code_block"):
            parts.append(_if_marked(token.info) + token.content)
    text = ""
    for part in filter(None, map(_one_line, parts)):
        text += (" " if text.endswith(_SENTENCE_END) else " · ") + part if text else part
    return text


def _inline(tokens: list[Token]) -> str:
    """The words of a line. An address is left out, unless it is where the match is."""
    words: list[str] = []
    address = ""
    for token in tokens:
        if token.type == "image":
            words.append(token.content or str(token.attrGet("src") or ""))
        elif token.type in ("softbreak", "hardbreak"):
            words.append(" ")
        elif token.type == "link_open":
            address = "" if token.markup == "autolink" else _if_marked(str(token.attrGet("href") or ""))
        elif token.type == "link_close":
            words.append(f" ({address.strip()})" if address else "")
        else:
            words.append(token.content)
    return "".join(words)


def _if_marked(text: str) -> str:
    return f"{text} " if OPEN in text else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _window(marked: str) -> str:
    """Up to about _CHARACTERS around the best match, cut between words."""
    at = _best_match(marked)
    start = 0 if at <= _BEFORE else marked.find(" ", at - _BEFORE, at) + 1 or at
    end = start + _CHARACTERS
    if end < len(marked):
        end = marked.rfind(" ", marked.find(CLOSE, at, end), end) if " " in marked[at:end] else end
    shown = marked[start:end]
    if shown.count(OPEN) > shown.count(CLOSE):  # a match without an end in sight, as of a script without spaces
        shown += CLOSE
    return f"{'…' if start else ''}{shown}{'…' if end < len(marked) else ''}"
