"""An EngineHost on a fake engine, with every event it told and ways to wait for one."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pytestqt.qtbot import QtBot

from app.engine_host import EngineHost
from app.protocol.events import AnswerFailed, AnswerFinished, Event, LoadFailed, ModelLoaded, TextArrived
from app.protocol.requests import PromptMessage, PromptRole, SamplingChoice
from tests.app.fake_engine import FakeEngine

E = TypeVar("E")
WAIT_MS = 90_000  # a shared machine may be ten times slower; nothing here measures time


def question(text: str = "hello there") -> tuple[PromptMessage, ...]:
    return (PromptMessage(PromptRole.USER, text),)


class HostRecorder:
    def __init__(self, qtbot: QtBot, engine: FakeEngine, **options: int) -> None:
        self.qtbot = qtbot
        self.engine = engine
        self.host = EngineHost(engine.load, **options)
        self.events: list[Event] = []
        self.host.event_arrived.connect(self.events.append)
        self.host.start()

    def load(self, path: Path | None = None) -> int:
        job = self.host.load_model(path)
        self.wait(lambda: self.of((ModelLoaded, LoadFailed), job))
        return job

    def ask(self, conversation: int = 1, text: str = "hello there", max_tokens: int = 1000, **options: object) -> int:
        options.setdefault("context", 4096)
        return self.host.ask(conversation, question(text), SamplingChoice(), max_tokens=max_tokens, **options)

    def of(self, kind: type[E], job: int | None = None) -> list[E]:
        return [event for event in self.events if isinstance(event, kind) and job in (None, event.job_id)]

    def text(self, job: int) -> str:
        return "".join(event.text for event in self.of(TextArrived, job))

    def wait(self, condition: Callable[[], object]) -> None:
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=WAIT_MS)

    def wait_for(self, kind: type[E], job: int | None = None) -> E:
        self.wait(lambda: self.of(kind, job))
        return self.of(kind, job)[0]

    def wait_end(self, job: int) -> AnswerFinished | AnswerFailed:
        return self.wait_for((AnswerFinished, AnswerFailed), job)
