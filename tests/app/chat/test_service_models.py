"""ChatService and its model: asking while it loads, switching, a model that is gone, none at all."""

import threading
from pathlib import Path

from app.chat.models import MessageState, ModelState, NoticeLevel
from app.generation import GenerationState
from engine.errors import ModelFileError
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
