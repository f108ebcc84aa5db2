"""A chat's first title, made from its first question by plain rules: it costs no tokens and evicts no cache. Pure.

People put a question before or after what it is about. So code, quotes, lists and mail heads are passed over where
something else is said, a greeting gives way to what follows it, and of a long paste the short paragraph at its end is
taken. The rules know no language's grammar, only its marks of a sentence's end and a few greetings.
"""

import re
from collections.abc import Sequence

MAX_CHARACTERS = 60
_ASIDE = 25  # characters; a title shorter than this has room for a document's name
_SHORT_PARAGRAPH = 200  # characters; longer ones are what a question is about
_LONGEST_LOOKED_AT = 20_000  # characters at each end of a question
_LONGEST_LINE = 400  # characters of a line; the rest cannot be in a title, and keeps the patterns quick

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_LINE_MARKS = re.compile(r"^(?:[#>*+\-]+\s+|\d+[.)]\s+|`{3,}\w*\s*)+")
_ASIDE_LINE = re.compile(
    r"^\s*(?:>|[*+\-]\s|\d+[.)]\s|(?:subject|from|to|cc|date|re|fwd|betreff|von|an|datum)\s*:)", re.I
)
_EMPHASIS = re.compile(r"(\*{1,3}|`{1,3}|~~|(?<!\w)_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)")
_ADDRESS = re.compile(r"https?://(?:www\.)?([^\s/?#]+)\S*")
_CODE = re.compile(
    r"^(?: {4}|\t)|^\s*(?:import [\w.]+\s*$|from [\w.]+ import\b|(?:async )?def \w|class \w+\s*[:({]|#include\b|"
    r"Traceback \(|File \"|\w*(?:Error|Exception|error|warning): |\$ |>>> |</?\w+[ />]|[{}\[\]()]|@\w+|//|/\*)|"
    r"[{};]\s*$|\w\(.*\)\s*[:{]?\s*$|\s(?:=|==|:=|=>|->|&&|\|\|)\s|\bSELECT\b.*\bFROM\b"
)
_GREETING = re.compile(
    r"^(?:hi|hello|hey|good (?:morning|afternoon|evening)|hallo|moin|servus|guten (?:morgen|tag|abend)|bonjour|salut|"
    r"hola|buenos días|ciao|olá|привет|здравствуйте|你好|您好|こんにちは|안녕하세요|مرحبا)"
    r"(?: there| again| all| zusammen)?\s*[,!.，！。、~]*\s+(?=\S+\s*\S)",
    re.I,
)
_STOP = re.compile(r"[?!…？！؟]+(?=\s)|[。？！]|[.](?=\s)")
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_WORDS_BEFORE_A_FULL_STOP = 3  # fewer are an abbreviation


def title_from_question(question: str, document_names: Sequence[str] = ()) -> str:
    """What the question asks, in one line of at most MAX_CHARACTERS, cut at a word. Without words: a document's name,
    or nothing."""
    title = _first_sentence(_telling_line(question))
    names = [name for name in document_names if name]
    if not title:
        return _shorten(names[0]) if names else ""
    file_name = next((name for name in names if "." in name.strip(".")), "")  # a paste's name tells nothing
    if file_name and len(title) <= _ASIDE:
        return _shorten(f"{title} – {file_name}")
    return _shorten(title)


def _telling_line(question: str) -> str:
    """The line that says what is wanted: of the first paragraph with something said in it, or of the last one if that
    is short and the first is long or not said by the person."""
    if len(question) > 2 * _LONGEST_LOOKED_AT:
        question = f"{question[:_LONGEST_LOOKED_AT]}\n\n{question[-_LONGEST_LOOKED_AT:]}"
    paragraphs = [p for p in re.split(r"\n\s*\n", _FENCE.sub("\n\n", question)) if any(map(str.isalnum, p))]
    said = [(number, lines) for number, p in enumerate(paragraphs) if (lines := _said(p))]
    if not said:
        return next((line for line in question.splitlines() if any(map(str.isalnum, _plain(line)))), "")
    number, first = said[0]
    is_about_something = number > 0 or len(paragraphs[0]) > _SHORT_PARAGRAPH or len(first) < _line_count(paragraphs[0])
    asks_already = first[0].rstrip().endswith(("?", ":", "？", "："))
    last = said[-1][1][-1]
    return last if is_about_something and not asks_already and len(last) <= _SHORT_PARAGRAPH else first[0]


def _said(paragraph: str) -> list[str]:
    """The lines that are neither code nor a quote, a list or a mail's head."""
    return [
        line
        for line in paragraph.splitlines()
        if any(map(str.isalnum, line)) and not _CODE.search(line[:_LONGEST_LINE]) and not _ASIDE_LINE.match(line)
    ]


def _line_count(paragraph: str) -> int:
    return sum(any(map(str.isalnum, line)) for line in paragraph.splitlines())


def _plain(line: str) -> str:
    """Without the marks of Markdown, and addresses without their paths."""
    bare = _EMPHASIS.sub(r"\2", _LINE_MARKS.sub("", line.strip()[:_LONGEST_LINE]))
    return " ".join(_ADDRESS.sub(r"\1", bare).split())


def _first_sentence(line: str) -> str:
    """A line's first sentence that is no greeting, begun with a capital if it begins with a plain word."""
    text = _GREETING.sub("", _plain(line))
    for stop in _STOP.finditer(text):
        words, rest = text[: stop.start()].split(), text[stop.end() :].lstrip()
        is_full_stop = stop[0] == "."
        if not is_full_stop or (len(words) >= _WORDS_BEFORE_A_FULL_STOP and not rest[:1].islower()):
            text = text[: stop.end()]
            break
    text = text.rstrip("。.:;,、 ") if any(map(str.isalnum, text)) else ""
    first = text.split(" ", maxsplit=1)[0].rstrip(",:!?")
    return text[:1].upper() + text[1:] if _PLAIN_WORD.fullmatch(first) else text


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= MAX_CHARACTERS:
        return text
    cut = text[: MAX_CHARACTERS - 1]
    at_word = cut.rpartition(" ")[0]
    return (at_word if len(at_word) >= MAX_CHARACTERS // 2 else cut).rstrip(" ,;:.-") + "…"
