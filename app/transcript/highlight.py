"""Colours for fenced code: pygments decides what a word is, the theme decides its colour. GUI thread.

A lexer's patterns take up to a tenth of a second to compile when its language is met for the first time, so that is
done on a thread of its own; names come from pygments' table of contents, which imports no lexer.
"""

import threading
from collections.abc import Iterator, Mapping
from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_all_lexers, get_lexer_by_name
from pygments.token import Token, _TokenType
from pygments.util import ClassNotFound

from app.theme import CodeColours
from app.widgets.translation import QT_TRANSLATE_NOOP

PLAIN_CODE = QT_TRANSLATE_NOOP("Transcript", "Code")
_LONGEST_HIGHLIGHTED = 200_000  # characters; longer code stays plain

_ROLES: tuple[tuple[_TokenType, str], ...] = (
    (Token.Comment.Preproc, "keyword"),
    (Token.Comment, "comment"),
    (Token.Keyword.Type, "type"),
    (Token.Keyword, "keyword"),
    (Token.Operator.Word, "keyword"),
    (Token.Literal.String, "string"),
    (Token.Literal.Number, "number"),
    (Token.Name.Function, "function"),
    (Token.Name.Class, "type"),
    (Token.Name.Namespace, "type"),
    (Token.Name.Builtin, "type"),
    (Token.Name.Exception, "type"),
    (Token.Name.Decorator, "function"),
    (Token.Name.Tag, "keyword"),
    (Token.Name.Attribute, "function"),
    (Token.Generic.Inserted, "inserted"),
    (Token.Generic.Deleted, "deleted"),
    (Token.Generic.Heading, "keyword"),
)


_makers: dict[str, threading.Thread] = {}  # by language, as many as pygments knows


@lru_cache(maxsize=1)
def _names() -> Mapping[str, str]:
    """The name of every language by each of its labels."""
    return {alias: name for name, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases}


def is_ready(language: str) -> bool:
    """True if code of this label can be coloured at once. If not, its lexer is being made: ask again a little later."""
    label = language.lower()
    if label not in _names():
        return True
    maker = _makers.get(label)
    if maker is None:
        maker = _makers[label] = threading.Thread(target=lexer_for, args=(label,), name="lexer", daemon=True)
        maker.start()
    return not maker.is_alive()


@lru_cache(maxsize=64)
def lexer_for(language: str) -> Lexer | None:
    """The lexer of a fence's label, or None for an unknown or missing label. Slow for the first code of a language: see
    is_ready."""
    if not language:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def language_name(label: str) -> str:
    """The name to show on a code block: the language's own name, or the label as written."""
    return _names().get(label.lower(), label)


@lru_cache(maxsize=512)
def _role(token: _TokenType) -> str | None:
    return next((role for parent, role in _ROLES if parent == token[: len(parent)]), None)


def coloured_spans(code: str, language: str, colours: CodeColours) -> Iterator[tuple[int, int, str | None]]:
    """(start, length, #rrggbb or None for plain) of every stretch of `code`, found lazily, in characters."""
    lexer = lexer_for(language.lower())
    if lexer is None or len(code) > _LONGEST_HIGHLIGHTED:
        return
    for start, token, value in lexer.get_tokens_unprocessed(code):
        if value:
            role = _role(token)
            yield start, len(value), None if role is None else str(getattr(colours, role))
