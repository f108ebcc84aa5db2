"""The way from the Benchmark panel to the Qualify page in the real window, and back."""

from pathlib import Path

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.bench.panel import BenchmarkPanel
from app.main_window import open_window
from app.paths import app_paths
from tests.app.fake_engine import FakeEngine


def test_the_benchmark_panel_opens_the_qualification(qtbot: QtBot, tmp_path: Path) -> None:
    assert QApplication.instance() is not None
    with open_window(app_paths(tmp_path), FakeEngine().load, []) as window:
        window.show()
        panel = window.panel.tabs.widget(1)
        assert isinstance(panel, BenchmarkPanel)
        panel.qualify_button.click()
        assert window.pages.currentWidget() is window.pages.qualify
        assert window.pages.qualify.isVisible()
        qtbot.waitUntil(window.pages.qualify.start_button.isEnabled, timeout=20_000)
        window.pages.show_page(window.chat)
        assert not window.pages.qualify.isVisible()
        window.close()
