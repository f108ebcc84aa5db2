"""The Live panel as a person and a screen reader meet it: words, numbers, bars and their table twin."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.protocol.events import BenchmarkAdvanced, BenchmarkStarted
from app.telemetry.chart_library import charts_are_ready
from app.telemetry.chart_style import axis_number, scale_ticks, series_colours
from app.telemetry.layer_table import LayerTableModel, layer_sentence
from app.telemetry.live_meter import LiveMeter
from app.telemetry.live_panel import LivePanel
from app.telemetry.live_words import saved_bytes
from app.telemetry.machine_memory import MachineMemory, MemoryPoller, read_machine_memory
from app.theme import VISIBLE, contrast, dark_palette, light_palette, theme_from_palette
from app.widgets import formats
from engine.bench.records import BenchActivity
from engine.events import Finished, FinishReason, Timings, Usage
from engine.gpu_counters import GpuCounters
from tests.app.telemetry import live_events as events
from tests.engine.bench_fake import StubClock

_GPU = GpuCounters("card1", 3 << 29, 2 << 30, 92 << 30, 124 << 30, 80, 60.0)
_MEMORY = MachineMemory(97 << 30, 20 << 30, 128 << 30, (_GPU,))
Make = Callable[..., LivePanel]


@pytest.fixture
def clock() -> StubClock:
    return StubClock()


@pytest.fixture
def make(qtbot: QtBot, clock: StubClock) -> Iterator[Make]:
    made = []

    def make_panel(read: Callable[[], MachineMemory] = lambda: _MEMORY) -> LivePanel:
        panel = LivePanel(read_memory=read, meter=LiveMeter(clock))
        qtbot.addWidget(panel)
        made.append(panel)
        return panel

    yield make_panel
    for panel in made:
        panel.shutdown()


def _read_prompt(panel: LivePanel, clock: StubClock, last_layer: int) -> None:
    panel.consume(events.started())
    for layer in range(1, last_layer + 1):
        clock.now += 0.84
        panel.consume(events.read_layer(layer))
    panel.paint_now()


def test_an_empty_panel_says_what_to_do_and_shows_dashes(make: Make) -> None:
    panel = make()
    assert "Ask something" in panel.progress_text.text()
    assert panel.prefill.value.text() == panel.decode.value.text() == formats.UNKNOWN
    assert {value.text() for value in panel.facts.values()} == {formats.UNKNOWN}


def test_a_speed_has_a_plot_once_it_has_a_line(make: Make, clock: StubClock, qtbot: QtBot) -> None:
    qtbot.waitUntil(charts_are_ready, timeout=90_000)  # another thread imports what a plot needs
    panel = make()
    panel.show()
    assert panel.chart.drawn == ()
    panel.consume(events.started())
    panel.paint_now()
    assert panel.chart.drawn == ()
    _read_prompt(panel, clock, 17)
    assert panel.chart.drawn == ("prefill",)
    panel.consume(events.text(1, None))
    panel.paint_now()
    assert panel.chart.drawn == ("prefill",)  # one token is no speed
    for tokens in range(2, 20):
        clock.now += 0.1
        panel.consume(events.text(tokens))
    panel.paint_now()
    assert panel.chart.drawn == ("prefill", "decode")
    panel.consume(events.started())
    panel.paint_now()
    assert panel.chart.drawn == ()


def test_the_bar_is_there_while_a_prompt_is_read(make: Make, clock: StubClock) -> None:
    panel = make()
    panel.show()
    assert panel.bar.isHidden()
    _read_prompt(panel, clock, 17)
    assert not panel.bar.isHidden()
    panel.consume(events.text(1, None))
    panel.paint_now()
    assert panel.bar.isHidden()
    assert "9,133" in panel.progress_text.text().replace("9133", "9,133")
    assert "layer" not in panel.progress_text.text()


def test_memory_is_drawn_once_there_is_some(make: Make) -> None:
    panel = make()
    panel.show()
    memory = panel.memory
    assert memory.bars.isHidden() and memory.table.isHidden()
    panel.as_tables.setChecked(True)
    assert memory.bars.isHidden() and memory.table.isHidden()
    panel.consume(events.memory())
    panel.paint_now()
    assert memory.bars.isHidden() and not memory.table.isHidden()


def test_progress_is_told_in_words(make: Make, clock: StubClock) -> None:
    panel = make()
    _read_prompt(panel, clock, 17)
    text = panel.progress_text.text()
    assert "step 1 of 1" in text
    assert "9,133" in text.replace("9133", "9,133")
    assert "5 band" in text
    assert text.endswith("layer 17 of 43")
    assert panel.bar.value() == pytest.approx(1000 * 17 / 43, abs=2)
    assert panel.heading.text() == "Reading the prompt"
    assert panel.facts["left"].text() == "22 s"  # 5,523 tokens at 252 tok/s


def test_a_quick_first_token_is_told_in_milliseconds(make: Make, clock: StubClock) -> None:
    panel = make()
    panel.consume(events.started())
    clock.now += 0.033
    panel.consume(events.text(1, None))
    panel.paint_now()
    assert panel.facts["first_token"].text() == "33 ms"


def test_numbers_have_three_digits_and_a_unit(make: Make, clock: StubClock) -> None:
    panel = make()
    _read_prompt(panel, clock, 43)
    panel.consume(events.text(1, None))
    panel.consume(events.finished(cached=133))
    panel.paint_now()
    assert panel.prefill.value.text() == "252 tok/s"
    assert panel.decode.value.text() == "19.2 tok/s"
    assert panel.facts["first_token"].text() == "36 s"
    assert panel.facts["reused"].text().startswith("133 ")
    assert panel.facts["answer"].text().startswith("128 ")
    assert panel.decode.accessibleName() == "Decode: 19.2 tok/s, whole run"


def test_a_benchmark_run_shows_the_numbers_of_its_row(make: Make) -> None:
    panel = make()
    panel.consume(BenchmarkStarted(2))
    ending = Finished(0, FinishReason.LENGTH, "", Usage(512, 0, 0), Timings(0.3413, 0.0, 0.3413, 1500.1, None))
    panel.consume(BenchmarkAdvanced(2, BenchActivity(ending)))
    panel.paint_now()
    assert panel.prefill.value.text() == formats.speed(1500.1)
    assert panel.decode.value.text() == formats.UNKNOWN


def test_totals_follow_the_ledger(make: Make) -> None:
    panel = make()
    panel.consume(events.memory(9133))
    panel.paint_now()
    report = events.flash_report(9133)
    ratio4 = sum(layer.mask_bytes for layer in report.layers if layer.ratio == 4)
    assert ratio4 == 8_758_035_552  # the public figure for the 21 ratio-4 layers
    assert saved_bytes(report) == report.plain_bytes - report.held_bytes + report.mask_bytes
    assert panel.memory.total.text().startswith(formats.size(saved_bytes(report)))
    assert "never allocated" in panel.memory.total.text()
    shown = [found.text() for found in panel.memory.findChildren(QLabel)]
    for size in (report.held_bytes, report.plain_bytes, report.mask_bytes):
        assert formats.size(size) in shown


def test_nothing_is_saved_while_less_than_nothing_would_be() -> None:
    """A ring costs more than the few rows of a short prompt: that is not a negative saving."""
    report = events.flash_report(1)
    assert saved_bytes(report) == max(0, report.plain_bytes - report.held_bytes) + report.mask_bytes


def test_the_table_is_the_bars_twin(make: Make, qtbot: QtBot) -> None:
    panel = make()
    panel.consume(events.memory(9133))
    panel.show()
    assert panel.memory.bars.isVisible()
    assert not panel.memory.table.isVisible()
    panel.as_tables.setChecked(True)
    assert panel.memory.table.isVisible()
    assert panel.speed_table.isVisible()
    assert not panel.memory.bars.isVisible()
    assert not panel.chart.isVisible()
    report, model = events.flash_report(9133), panel.memory.model
    assert model.rowCount() == 44
    for layer in (report.layers[0], report.layers[2], report.layers[3]):
        row = [model.data(model.index(layer.layer, column)) for column in range(5)]
        sizes = [formats.size(size) for size in (layer.held_bytes, layer.plain_bytes, layer.mask_bytes)]
        assert row[0] == str(layer.layer)
        assert row[2:] == sizes
        assert all(size in layer_sentence(layer) for size in sizes)
    total = [model.data(model.index(43, column)) for column in range(5)]
    assert total[2:] == [formats.size(x) for x in (report.held_bytes, report.plain_bytes, report.mask_bytes)]


def test_a_growing_report_does_not_reset_the_table(qtbot: QtBot) -> None:
    model, resets = LayerTableModel(), []
    model.modelReset.connect(lambda: resets.append(1))
    for tokens in (100, 200, 300):
        model.show_report(events.flash_report(tokens))
    assert len(resets) == 1
    model.show_report(None)
    assert model.rowCount() == 0


def test_the_bar_under_the_pointer_is_known(make: Make) -> None:
    panel = make()
    bars = panel.memory.bars
    assert bars.layer_at(100) is None
    panel.consume(events.memory(9133))
    panel.resize(360, 800)
    panel.show()
    found = {layer.layer for x in range(bars.width()) if (layer := bars.layer_at(x)) is not None}
    assert found == set(range(43))


def test_the_panel_draws_in_both_themes(make: Make, clock: StubClock) -> None:
    panel = make()
    _read_prompt(panel, clock, 43)
    panel.consume(events.memory(9133))
    panel.resize(360, 900)
    panel.show()
    pictures = []
    for palette in (light_palette(), dark_palette()):
        panel.set_theme(theme_from_palette(palette))
        pictures.append(panel.memory.bars.grab().toImage())
    assert pictures[0] != pictures[1]


@pytest.mark.parametrize("palette", [light_palette, dark_palette])
def test_series_can_be_seen_and_told_apart(palette: Callable[[], object]) -> None:
    theme = theme_from_palette(palette())  # type: ignore[arg-type]  # a palette
    colours = series_colours(theme)
    for colour in (colours.prefill, colours.decode, colours.held, colours.plain, colours.mask):
        assert contrast(colour, theme.base) >= VISIBLE
    assert len({colours.held, colours.plain, colours.mask}) == 3


def test_hidden_panels_neither_paint_nor_read(make: Make, qtbot: QtBot) -> None:
    reads = []

    def read() -> MachineMemory:
        reads.append(threading.get_ident())
        return _MEMORY

    panel = make(read)
    panel.show()
    qtbot.waitUntil(lambda: panel.memory.findChildren(QLabel)[-1].text() != formats.UNKNOWN and bool(reads))
    assert threading.get_ident() not in reads
    panel.hide()
    before = len(reads)
    qtbot.wait(50)
    assert len(reads) == before
    assert not panel._timer.isActive()


def test_gpu_memory_is_used_of_total(make: Make, qtbot: QtBot) -> None:
    panel = make()
    panel.memory.show_machine(_MEMORY)
    texts = [found.text() for found in panel.memory.findChildren(QLabel)]
    assert texts[texts.index("VRAM") + 1] == "1.50 GiB of 2.00 GiB"
    assert texts[texts.index("GTT") + 1] == "92.0 GiB of 124 GiB"
    assert texts[texts.index("This program") + 1] == "97.0 GiB"


def test_a_counter_that_is_missing_is_a_dash(make: Make) -> None:
    panel = make()
    gpu = GpuCounters("card0", None, 8 << 30, None, None, None, None)
    panel.memory.show_machine(MachineMemory(1 << 30, 2 << 30, 4 << 30, (gpu,)))
    texts = [found.text() for found in panel.memory.findChildren(QLabel)]
    assert texts[texts.index("VRAM") + 1] == f"{formats.UNKNOWN} of 8.00 GiB"
    assert "GTT" in texts


def test_memory_is_read_from_the_kernel(tmp_path: Path) -> None:
    device = tmp_path / "sys/class/drm/card0/device"
    device.mkdir(parents=True)
    (device / "mem_info_vram_total").write_text("1024\n")
    found = read_machine_memory(tmp_path)
    assert found.gpus[0].vram_total == 1024
    assert 0 < found.process < found.total
    assert found.total == psutil.virtual_memory().total


def test_a_failing_read_is_tried_again(qtbot: QtBot) -> None:
    answers = [OSError("gone"), _MEMORY]

    def read() -> MachineMemory:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    poller = MemoryPoller(read)
    poller.start()
    poller.stop()
    with qtbot.waitSignal(poller.read) as told:
        poller.start()
    assert told.args == [_MEMORY]
    poller.close()


@pytest.mark.parametrize(
    ("top", "expected"),
    [(253.0, [0, 200]), (19.2, [0, 10]), (1.0, [0, 1]), (0.7, [0, 0.5]), (99_999.0, [0, 50_000])],
)
def test_small_plots_have_two_round_ticks(top: float, expected: list[float]) -> None:
    assert [value for value, _ in scale_ticks(top)[0]] == pytest.approx(expected)


def test_axis_numbers_are_short() -> None:
    assert scale_ticks(0.0) == [[]]
    assert [axis_number(value) for value in (20.0, 0.5, 12.26, 1234.5, 0.006)] == [
        "20",
        "0.5",
        "12.3",
        formats.count(1234),
        "0.006",
    ]
