"""Languages of code blocks: named without their lexers, coloured once the lexer is there."""

import sys

import pytest
from pytestqt.qtbot import QtBot

from app.transcript import highlight
from app.transcript.highlight import is_ready, language_name, lexer_for
from app.transcript.model import MessageView, Role
from tests.app.transcript.conftest import MakeView


@pytest.mark.parametrize(
    ("label", "name"), [("python", "Python"), ("PY", "Python"), ("c++", "C++"), ("nonsense", "nonsense"), ("", "")]
)
def test_a_label_becomes_the_name_of_its_language(label: str, name: str) -> None:
    assert language_name(label) == name


def test_a_name_imports_no_lexer() -> None:
    """Compiling a language's patterns would hold the window for a tenth of a second."""
    assert language_name("cobol") == "COBOL"
    assert "pygments.lexers.business" not in sys.modules


def test_a_lexer_is_made_elsewhere_and_then_ready(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highlight, "_makers", {})
    qtbot.waitUntil(lambda: is_ready("Lua"), timeout=20_000)
    assert highlight._makers["lua"].name == "lexer"
    assert lexer_for("lua") is not None
    assert is_ready("no such language") and is_ready("")


def test_code_gets_its_colours_when_its_lexer_is_ready(make_view: MakeView, qtbot: QtBot) -> None:
    view = make_view([MessageView(1, Role.ASSISTANT, "```ruby\nputs 1 # one\n```")])

    def colours() -> set[str]:
        document = view.layout_of_row(0).blocks()[0].layout.document
        assert document is not None
        formats = document.firstBlock().layout().formats()
        fragments = document.firstBlock().begin()
        found = {entry.format.foreground().color().name() for entry in formats}
        while not fragments.atEnd():
            found.add(fragments.fragment().charFormat().foreground().color().name())
            fragments += 1
        return found

    qtbot.waitUntil(lambda: len(colours()) > 2, timeout=20_000)
