"""The right panel as the window gets it: both panels wired to one host, themed, closed."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from app.side_panels import make_side_panels
from app.telemetry.live_meter import Activity
from app.theme import dark_palette, theme_from_palette
from app.widgets import formats
from tests.app.conftest import MakeHost
from tests.app.fake_engine import FakeScript
from tests.app.host_recorder import WAIT_MS


def test_an_answer_shows_in_the_live_panel(qtbot: QtBot, make_host: MakeHost, tmp_path: Path) -> None:
    recorder = make_host(FakeScript(answer=("a", "b", "c"), token_s=0.001))
    panels = make_side_panels(recorder.host, tmp_path / "benchmarks")
    qtbot.addWidget(panels.widget)
    panels.widget.resize(360, 800)
    panels.widget.show()
    panels.widget.set_theme(theme_from_palette(dark_palette()))
    job = recorder.ask(text="a question of some length")
    live = panels.live
    qtbot.waitUntil(lambda: live._meter.figures.activity is Activity.DONE, timeout=WAIT_MS)
    live.paint_now()
    finished = recorder.events[-1].finished
    assert recorder.events[-1].job_id == job
    assert live.prefill.value.text() == formats.speed(finished.timings.prefill_tok_s)
    assert live.decode.value.text() == formats.speed(finished.timings.decode_tok_s)
    assert live.facts["answer"].text() == formats.tokens(3)
    assert live.memory.model.rowCount() == 5
    panels.close()


def test_both_tabs_can_be_shown_in_a_narrow_panel(qtbot: QtBot, make_host: MakeHost, tmp_path: Path) -> None:
    panels = make_side_panels(make_host().host, tmp_path / "benchmarks")
    qtbot.addWidget(panels.widget)
    panels.widget.resize(280, 600)
    panels.widget.show()
    for index in range(panels.widget.tabs.count()):
        panels.widget.tabs.setCurrentIndex(index)
        assert panels.widget.tabs.widget(index).width() <= 280
    panels.close()
