"""The longest GUI gap in the three heavy moments of the window. Run by hand on a quiet machine:

QT_QPA_PLATFORM=offscreen pytest -m perf tests/e2e/test_heartbeat.py -s
"""

import contextlib
import gc
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import engine.sampling  # noqa: F401 - pulls in torch, as the program's own engine has by then (app/preload.py)
from app.garbage import GuiGarbageCollector
from app.main_window import open_window
from app.paths import app_paths
from app.transcript.model import MessageState
from tests.app.fake_engine import FakeEngine, FakeScript
from tests.app.window.driver import WindowDriver
from tests.e2e.conftest import OpenReal
from tests.e2e.heartbeat import Heartbeat

pytestmark = pytest.mark.perf

LIMIT_MS = 100.0
MARKDOWN = """## A heading

A paragraph with **bold**, `code` and a [link](https://example.org), long enough to be wrapped once or twice.

- first item
- second item with *emphasis*

```python
def answer(question: str) -> str:
    return question[::-1]  # backwards
```

| a | b |
|---|--:|
| 1 | 2 |

"""


@pytest.fixture(autouse=True)
def _garbage_as_in_the_program(qapp: object) -> Iterator[None]:
    """Collected on the GUI thread in small pieces (app/garbage.py), what the engine's import left put aside
    (app/preload.py). Otherwise a full collection in the store's thread would stop all threads for a third of a second.
    """
    with contextlib.closing(GuiGarbageCollector()):
        gc.collect()
        gc.freeze()
        yield
        gc.unfreeze()


@pytest.fixture
def driver(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[[FakeScript], WindowDriver]]:
    from contextlib import ExitStack

    with ExitStack() as stack:

        def open_one(script: FakeScript) -> WindowDriver:
            window = stack.enter_context(open_window(app_paths(tmp_path), FakeEngine(script).load, []))
            window.resize(1360, 860)
            window.show()
            made = WindowDriver(qtbot, window, timeout_ms=120_000)
            made.wait(lambda: window.services.host.has_model and made.chats.current_chat_id is not None)
            settle(qtbot)
            return made

        yield open_one


def settle(qtbot: QtBot) -> None:
    qtbot.wait(1_000)


def report(what: str, heartbeat: Heartbeat) -> None:
    longest, busiest = heartbeat.longest_ms, heartbeat.busiest_ms
    print(f"\n{what}: longest GUI gap {longest:.0f} ms, most CPU time in one gap {busiest:.0f} ms")
    assert longest < LIMIT_MS


def test_a_long_answer_streams(driver: Callable[[FakeScript], WindowDriver]) -> None:
    text = (MARKDOWN * 60)[:20_000]
    pieces = tuple(text[at : at + 5] for at in range(0, len(text), 5))
    window = driver(FakeScript(answer=pieces, token_s=0.002))
    window.window.settings.row("answers", "max_tokens").control.setValue(8_000)  # type: ignore[attr-defined] # a spin box
    window.send("Go")
    heartbeat = Heartbeat()
    window.wait_for_end()
    settle(window.qtbot)
    assert window.last.text == text
    report("20,000 characters streamed", heartbeat)


@pytest.mark.parametrize("text", ["a line of text\n" * 70_000, "word " * 210_000], ids=["lines", "one line"])
def test_a_megabyte_is_pasted(driver: Callable[[FakeScript], WindowDriver], text: str) -> None:
    window = driver(FakeScript())
    heartbeat = Heartbeat()
    window.paste(text)
    settle(window.qtbot)
    window.type("And a question.")
    settle(window.qtbot)
    report("1 MB pasted", heartbeat)


def test_a_long_chat_opens(driver: Callable[[FakeScript], WindowDriver], tmp_path: Path) -> None:
    window = driver(FakeScript())
    path = tmp_path / "long.json"
    messages = [
        {"role": ("user", "assistant")[n % 2], "content": MARKDOWN if n % 2 else f"Question {n}"} for n in range(10_000)
    ]
    path.write_text(json.dumps({"title": "Long", "messages": messages}))
    with window.qtbot.waitSignal(window.chats.imported, timeout=120_000) as imported:
        window.chats.import_chats(path)
    window.wait(lambda: len(window.messages) == 10_000)  # an import is shown; measured is the way back to it
    window.trigger("new_chat")
    window.wait(lambda: not window.messages)
    settle(window.qtbot)
    heartbeat = Heartbeat()
    started = time.perf_counter()
    window.chats.open_chat(imported.args[0][0])
    window.wait(lambda: len(window.messages) == 10_000)
    print(f"\n10,000 messages opened in {time.perf_counter() - started:.2f} s")
    settle(window.qtbot)
    report("10,000 messages opened", heartbeat)
    heartbeat.reset()
    bar = window.window.chat.transcript.verticalScrollBar()
    for _ in range(100):
        bar.setValue(bar.value() - 300)
        window.qtbot.wait(10)
    report("scrolled up", heartbeat)


@pytest.mark.usefixtures("endless")
def test_the_embedded_model_answers(open_real: OpenReal) -> None:
    real = open_real()
    real.window.settings.row("answers", "max_tokens").control.setValue(400)  # type: ignore[attr-defined] # a spin box
    heartbeat = Heartbeat()
    real.ask("Write a long story about the sea.")
    assert real.last.state is MessageState.COMPLETE
    report("400 tokens of the embedded model", heartbeat)
