"""A German window shows what the engine, the store and the files say in German, wherever it shows it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from app.window_language import install_language
from engine.errors import EngineError, ModelFileError
from tests.app.fake_engine import FakeScript
from tests.app.window.conftest import OpenDriver
from tests.app.window.driver import WindowDriver


@pytest.fixture(autouse=True)
def german(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("app.main_window.install_language", lambda app, _: install_language(app, "de"))
    yield
    install_language(qapp, "en")


def banners(driver: WindowDriver) -> list[str]:
    return [text for banner in driver.window.chat.banners.shown for text in labels(banner)]


def labels(widget: object) -> list[str]:
    assert hasattr(widget, "findChildren")
    return [label.text() for label in widget.findChildren(QLabel) if label.text()]


def test_an_answer_that_fails(open_driver: OpenDriver) -> None:
    failure = EngineError("memory ran out at token 9; nothing before it was lost")
    driver = open_driver(FakeScript(token_error=failure))
    assert driver.ask("hello").notice == "Der Speicher ging bei Token 9 aus; nichts davor ging verloren"
    stored = driver.window.services.chats
    assert stored.status(driver.chats.current_chat_id or 0).error == str(failure)  # the record stays English


def test_a_model_that_cannot_be_loaded(open_driver: OpenDriver) -> None:
    failure = ModelFileError("a.gguf is damaged: tensor 3 at byte 1,234 has no name.")
    driver = open_driver(FakeScript(load_error=failure), load=False)
    words = "a.gguf ist beschädigt: Tensor 3 bei Byte 1.234 hat keinen Namen."
    driver.wait(lambda: words in banners(driver))
    assert any(text.startswith(words) for text in labels(driver.window.chat.empty))
    driver.trigger("models")
    assert words in labels(driver.window.models)


def test_a_file_that_is_no_model(open_driver: OpenDriver, tmp_path: Path) -> None:
    driver = open_driver()
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF and then nothing")
    driver.window.models.add_file(bad)
    driver.trigger("models")
    driver.wait(lambda: any("bad.gguf" in text for text in labels(driver.window.models)))
    told = next(text for text in labels(driver.window.models) if str(bad) in text)
    assert "die Formatversion" in told or "GGUF-Version" in told or "GGUF-Datei" in told


def test_settings_that_cannot_be_saved(open_driver: OpenDriver, tmp_path: Path) -> None:
    driver = open_driver()
    file = driver.window.services.paths.settings_file
    file.unlink(missing_ok=True)
    file.mkdir()  # nothing can be written over a folder
    settings = driver.window.services.settings
    settings.change(lambda s: replace(s, answers=replace(s.answers, temperature=0.1)))
    driver.wait(lambda: any("Die Einstellungen wurden nicht in" in text for text in banners(driver)))
    file.rmdir()
