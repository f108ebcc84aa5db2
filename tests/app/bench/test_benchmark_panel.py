"""The Benchmark panel as a view: what it shows for each update, what it asks for, and when it refuses."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from app.bench import words
from app.bench.after_run import suffix_of
from app.bench.depth_chart import DepthChart, depth_points
from app.bench.panel import BenchmarkPanel, BenchState
from app.bench.table_model import AGAINST, RUNS, SPEED, TEST
from app.telemetry.fonts import numeric_font
from app.theme import dark_palette, light_palette, theme_from_palette
from app.widgets import formats
from engine.bench.history import History, SavedRun, compare_runs
from engine.bench.plans import Plan
from engine.bench.records import (
    BenchEnded,
    BenchProgressed,
    BenchRow,
    BenchRun,
    BenchStarted,
    Figure,
    Phase,
    RowMeasured,
    Sample,
)
from tests.engine.bench_examples import example_run, seed_run
from tests.engine.bench_tables import parse_markdown


@pytest.fixture
def panel(qtbot: QtBot) -> Iterator[BenchmarkPanel]:
    panel = BenchmarkPanel()
    qtbot.addWidget(panel)
    panel.resize(360, 800)
    panel.show()
    yield panel


def _start(panel: BenchmarkPanel, run: BenchRun) -> None:
    panel.set_state(BenchState.WAITING)
    panel.set_state(BenchState.RUNNING)
    planned = tuple(replace(row, samples=()) for row in run.rows)
    panel.show_update(BenchStarted(run.settings.plan, planned, run.not_quiet))


def _run(panel: BenchmarkPanel, run: BenchRun) -> None:
    _start(panel, run)
    for index, row in enumerate(run.rows):
        panel.show_update(RowMeasured(index, row))
    panel.show_update(BenchEnded(run))
    panel.set_state(BenchState.IDLE)


def _cells(panel: BenchmarkPanel, column: int) -> list[str]:
    model = panel.model
    return [str(model.data(model.index(line, column))) for line in range(model.rowCount())]


def _sweep(factor: float = 1.0) -> BenchRun:
    rows = tuple(
        BenchRow("", depth, 2048, 64, 1, (Sample(2048, depth, 2048 / (factor * speed), 64, 63 / 200, "x"),), (2048,))
        for depth, speed in ((0, 1500.0), (2048, 1400.0), (4096, 1300.0))
    )
    return replace(example_run(), rows=rows, settings=replace(example_run().settings, plan=Plan.SWEEP))


def test_every_plan_can_be_chosen_and_says_what_it_measures(panel: BenchmarkPanel) -> None:
    texts = set()
    for index in range(panel.plans.count()):
        panel.plans.setCurrentIndex(index)
        texts.add(panel.plan_text.text())
    assert [panel.plans.itemData(index) for index in range(panel.plans.count())] == list(Plan)
    assert len(texts) == len(Plan)
    assert any("lucebox PR #684" in text for text in texts)


def test_start_asks_for_the_chosen_plan(panel: BenchmarkPanel, qtbot: QtBot) -> None:
    panel.plans.setCurrentIndex(list(Plan).index(Plan.SEED))
    with qtbot.waitSignal(panel.start_requested) as asked:
        panel.start_button.click()
    assert asked.args == [Plan.SEED]


def test_it_refuses_beside_a_running_chat_and_says_so(panel: BenchmarkPanel) -> None:
    panel.set_blocked("An answer is being written.")
    assert not panel.start_button.isEnabled()
    assert panel.progress_text.isVisible()
    assert panel.progress_text.text() == "An answer is being written."
    panel.set_blocked("")
    assert panel.start_button.isEnabled()
    assert not panel.progress_text.isVisible()


def test_the_table_is_whole_from_the_start_and_fills(panel: BenchmarkPanel) -> None:
    run = example_run()
    _start(panel, run)
    assert _cells(panel, TEST) == ["pp512", "tg64"]
    assert _cells(panel, SPEED) == [formats.UNKNOWN] * 2
    first = replace(run.rows[0], samples=run.rows[0].samples[:1])
    panel.show_update(RowMeasured(0, first))
    assert (_cells(panel, SPEED), _cells(panel, RUNS)) == ([formats.significant(1400.0), "–"], ["1/3", "0/3"])
    panel.show_update(RowMeasured(0, run.rows[0]))
    assert _cells(panel, SPEED)[0] == f"{formats.significant(1500.0)} ± 100"


def test_progress_names_row_run_and_time_left(panel: BenchmarkPanel) -> None:
    _start(panel, example_run())
    panel.show_update(BenchProgressed(1, 2, 2, 3, Phase.WARM_UP, 0.25, None))
    assert panel.progress_text.text() == "pp512, run 2 of 3, warm-up, row 1 of 2"
    assert panel.bar.value() == 250
    panel.show_update(BenchProgressed(2, 2, 1, 3, Phase.DECODE, 0.75, 80.0))
    assert panel.progress_text.text() == "tg64, run 1 of 3, answering, row 2 of 2, 1 min 20 s left"


def test_buttons_follow_the_state(panel: BenchmarkPanel, qtbot: QtBot) -> None:
    seen = []
    panel.stop_requested.connect(lambda: seen.append(panel.state))
    for state in (BenchState.WAITING, BenchState.RUNNING):
        panel.set_state(state)
        assert (panel.start_button.text(), panel.start_button.isEnabled()) == ("Stop", True)
        assert not panel.plans.isEnabled()
        assert panel.bar.isVisible()
    panel.set_blocked("a reason does not keep one from stopping")
    panel.start_button.click()
    assert seen == [BenchState.STOPPING]
    assert not panel.start_button.isEnabled()
    panel.set_blocked("")
    panel.set_state(BenchState.IDLE)
    assert (panel.start_button.text(), panel.start_button.isEnabled()) == ("Start", True)
    assert not panel.bar.isVisible()


def test_a_stopped_run_keeps_its_rows_and_says_so(panel: BenchmarkPanel) -> None:
    run = example_run()
    part = replace(run, rows=run.rows[:1], was_stopped=True)
    _start(panel, run)
    panel.show_update(RowMeasured(0, run.rows[0]))
    panel.show_update(BenchEnded(part))
    panel.set_state(BenchState.IDLE)
    assert _cells(panel, SPEED)[0] != formats.UNKNOWN
    assert "Stopped" in panel.details.text()
    assert panel.after.copy_button.isEnabled()


def test_a_failure_is_told_and_the_rows_stay(panel: BenchmarkPanel) -> None:
    run = example_run()
    _start(panel, run)
    panel.show_update(RowMeasured(0, run.rows[0]))
    panel.set_state(BenchState.IDLE)
    panel.show_failure("Memory ran out at token 512.")
    assert panel.notice.isVisible()
    assert panel.notice.text() == "Memory ran out at token 512."
    assert _cells(panel, SPEED)[0] != formats.UNKNOWN


def test_a_machine_that_was_not_quiet_is_told(panel: BenchmarkPanel) -> None:
    _run(panel, seed_run())
    assert "other programs kept 0.9 processor cores busy" in panel.notice.text()
    _run(panel, example_run())
    assert not panel.notice.isVisible()


def test_the_seed_plan_shows_walls_masks_and_the_two_cuts_side_by_side(panel: BenchmarkPanel) -> None:
    _run(panel, seed_run())
    names, speeds = _cells(panel, TEST), _cells(panel, SPEED)
    assert names[:3] == [
        "pp9133\n8,192 + 941, cold",
        "tg128 @ d9133\n8,192 + 941, cold",
        f"prompt + {formats.tokens(128)}\n8,192 + 941, cold",
    ]
    assert speeds[2] == "42.8 s"
    details = panel.details.text()
    assert f"8,192 + 941, cold: {formats.size(14_760_000_000)} of masks never allocated" in details
    assert "one step against two" in details
    assert "haloband bench loads it anew" in details


def test_a_comparison_adds_a_column_with_ratio_and_noise(panel: BenchmarkPanel) -> None:
    _run(panel, example_run(1.5))
    assert panel.table.isColumnHidden(AGAINST)
    other = replace(example_run(), machine=replace(example_run().machine, threads=4))
    panel.show_earlier(SavedRun(Path("a.json"), other))
    assert not panel.table.isColumnHidden(AGAINST)
    assert _cells(panel, AGAINST) == ["1.50×\noutside noise", "1.50×\noutside noise"]
    assert panel.after.changes.text() == "threads: 4, now 2"
    spoken = panel.model.data(panel.model.index(0, AGAINST), Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == words.comparison_sentence(compare_runs(other, example_run(1.5))[0])
    panel.show_earlier(None)
    assert panel.table.isColumnHidden(AGAINST)
    assert not panel.after.changes.isVisible()


def test_runs_without_a_common_test_are_told(panel: BenchmarkPanel) -> None:
    _run(panel, example_run())
    panel.show_earlier(SavedRun(Path("a.json"), seed_run()))
    assert "no test in common" in panel.after.changes.text()


def test_the_history_can_be_chosen_from(panel: BenchmarkPanel, qtbot: QtBot) -> None:
    old, new = Path("old.json"), Path("new.json")
    history = History((SavedRun(new, example_run()), SavedRun(old, seed_run())), ("broken.json is damaged",))
    panel.show_history(history, old)
    assert panel.after.earlier.currentData() == old
    assert panel.after.earlier.count() == 4
    assert "broken.json" in panel.after.earlier.toolTip()
    with qtbot.waitSignal(panel.earlier_requested) as asked:
        panel.after.earlier.activated.emit(1)
    assert asked.args == [new]
    with qtbot.waitSignal(panel.earlier_requested) as asked:
        panel.after.earlier.activated.emit(0)
    assert asked.args == [None]
    panel.show_history(History((), ()), old)  # the file has gone
    assert panel.after.earlier.currentData() is None


def test_a_time_from_elsewhere_does_not_break_the_list() -> None:
    saved = SavedRun(Path("a.json"), example_run(started_at="yesterday"))
    assert words.saved_name(saved).startswith("yesterday, ")


def test_copy_puts_the_table_on_the_clipboard(panel: BenchmarkPanel) -> None:
    assert not panel.after.copy_button.isEnabled()
    _run(panel, example_run())
    panel.after.copy_button.click()
    assert list(parse_markdown(QApplication.clipboard().text())) == ["pp512", "tg64"]
    assert "Copied" in panel.notice.text()


def test_saving_asks_for_a_file_and_hands_it_on(panel: BenchmarkPanel, qtbot: QtBot, tmp_path: Path) -> None:
    _run(panel, example_run())
    panel.after.save_button.click()
    dialog = panel.findChild(QFileDialog)
    assert dialog is not None
    assert dialog.defaultSuffix() == "md"
    dialog.filterSelected.emit("CSV (*.csv)")
    assert dialog.defaultSuffix() == "csv"
    with qtbot.waitSignal(panel.export_requested) as asked:
        dialog.fileSelected.emit(str(tmp_path / "run.csv"))
    assert asked.args == [example_run(), tmp_path / "run.csv"]
    dialog.close()


@pytest.mark.parametrize(("chosen", "suffix"), [("JSON (*.json)", "json"), ("Markdown (*.md)", "md"), ("", "md")])
def test_the_filter_chooses_the_suffix(chosen: str, suffix: str) -> None:
    assert suffix_of(chosen) == suffix


def test_the_chart_shows_speed_against_depth(panel: BenchmarkPanel) -> None:
    run = _sweep()
    assert depth_points(run.rows, Figure.PREFILL) == [
        (2048.0, pytest.approx(1500.0)),
        (4096.0, pytest.approx(1400.0)),
        (6144.0, pytest.approx(1300.0)),
    ]
    _run(panel, run)
    assert panel.chart.isVisible()
    curve = panel.chart._curves[Figure.PREFILL, False].getData()
    assert list(curve[0]) == [2048.0, 4096.0, 6144.0]
    panel.show_earlier(SavedRun(Path("a.json"), _sweep(0.5)))
    earlier = panel.chart._curves[Figure.PREFILL, True].getData()
    assert list(earlier[1]) == pytest.approx([750.0, 700.0, 650.0])


def test_one_point_is_no_curve(panel: BenchmarkPanel) -> None:
    _run(panel, seed_run())
    assert not panel.chart.isVisible()


def test_the_chart_follows_the_theme(qtbot: QtBot) -> None:
    chart = DepthChart(theme_from_palette(light_palette()), numeric_font())
    qtbot.addWidget(chart)
    chart.resize(340, 240)
    chart.show_rows(_sweep().rows)
    chart.show()
    light = chart.grab().toImage()
    chart.set_theme(theme_from_palette(dark_palette()), numeric_font())
    assert chart.grab().toImage() != light


def test_a_long_sweep_scrolls_inside_its_table(panel: BenchmarkPanel) -> None:
    row = _sweep().rows[0]
    rows = tuple(replace(row, depth=2048 * index) for index in range(40))
    _run(panel, replace(_sweep(), rows=rows))
    assert panel.model.rowCount() == 80
    assert panel.table.height() < 800


def test_every_control_has_a_name(panel: BenchmarkPanel) -> None:
    for widget in (panel.plans, panel.bar, panel.table, panel.after.earlier):
        assert widget.accessibleName()
    for action in (panel.start_button, panel.after.copy_button, panel.after.save_button):
        assert action.text()
