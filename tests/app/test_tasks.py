"""Work off the GUI thread: in order, answered on the GUI thread, and silent after the end."""

import threading
import time

import pytest
from pytestqt.qtbot import QtBot

from app.errors import UserError
from app.tasks import TaskThread

WAIT_MS = 90_000


def test_results_and_errors_come_back_in_order_on_the_gui_thread(qtbot: QtBot) -> None:
    thread = TaskThread("test")
    seen: list[tuple[object, int]] = []
    worked: list[int] = []

    def work(number: int) -> int:
        worked.append(threading.get_ident())
        if number == 1:
            raise UserError("no")
        return number

    for number in range(3):
        thread.submit(
            lambda number=number: work(number),
            lambda result: seen.append((result, threading.get_ident())),
            lambda error: seen.append((str(error), threading.get_ident())),
        )
    qtbot.waitUntil(lambda: len(seen) == 3, timeout=WAIT_MS)
    here = threading.get_ident()
    assert seen == [(0, here), ("no", here), (2, here)]
    assert len(set(worked)) == 1
    assert worked[0] != here
    thread.close()


def test_an_error_that_nobody_takes_is_logged(qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    thread = TaskThread("test")

    def fail() -> None:
        raise KeyError("x")

    thread.submit(fail)
    thread.close()
    assert any(record.exc_info for record in caplog.records)


def test_close_finishes_what_waits_and_answers_nothing_more(qtbot: QtBot) -> None:
    thread = TaskThread("test")
    worked: list[int] = []
    answered: list[int] = []
    for number in range(5):
        thread.submit(lambda number=number: worked.append(number), lambda _: answered.append(1))
    thread.close()
    assert worked == list(range(5))
    assert thread.submit(lambda: worked.append(99)) is None
    qtbot.wait(20)
    assert answered == []
    assert worked == list(range(5))


def test_close_with_cancel_finishes_only_what_runs(qtbot: QtBot) -> None:
    thread = TaskThread("test")
    started = threading.Event()
    worked: list[int] = []

    def slow() -> None:
        started.set()
        time.sleep(0.05)
        worked.append(0)

    thread.submit(slow)
    thread.submit(lambda: worked.append(1))
    started.wait()
    thread.close(cancel=True)
    assert worked == [0]
