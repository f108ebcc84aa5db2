"""Collections happen on the GUI thread and nowhere else while the collector exists."""

import gc
import threading

from pytestqt.qtbot import QtBot

from app.garbage import GuiGarbageCollector


def test_cycles_are_freed_by_the_event_loop_and_only_there(qtbot: QtBot) -> None:
    was_enabled = gc.isenabled()
    threads: set[int] = set()
    freed: list[int] = []

    def note(phase: str, _info: object) -> None:
        threads.add(threading.get_ident())

    class Cycle:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            freed.append(threading.get_ident())

    def make_cycles() -> None:
        for _ in range(50_000):
            Cycle()

    collector = GuiGarbageCollector()
    collector._timer.setInterval(5)
    gc.callbacks.append(note)
    try:
        worker = threading.Thread(target=make_cycles)
        worker.start()
        qtbot.waitUntil(lambda: len(freed) > 40_000, timeout=20_000)
        worker.join()
    finally:
        gc.callbacks.remove(note)
        collector.close()
        (gc.enable if was_enabled else gc.disable)()
    assert threads == {threading.get_ident()}
    assert set(freed) == {threading.get_ident()}


def test_what_is_made_during_a_collection_is_freed_though_the_count_lost_it(qtbot: QtBot) -> None:
    was_enabled = gc.isenabled()
    freed: list[object] = []

    class Child:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            freed.append(None)

    class Parent(Child):
        def __del__(self) -> None:
            Child()  # as another thread would while the finalizers run

    collector = GuiGarbageCollector()
    collector._timer.setInterval(5)
    try:
        for _ in range(10_000):
            Parent()
        qtbot.waitUntil(lambda: len(freed) > 9_000, timeout=20_000)
    finally:
        collector.close()
        (gc.enable if was_enabled else gc.disable)()
