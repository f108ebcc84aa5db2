"""Markdown in documents: no HTML, no remote loads, only web links."""

import pytest
from PySide6.QtGui import QTextDocument

from app.transcript.markdown import parse_blocks
from app.transcript.rich_text import RichTextBuilder, safe_url
from app.transcript.text_style import TextStyle


def build(source: str, style: TextStyle) -> QTextDocument:
    document = QTextDocument()
    for block in parse_blocks(source):
        RichTextBuilder(document, style, block).build()
    return document


def links(document: QTextDocument) -> list[str]:
    found: list[str] = []
    block = document.begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            char_format = iterator.fragment().charFormat()
            if char_format.isAnchor():
                found.append(char_format.anchorHref())
            iterator += 1
        block = block.next()
    return found


@pytest.mark.parametrize("source", ["<b>x</b>", "<script>alert(1)</script>", "a <img src=http://x/y.png> b"])
def test_html_stays_text(source: str, style: TextStyle) -> None:
    assert build(source, style).toPlainText() == source


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "ftp://h/x", "//host/x", "http://", "x"]
)
def test_only_web_addresses_are_links(url: str, style: TextStyle) -> None:
    assert safe_url(url) is None
    assert links(build(f"[click]({url})", style)) == []


def test_web_links_work_and_images_are_links_to_their_address(style: TextStyle) -> None:
    document = build("[a](https://a.example/x) ![cat](http://b.example/cat.png)", style)
    assert links(document) == ["https://a.example/x", "http://b.example/cat.png"]
    assert "Image: cat" in document.toPlainText()
    assert "\ufffc" not in document.toPlainText()  # no image object


def test_lists_quotes_and_tables_keep_their_text(style: TextStyle) -> None:
    text = build("1. one\n   - inner\n\n> quote\n\n| a | b |\n|--|--|\n| c | d |", style).toPlainText()
    for word in ("one", "inner", "quote", "a", "b", "c", "d"):
        assert word in text
