"""ChatService and its model: asking while it loads, switching, a model that is gone, none at all."""

import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.chat.models import MessageState, ModelState, NoticeLevel
from app.generation import GenerationState
from engine.errors import ModelFileError
from tests.app.backend_recorder import Backend
from tests.app.conftest import MakeBackend
from tests.app.fake_engine import FakeScript

S = GenerationState
SLOW = FakeScript(answer=("word ",) * 2000, token_s=0.003)


def test_asking_while_the_model_loads_waits_for_it(make_backend: MakeBackend) -> None:
    gate = threading.Event()
    chat = make_backend(FakeScript(load_gate=gate), wait=False)
    chat.wait(lambda: chat.told["chat_opened"])
    chat.ask("hello", wait=False)
    assert chat.states(chat.chat_id) == [S.LOADING]
    gate.set()
    chat.wait_idle()
    assert chat.states(chat.chat_id)[:2] == [S.LOADING, S.QUEUED]
    assert chat.shown[-1].text == "Hello, world."


def test_a_model_that_is_gone_at_start_is_said_and_the_embedded_one_loaded(
    make_backend: MakeBackend, tmp_path: Path
) -> None:
    chat = make_backend()
    chat.wait_next("model_changed", lambda: chat.chats.load_model(tmp_path / "big.gguf"))
    chat.wait(lambda: chat.chats.model_status.state is ModelState.READY)
    assert chat.backend.settings.settings.model.path == str(tmp_path / "big.gguf")
    chat.close()

    def break_it(backend: object) -> None:
        host = backend.host  # type: ignore[attr-defined]
        load = host._worker._loader

        def loader(path: Path | None, **options: object) -> object:
            if path is not None:
                raise ModelFileError(f"{path} is missing.")
            return load(path, **options)

        host._worker._loader = loader

    later = make_backend(prepare=break_it)
    assert later.chats.model_status.state is ModelState.READY
    assert "big.gguf is missing. The embedded model is used instead." in later.notices[0].text
    assert later.backend.settings.settings.model.path == str(tmp_path / "big.gguf")  # it may come back
    later.ask("hello")
    assert later.shown[-1].text == "Hello, world."


OLD, NEW = Path("/models/old.gguf"), Path("/models/new.gguf")


def start_on_old_model(backend: Backend, *, reload_last: bool = True) -> None:
    backend.settings.change(
        lambda s: replace(s, model=replace(s.model, path=str(OLD), reload_last=reload_last)),
    )


def test_a_model_chosen_while_the_last_one_loads_is_remembered(make_backend: MakeBackend) -> None:
    gate = threading.Event()
    chat = make_backend(FakeScript(load_gate=gate), prepare=start_on_old_model, wait=False)
    assert chat.chats.model_status.path == OLD
    chat.chats.load_model(NEW)
    gate.set()
    chat.wait(lambda: chat.chats.model_status.state is ModelState.READY)
    assert chat.chats.model_path == NEW
    assert chat.backend.settings.settings.model.path == str(NEW)


def test_a_chosen_model_that_fails_is_not_replaced_by_another(make_backend: MakeBackend) -> None:
    script = FakeScript(load_gate=threading.Event(), load_error=ModelFileError("The model is damaged."))
    assert script.load_gate is not None
    chat = make_backend(script, prepare=start_on_old_model, wait=False)
    chat.chats.load_model(NEW)
    script.load_gate.set()
    chat.wait(lambda: chat.notices)
    assert [(notice.level, notice.text) for notice in chat.notices] == [(NoticeLevel.ERROR, "The model is damaged.")]
    assert chat.chats.model_status.state is ModelState.FAILED
    assert f"load {None}" not in chat.engine.calls
    assert chat.backend.settings.settings.model.path == str(OLD)


def test_a_start_without_the_last_model_keeps_the_choice(make_backend: MakeBackend) -> None:
    chat = make_backend(prepare=partial(start_on_old_model, reload_last=False))
    chat.wait(lambda: chat.chats.model_status.state is ModelState.READY)
    assert chat.chats.model_path is None
    assert chat.backend.settings.settings.model.path == str(OLD)


def test_no_model_at_all_leaves_the_app_usable(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(load_error=ModelFileError("The model is damaged.")), wait=False)
    chat.wait(lambda: chat.told["chat_opened"] and chat.chats.model_status.state is ModelState.FAILED)
    assert chat.notices[-1].level is NoticeLevel.ERROR
    chat.ask("hello")
    assert chat.shown[-1].state is MessageState.FAILED
    assert "No model is loaded" in chat.shown[-1].error
    assert chat.texts[0] == "hello"


def test_a_model_can_be_switched_while_answering(make_backend: MakeBackend, tmp_path: Path) -> None:
    chat = make_backend(FakeScript(answer=("word ",) * 100, token_s=0.003))
    chat.start_asking()
    chat.chats.load_model(tmp_path / "other.gguf")
    assert chat.chats.model_status.state is ModelState.LOADING
    chat.wait_idle()
    assert chat.shown[-1].text == "word " * 100
    chat.wait(lambda: chat.chats.model_status.state is ModelState.READY)
    chat.ask("next")
    assert chat.shown[-1].model == "other"
