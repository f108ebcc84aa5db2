"""Documents from paste or file to prompt, the context budget, and what is said before sending when it does not fit."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.chat.editable import LONGEST_LINE
from app.chat.models import (
    MessageState,
    PendingDocument,
    PendingState,
)
from app.chat.service import MOST_FILES
from tests.app.backend_recorder import BackendRecorder
from tests.app.conftest import MakeBackend
from tests.app.fake_engine import FakeScript

PASTE = "line of a long paste\n" * 200


def chips(chat: BackendRecorder) -> tuple[PendingDocument, ...]:
    return chat.chats._drafting.pending(chat.chat_id)


def wait_counted(chat: BackendRecorder) -> None:
    chat.wait(lambda: all(d.info is not None and d.info.tokens is not None for d in chips(chat)))


def prompts_of(chat: BackendRecorder) -> list[list[str]]:
    """Contents of every prompt the model is given from now on."""
    found: list[list[str]] = []
    model = chat.backend.host._worker._model
    assert model is not None
    encode = model.encode_chat

    def record(messages: list[object], thinking: bool = False) -> list[int]:
        found.append([m.content for m in messages])  # type: ignore[attr-defined]  # engine messages
        return encode(messages, thinking=thinking)  # type: ignore[arg-type]

    model.encode_chat = record  # type: ignore[method-assign, assignment]
    return found


def set_context(chat: BackendRecorder, context: int, max_tokens: int) -> None:
    chat.backend.settings.change(
        lambda s: replace(s, model=replace(s.model, context=context), answers=replace(s.answers, max_tokens=max_tokens))
    )


def test_a_long_paste_becomes_a_chip_and_its_whole_text_reaches_the_model(make_backend: MakeBackend) -> None:
    chat = make_backend()
    prompts = prompts_of(chat)
    assert not chat.chats.paste_text("short")
    assert chat.chats.paste_text(PASTE)
    assert chat.chats.paste_text(PASTE + "another")
    wait_counted(chat)
    assert [chip.name for chip in chips(chat)] == ["Pasted text 1", "Pasted text 2"]
    chat.ask("What is this?")
    assert chips(chat) == ()
    expected = (
        f"[file name]: Pasted text 1\n[file content begin]\n{PASTE}\n[file content end]\n"
        f"[file name]: Pasted text 2\n[file content begin]\n{PASTE}another\n[file content end]\n"
        "What is this?"
    )
    assert [expected] in prompts
    question = chat.shown[0]
    assert question.text == "What is this?"
    assert [info.name for info in question.documents] == ["Pasted text 1", "Pasted text 2"]
    assert question.documents[0].preview == PASTE[:500]
    assert question.documents[0].size_bytes == len(PASTE)


def test_pastes_stay_text_when_switched_off(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.backend.settings.change(lambda s: replace(s, composer=replace(s.composer, paste_becomes_document=False)))
    assert not chat.chats.paste_text(PASTE)
    chat.backend.settings.change(
        lambda s: replace(s, composer=replace(s.composer, paste_becomes_document=True, paste_threshold=10**6))
    )
    assert not chat.chats.paste_text(PASTE)


def test_documents_are_counted_with_their_header_and_kept_over_a_restart(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.chats.paste_text(PASTE)
    wait_counted(chat)
    tokens = chips(chat)[0].info.tokens  # type: ignore[union-attr]  # counted above
    assert tokens is not None
    assert tokens > len(PASTE) // 4
    chat.settle()
    chat.close()
    later = make_backend()
    assert [(chip.name, chip.state) for chip in chips(later)] == [("Pasted text 1", PendingState.READY)]
    assert chips(later)[0].info.tokens == tokens  # type: ignore[union-attr]


def test_files_show_their_state_and_failures_are_said_on_the_chip(make_backend: MakeBackend, tmp_path: Path) -> None:
    chat = make_backend()
    good, bad = tmp_path / "notes.md", tmp_path / "movie.bin"
    good.write_text("# Notes\nsome text")
    bad.write_bytes(b"\0\1\2\3" * 1000)
    chat.chats.add_files([good, bad, tmp_path / "missing.txt"])
    assert [chip.state for chip in chips(chat)] == [PendingState.READING] * 3
    chat.wait(lambda: all(chip.state is not PendingState.READING for chip in chips(chat)))
    states = {chip.name: chip.state for chip in chips(chat)}
    assert states == {
        "notes.md": PendingState.READY,
        "movie.bin": PendingState.FAILED,
        "missing.txt": PendingState.FAILED,
    }
    failed = next(chip for chip in chips(chat) if chip.name == "movie.bin")
    assert "movie.bin is not a text" in failed.error
    chat.chats.set_draft("what is it?")
    chat.chats.send()
    chat.wait(lambda: chat.notices)
    assert "could not be read" in chat.notices[-1].text
    assert not chat.sent
    for chip in chips(chat):
        if chip.state is PendingState.FAILED:
            chat.chats.remove_document(chip.key)
    chat.ask("what is it?")
    assert [info.name for info in chat.shown[0].documents] == ["notes.md"]


def test_a_document_can_be_removed_shown_and_made_text_again(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.chats.set_draft("before")
    chat.chats.paste_text(PASTE)
    wait_counted(chat)
    key = chips(chat)[0].key
    texts: list[tuple[int, str]] = []
    chat.chats.document_text_ready.connect(lambda key, text: texts.append((key, text)))
    chat.chats.request_document_text(key)
    chat.wait(lambda: texts)
    assert texts == [(key, PASTE)]
    chat.chats.insert_document_as_text(key)
    chat.wait(lambda: chat.drafts and not chips(chat))
    assert chat.drafts[-1] == (chat.chat_id, f"before\n{PASTE}")
    chat.chats.paste_text(PASTE)
    chat.chats.remove_document(chips(chat)[0].key)  # before the store has it
    assert chips(chat) == ()
    chat.settle()
    chat.settle()
    assert chat.stored("SELECT count(*) FROM documents") == [(0,)]


def test_an_edited_question_keeps_its_documents(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.chats.paste_text(PASTE)
    wait_counted(chat)
    chat.ask("What is this?")
    prompts = prompts_of(chat)
    question = chat.shown[0]
    chat.wait_next("branch_changed", lambda: chat.chats.edit_message(question.id, "Who wrote it?"))
    chat.wait_idle()
    assert [info.name for info in chat.shown[0].documents] == ["Pasted text 1"]
    assert any(PASTE in prompt[0] and prompt[0].endswith("Who wrote it?") for prompt in prompts)


def test_the_budget_adds_up_to_what_is_sent(make_backend: MakeBackend) -> None:
    chat = make_backend()
    set_context(chat, 8192, 100)
    chat.ask("the first question of this chat")
    chat.chats.paste_text(PASTE)
    wait_counted(chat)
    chat.chats.set_draft("and now a second one")

    def is_known() -> bool:
        budget = chat.budget
        return budget.used is not None and bool(budget.draft) and bool(budget.documents) and bool(budget.cached)

    chat.wait(is_known)
    chat.qtbot.wait(500)  # the last count may still be on its way
    budget = chat.budget
    assert budget.context == 8192
    assert budget.reserved == 100
    assert budget.fits
    chat.ask("and now a second one")
    usage = chat.shown[-1].usage
    assert usage is not None
    assert budget.used is not None
    assert abs(budget.used - usage.prompt_tokens) <= 1  # pieces counted apart may share a token
    assert budget.cached == usage.cached_tokens


def test_the_budget_says_when_it_does_not_fit_before_sending(make_backend: MakeBackend) -> None:
    chat = make_backend()
    set_context(chat, 512, 100)
    chat.chats.set_draft("word " * 1000)
    chat.wait(lambda: chat.told["budget_changed"] and not chat.budget.fits)
    assert chat.budget.over_by > 0


@pytest.mark.parametrize("with_breaks", [True, False])
def test_a_megabyte_goes_through_whole(make_backend: MakeBackend, with_breaks: bool) -> None:
    chat = make_backend(FakeScript(context_length=1 << 20, step_tokens=1 << 20))
    set_context(chat, 1 << 20, 100)
    text = ("x" * 79 + "\n" if with_breaks else "x" * 80) * 13_000
    prompts = prompts_of(chat)
    assert chat.chats.paste_text(text)
    wait_counted(chat)
    chat.ask("How long is it?")
    assert any(text in prompt[0] for prompt in prompts)
    assert chat.shown[-1].state is MessageState.COMPLETE


def test_a_document_with_a_line_too_long_to_edit_stays_a_document(make_backend: MakeBackend) -> None:
    chat = make_backend()
    chat.chats.set_draft("before")
    chat.chats.paste_text("x" * (LONGEST_LINE + 1))
    wait_counted(chat)
    chat.chats.insert_document_as_text(chips(chat)[0].key)
    chat.wait(lambda: chat.notices)
    assert "too long to edit" in chat.notices[-1].text
    assert len(chips(chat)) == 1
    assert chat.chats._drafting.text(chat.chat_id) == "before"


def test_many_files_are_told_together_and_too_many_are_named(make_backend: MakeBackend, tmp_path: Path) -> None:
    chat = make_backend()
    files = [tmp_path / f"{number}.txt" for number in range(MOST_FILES + 3)]
    for file in files:
        file.write_text("some text")
    before = len(chat.told["documents_changed"])
    chat.chats.add_files(files)
    chat.wait(lambda: len(chat.told["documents_changed"]) > before)
    first = chat.told["documents_changed"][before]
    assert [document.name for document in first.documents] == [file.name for file in files[:MOST_FILES]]
    assert f"first {MOST_FILES} of {MOST_FILES + 3} files" in chat.notices[-1].text
    wait_counted(chat)
    assert len(chips(chat)) == MOST_FILES
    assert all(chip.state is PendingState.READY for chip in chips(chat))
