"""The context meter follows an answer: the whole prompt from the first moment, what is read of it, and each token."""

import itertools
import threading

import pytest

from app.chat.budget import ContextBudget
from app.generation import GenerationState
from app.protocol.events import AnswerStarted, PromptCounted
from tests.app.backend_recorder import BackendRecorder
from tests.app.chat.test_documents_in_chat import PASTE, set_context, wait_counted
from tests.app.conftest import MakeBackend
from tests.app.fake_engine import FakeScript

READS_SLOWLY = FakeScript(prefill_s=0.6, step_tokens=64)
LONG = "a question that is much longer than what was said before it " * 40
OVERHEAD = 8  # tokens of the chat format around one message, which a next question would have


def told_from(chat: BackendRecorder, start: int) -> list[ContextBudget]:
    return chat.told["budget_changed"][start:]


def known_used(budgets: list[ContextBudget]) -> list[int]:
    return [budget.used for budget in budgets if budget.used is not None]


def settled(chat: BackendRecorder) -> ContextBudget:
    """The budget when nothing is on its way any more."""
    chat.wait(lambda: chat.budget.used is not None and chat.budget.draft == 0)
    chat.qtbot.wait(500)
    return chat.budget


def events_of(chat: BackendRecorder, kind: type) -> list[object]:
    found: list[object] = []
    chat.backend.host.event_arrived.connect(lambda event: found.append(event) if isinstance(event, kind) else None)
    return found


def test_the_whole_prompt_is_shown_while_it_is_read(make_backend: MakeBackend) -> None:
    chat = make_backend(READS_SLOWLY)
    chat.ask("hello")
    before = settled(chat).used
    assert before is not None
    reading: list[ContextBudget] = []

    def note(budget: ContextBudget) -> None:
        if chat.chats.status(chat.chat_id).state is GenerationState.PREFILLING:
            reading.append(budget)

    chat.chats.budget_changed.connect(note)
    chat.ask(LONG)
    usage = chat.shown[-1].usage
    assert usage is not None and usage.prompt_tokens > before + 100
    assert {budget.used for budget in reading} == {usage.prompt_tokens}
    read = [budget.cached for budget in reading]
    assert read == sorted(read) and len(set(read)) > 3 and read[-1] == usage.prompt_tokens


def test_a_question_that_waits_is_counted_already(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(answer=("word ",) * 4000, token_s=0.004))
    chat.start_asking("first")
    first = chat.chat_id
    second = chat.new_chat()
    chat.ask(LONG, wait=False)
    assert chat.chats.status(second).state is GenerationState.QUEUED
    used = chat.budget.used
    assert used is not None and used > len(LONG) // 4
    started = events_of(chat, AnswerStarted)
    chat.chats.stop(first)
    chat.wait(lambda: started)
    assert used == started[0].prompt_tokens  # type: ignore[attr-defined]
    chat.chats.stop()
    chat.wait_idle()


def test_documents_stay_apart_from_the_chat(make_backend: MakeBackend) -> None:
    chat = make_backend(READS_SLOWLY)
    chat.chats.paste_text(PASTE)
    wait_counted(chat)
    chat.wait(lambda: chat.budget.documents)
    documents = chat.budget.documents
    chat.ask("What is this?", wait=False)
    assert chat.budget.documents == documents
    assert chat.budget.draft == 0
    assert chat.budget.used is not None and chat.budget.history is not None
    assert 0 < chat.budget.history < 100
    chat.wait_idle()
    assert settled(chat).documents == documents


def test_the_answer_eats_into_what_was_kept_for_it(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(answer=("word ",) * 60, token_s=0.005))
    set_context(chat, 1024, 60)
    chat.ask("hello", wait=False)
    start = len(chat.told["budget_changed"]) - 1
    chat.wait_idle()
    usage = chat.shown[-1].usage
    assert usage is not None
    running = [budget for budget in told_from(chat, start) if budget.used and budget.used >= usage.prompt_tokens]
    sums = {(budget.used or 0) + budget.reserved for budget in running if budget.reserved < 60}
    assert sums == {usage.prompt_tokens + 60}
    assert all(budget.fits for budget in running)


@pytest.mark.parametrize("stops", [False, True])
def test_the_meter_never_falls_back_to_the_old_chat(make_backend: MakeBackend, *, stops: bool) -> None:
    chat = make_backend(FakeScript(answer=("word ",) * 80, token_s=0.004, prefill_s=0.3, step_tokens=64))
    chat.ask("hello")
    settled(chat)
    chat.ask(LONG, wait=False)
    start = len(chat.told["budget_changed"]) - 1
    chat.wait(lambda: chat.budget.cached >= (chat.budget.used or 0))
    if stops:
        chat.chats.stop()
    chat.wait_idle()
    last = settled(chat).used
    assert last is not None
    shown = known_used(told_from(chat, start))
    assert all(after >= before - OVERHEAD for before, after in itertools.pairwise(shown))
    assert len(shown) == len(told_from(chat, start))
    assert abs(max(shown) - last) <= OVERHEAD


def test_a_running_chat_is_shown_as_it_is_when_one_comes_back(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(answer=("word ",) * 400, token_s=0.004))
    chat.start_asking(LONG)
    busy = chat.chat_id
    chat.new_chat()
    opened = chat.wait_next("chat_opened", lambda: chat.chats.open_chat(busy))
    assert opened.chat.id == busy
    chat.wait(lambda: chat.budget.chat_id == busy and chat.budget.used is not None)
    assert (chat.budget.used or 0) > len(LONG) // 4
    chat.chats.stop()
    chat.wait_idle()


def test_a_prompt_that_nothing_can_count_yet_is_a_dash(make_backend: MakeBackend) -> None:
    gate = threading.Event()
    chat = make_backend(FakeScript(load_gate=gate), wait=False)
    chat.wait(lambda: chat.told["chat_opened"])
    chat.ask("hello", wait=False)
    assert chat.budget.used is None
    gate.set()
    chat.wait_idle()
    assert (settled(chat).used or 0) > 0


def test_nothing_is_counted_while_the_answer_runs(make_backend: MakeBackend) -> None:
    chat = make_backend(FakeScript(answer=("word ",) * 100, token_s=0.008))
    settled(chat)
    counted = events_of(chat, PromptCounted)
    chat.ask("hello", wait=False)
    chat.wait(lambda: (chat.budget.used or 0) > 60)
    assert len(counted) == 1  # the one that let it be sent
    chat.chats.stop()
    chat.wait_idle()
    settled(chat)
    assert len(counted) == 2
