"""Markdown to typed blocks. HTML stays text, images become links, nothing is fetched.

`parse_blocks` cuts a text into top-level blocks that are laid out one by one; list items are blocks of their own, so
that a long list is not laid out again for each token, and long tables are cut after some rows. `StreamParser` does the
same for a growing text and parses only what is not final yet. What stands inside a line (bold, links) is parsed by
`inline_tokens` when a block is laid out, which for most blocks of a long chat is never. GUI thread.
"""

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

Environment = MutableMapping[str, Any]  # Any: markdown-it's own record of reference definitions

_PARSER = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False}).enable(
    ["table", "strikethrough"]
)
_PARSER.core.ruler.disable(["inline", "text_join"])
_TABLE_ROWS = 20
_LISTS = {"bullet_list_open", "ordered_list_open"}


class BlockKind(Enum):
    PROSE = "prose"  # paragraph, heading, list item, quote, table, rule
    CODE = "code"
    PLAIN = "plain"  # shown verbatim, never parsed


@dataclass(frozen=True, slots=True)
class Block:
    """One block. `source` is its exact Markdown; `language` is set for code; `tokens` for prose.

    A list item after the first stands closer to the block before it than a paragraph does.
    """

    kind: BlockKind
    source: str
    text: str = ""
    language: str = ""
    tokens: tuple[Token, ...] = ()
    is_list_item: bool = False  # an item after the first of its list
    ordinal: int | None = None  # the number of an ordered list's item
    marker: str = ""  # of a list's item: its bullet, or the sign after its number
    joins_table: bool = False  # a part after the first of a long table
    columns: tuple[int, ...] = ()  # of a part of a long table: characters in the widest cell of each column
    environment: Environment = field(default_factory=dict, compare=False, repr=False)  # link targets of the text
    joins_previous: bool = False  # the source had no line break between this block and the one before


def parse_blocks(source: str) -> list[Block]:
    """Cut Markdown into top-level blocks."""
    return [block for block, _ in _parse(source, {})]


def inline_tokens(token: Token, environment: Environment) -> list[Token]:
    """What stands inside an inline token."""
    children: list[Token] = []
    _PARSER.inline.parse(token.content, _PARSER, environment, children)
    return children


def _parse(source: str, environment: Environment, before: Block | None = None) -> list[tuple[Block, int]]:
    """Blocks, each with the line of `source` where it starts. `before` is the block that stands before them."""
    tokens = _PARSER.parse(source, environment)
    lines = source.split("\n")
    blocks: list[tuple[Block, int]] = []
    at = 0
    while at < len(tokens):
        end = _end_of(tokens, at)
        part = tokens[at : end + 1]
        if part[0].type in _LISTS:
            blocks.extend(_list_items(part, lines, environment, before if at == 0 else None))
        elif part[0].type == "table_open":
            blocks.extend(_table_parts(part, lines, environment))
        else:
            blocks.append(_block(part, lines, environment))
        at = end + 1
    return blocks


def _end_of(tokens: list[Token], start: int) -> int:
    depth = 0
    for index in range(start, len(tokens)):
        depth += tokens[index].nesting
        if depth == 0:
            return index
    return len(tokens) - 1


def _slice(lines: list[str], span: list[int] | None) -> tuple[str, int]:
    first, last = (span[0], span[1]) if span else (0, len(lines))
    return "\n".join(lines[first:last]).rstrip("\n"), first


def _block(tokens: list[Token], lines: list[str], environment: Environment) -> tuple[Block, int]:
    head = tokens[0]
    source, line = _slice(lines, head.map)
    if head.type in ("fence", "code_block"):
        language = head.info.strip().split()[0] if head.info.strip() else ""
        return Block(BlockKind.CODE, source, text=head.content.rstrip("\n"), language=language), line
    return Block(BlockKind.PROSE, source, tokens=tuple(tokens), environment=environment), line


def start_number(opening: Token) -> int:
    start = opening.attrGet("start")
    return 1 if start is None else int(start)


def _list_items(
    tokens: list[Token], lines: list[str], environment: Environment, before: Block | None
) -> list[tuple[Block, int]]:
    """A list as one block an item, each still wrapped in its list tokens so that bullets and numbers are drawn."""
    opening, closing = tokens[0], tokens[-1]
    is_ordered = opening.tag == "ol"
    follows = before is not None and before.marker == opening.markup
    number = before.ordinal + 1 if before is not None and follows and before.ordinal else start_number(opening)
    items: list[tuple[Block, int]] = []
    at = 1
    while at < len(tokens) - 1:
        end = _end_of(tokens, at)
        source, line = _slice(lines, tokens[at].map)
        start = Token(opening.type, opening.tag, 1, attrs={"start": number} if is_ordered else {})
        body = (start, *tokens[at : end + 1], closing)
        block = Block(
            BlockKind.PROSE,
            source,
            tokens=body,
            is_list_item=follows,
            ordinal=number if is_ordered else None,
            marker=opening.markup,
            environment=environment,
        )
        items.append((block, line))
        follows = True
        number += 1
        at = end + 1
    return items


def _table_parts(tokens: list[Token], lines: list[str], environment: Environment) -> list[tuple[Block, int]]:
    """A table as blocks of at most _TABLE_ROWS rows. All start at the table's line: a part is no table by itself."""
    rows = [i for i, token in enumerate(tokens) if token.type == "tr_open"]
    source, line = _slice(lines, tokens[0].map)
    if len(rows) <= _TABLE_ROWS:
        return [(Block(BlockKind.PROSE, source, tokens=tuple(tokens), environment=environment), line)]
    columns = _column_characters(tokens[: rows[_TABLE_ROWS]])
    texts = source.split("\n")
    parts: list[tuple[Block, int]] = []
    for first in range(0, len(rows), _TABLE_ROWS):
        end = rows[first + _TABLE_ROWS] if first + _TABLE_ROWS < len(rows) else len(tokens)
        body = tokens[rows[first] : end]
        # The row of dashes stands between the header and the rows in the source, but is no row of the table.
        start = first + 1 if first else 0
        text = "\n".join(texts[start : first + _TABLE_ROWS + 1])
        block = Block(
            BlockKind.PROSE,
            text,
            tokens=(tokens[0], *body),
            columns=columns,
            environment=environment,
            joins_table=bool(first),
        )
        parts.append((block, line))
    return parts


def _column_characters(tokens: list[Token]) -> tuple[int, ...]:
    """The widest cell of each column, in characters of source."""
    widths: list[int] = []
    column = 0
    for token in tokens:
        if token.type == "tr_open":
            column = 0
        elif token.type == "inline":
            if column == len(widths):
                widths.append(1)
            widths[column] = max(widths[column], len(token.content))
            column += 1
    return tuple(widths)


class StreamParser:
    """Blocks of a text that grows at its end. Blocks before the last one are final and never parsed again."""

    def __init__(self) -> None:
        self._final: list[Block] = []
        self._tail = ""
        self._last: list[Block] = []
        self._environment: Environment = {}

    @property
    def has_references(self) -> bool:
        """True if the text defines link targets, which act backwards on blocks that are final."""
        return bool(self._environment.get("references"))

    @property
    def final_count(self) -> int:
        return len(self._final)

    def push(self, text: str) -> None:
        """Take more text. Only the text from the start of the last block on is parsed."""
        self._tail += text
        parsed = _parse(self._tail, self._environment, self._final[-1] if self._final else None)
        last_line = parsed[-1][1] if parsed else 0
        done = [block for block, line in parsed if line < last_line]
        self._last = [block for block, line in parsed if line == last_line]
        if done:
            self._final.extend(done)
            self._tail = "\n".join(self._tail.split("\n")[last_line:])

    def blocks(self) -> list[Block]:
        return [*self._final, *self._last]


PLAIN_CHUNK = 6_000


def plain_blocks(text: str) -> list[Block]:
    """Cut verbatim text into chunks of about PLAIN_CHUNK characters, at line breaks where there are any."""
    blocks: list[Block] = []
    at = 0
    joins = False
    while at < len(text):
        end = _chunk_end(text, at)
        chunk = text[at:end]
        ends_line = chunk.endswith("\n") and end < len(text)
        blocks.append(Block(BlockKind.PLAIN, chunk, text=chunk[:-1] if ends_line else chunk, joins_previous=joins))
        joins = not ends_line
        at = end
    return blocks


def _chunk_end(text: str, start: int) -> int:
    limit = start + PLAIN_CHUNK
    if limit >= len(text):
        return len(text)
    for separator in ("\n", " "):
        cut = text.rfind(separator, start + PLAIN_CHUNK // 2, limit)
        if cut >= 0:
            return cut + 1
    return limit
