"""Fixtures shared by the tests of the app."""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.app.backend_recorder import BackendRecorder
from tests.app.fake_engine import FakeEngine, FakeScript
from tests.app.host_recorder import HostRecorder

MakeHost = Callable[..., HostRecorder]
MakeBackend = Callable[..., BackendRecorder]


@pytest.fixture
def make_host(qtbot: QtBot) -> Iterator[MakeHost]:
    """make_host(FakeScript(...)) gives a started host on a fake engine; all are shut down at the end."""
    made: list[HostRecorder] = []

    def make(
        script: FakeScript | None = None, *, load: bool = True, path: Path | None = None, **options: int
    ) -> HostRecorder:
        recorder = HostRecorder(qtbot, FakeEngine(script or FakeScript()), **options)
        made.append(recorder)
        if load:
            recorder.load()
        return recorder

    yield make
    for recorder in made:
        assert recorder.host.shutdown(), "the engine thread did not end"


@pytest.fixture(autouse=True, scope="session")
def _application(qapp: QApplication) -> QApplication:
    """Text, pictures and widgets need one, and tests run in any order: without it Qt ends the process of the first."""
    return qapp


@pytest.fixture(autouse=True, scope="session")
def _no_collection_in_threads() -> Iterator[None]:
    """As in the program (app/garbage.py): a collection in a worker thread may free Qt objects of the GUI thread."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(autouse=True)
def _english_numbers() -> Iterator[None]:
    """As in an English window, whatever machine the test runs on and whichever test ran before."""
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
    yield
    QLocale.setDefault(before)


@pytest.fixture(autouse=True)
def _collect_here() -> Iterator[None]:
    yield
    gc.collect()
    gc.freeze()  # what survived (torch, mostly) is not looked at again after the next test


@pytest.fixture
def make_backend(qtbot: QtBot, tmp_path: Path) -> Iterator[MakeBackend]:
    """make_backend(FakeScript(...)) gives a started backend in the test's folder; all are closed at the end."""
    made: list[BackendRecorder] = []

    def make(script: FakeScript | None = None, **options: Any) -> BackendRecorder:
        recorder = BackendRecorder(qtbot, options.pop("folder", tmp_path / "data"), script, **options)
        made.append(recorder)
        return recorder

    yield make
    for recorder in made:
        recorder.close()
