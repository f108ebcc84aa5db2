"""Colours for fenced code: pygments decides what a word is, the theme decides its colour. GUI thread, pure."""

from collections.abc import Iterator
from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
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


@lru_cache(maxsize=64)
def lexer_for(language: str) -> Lexer | None:
    """The lexer of a fence's label, or None for an unknown or missing label."""
    if not language:
        return None
    try:
        return get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def language_name(label: str) -> str:
    """The name to show on a code block: the language's own name, or the label as written."""
    lexer = lexer_for(label)
    return str(lexer.name) if lexer is not None else label


@lru_cache(maxsize=512)
def _role(token: _TokenType) -> str | None:
    return next((role for parent, role in _ROLES if parent == token[: len(parent)]), None)


def coloured_spans(code: str, language: str, colours: CodeColours) -> Iterator[tuple[int, int, str | None]]:
    """(start, length, #rrggbb or None for plain) of every stretch of `code`, found lazily, in characters."""
    lexer = lexer_for(language)
    if lexer is None or len(code) > _LONGEST_HIGHLIGHTED:
        return
    for start, token, value in lexer.get_tokens_unprocessed(code):
        if value:
            role = _role(token)
            yield start, len(value), None if role is None else str(getattr(colours, role))
