"""In a mirrored window "1 GiB" stays "1 GiB": in every text that joins a number to a unit or to another number."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.bench import words
from app.bench.plan import Plan
from app.pages.model_card import facts_line
from app.pages.model_entries import ModelEntry
from app.telemetry.chart_style import make_plot, tick_strings
from app.telemetry.layer_table import kind_text
from app.widgets import formats
from engine.bench.history import SavedRun
from engine.bench.records import Figure
from engine.bench.stats import Stats
from tests.app.reading_order import as_drawn
from tests.engine.bench_examples import seed_run

APP = Path(__file__).resolve().parents[2] / "app"
SPEECH = "السرعة "
MANY = Stats(count=5, mean=1234.5, median=1234.0, stdev=6.7)

# Everything that is made of a number and something beside it.
TEXTS: dict[str, Callable[[], str]] = {
    "speed": lambda: formats.speed(52.3),
    "tokens": lambda: formats.tokens(9133),
    "bytes": lambda: formats.size(17),
    "size": lambda: formats.size(3 << 30),
    "milliseconds": lambda: formats.duration(0.033),
    "seconds": lambda: formats.duration(1.84),
    "time left": lambda: formats.time_left(0.84),
    "whole seconds": lambda: formats.duration(42),
    "minutes": lambda: formats.duration(125),
    "hours": lambda: formats.duration(7320),
    "tenths": lambda: formats.tenths(42.0),
    "percent": lambda: formats.percent(0.42),
    "mark of a scale": lambda: formats.power_of_1024(3),
    "tick of a chart": lambda: tick_strings([12.0], 1.0, 1.0, "s")[0],
    "what a layer keeps": lambda: kind_text(128),
    "parameters of a model": lambda: facts_line(ModelEntry(None, "", None, parameters=284_000_000_000)).split(" · ")[0],
    "benchmark's spread": lambda: words.spread(MANY),
    "benchmark's wall time": lambda: words.figure_text(seed_run().rows[0], Figure.WALL),
    "benchmark's variant": lambda: words.line_name(seed_run().rows[0], Figure.PREFILL).split("\n")[1],
    "benchmark in the list": lambda: words.saved_name(SavedRun(Path("a.json"), seed_run())),
    "benchmark's plan": lambda: words.plan_name(Plan.SEED),
}

# A number, then what a line from right to left would put on its other side.
UNIT = re.compile(r"(?:\{\}|\d) ?(?:[%×±→]|(?:[KMGTP]i)?B\b|tok/s|(?:m?s|min|h)\b)")
# Said in the terminal too, where no window is mirrored. They begin with words, which give a line its direction.
SENTENCES = {
    "{} is larger than {} MiB.",
    "{} would unpack to more than {} MiB.",
    "it is larger than 1 MiB",
}


@pytest.fixture
def mirrored(qapp: QApplication) -> Iterator[None]:
    direction = qapp.layoutDirection()
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    yield
    qapp.setLayoutDirection(direction)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("before", ["", SPEECH])
def test_numbers_keep_their_order(name: str, before: str, mirrored: None, qapp: QApplication) -> None:
    text = TEXTS[name]()
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    plain = TEXTS[name]()
    assert "\u2068" not in plain
    assert plain in as_drawn(before + text)


@pytest.mark.parametrize("before", ["", SPEECH])
def test_a_number_by_itself_would_change_its_order(before: str) -> None:
    assert "GiB 1" in as_drawn(before + "1 GiB")


def test_a_chart_is_not_mirrored(mirrored: None, qtbot: QtBot) -> None:
    plot = make_plot("Speed", "s")
    qtbot.addWidget(plot)
    plot.resize(300, 200)
    plot.show()
    item = plot.getPlotItem()
    assert item.getAxis("left").geometry().right() <= item.getViewBox().geometry().left() + 1


def joined(tree: ast.AST, is_isolated: bool = False) -> Iterator[tuple[int, str]]:
    """Line and text of every literal that joins a number to a unit and is no part of a call of `isolated`."""
    if isinstance(tree, ast.Call):
        name = tree.func.attr if isinstance(tree.func, ast.Attribute) else getattr(tree.func, "id", "")
        is_isolated = is_isolated or name == "isolated"
    text = ""
    if isinstance(tree, ast.JoinedStr):
        text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in tree.values)
    elif isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        text = re.sub(r"\{[^}]*\}", "{}", tree.value)
    if not is_isolated and UNIT.search(text):
        yield tree.lineno, text
    for child in ast.iter_child_nodes(tree):
        is_part = isinstance(child, ast.Constant) and isinstance(tree, ast.JoinedStr | ast.Expr)  # or a docstring
        if not is_part:
            yield from joined(child, is_isolated)


def test_no_text_of_the_window_joins_a_number_to_its_unit_elsewhere() -> None:
    found = []
    for path in sorted(APP.rglob("*.py")):
        if path.relative_to(APP).parts[0] in ("commands", "doctor") or path.name == "plain_words.py":
            continue  # these write to a terminal, and know no Qt
        texts = joined(ast.parse(path.read_text(encoding="utf-8")))
        found += [(text, f"{path.relative_to(APP)}:{line}") for line, text in texts]
    assert [pair for pair in found if pair[0] not in SENTENCES] == []
    assert {text for text, _ in found} >= SENTENCES
