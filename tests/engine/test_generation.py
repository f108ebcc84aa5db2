"""Answers over several turns, with and without thinking: what is reused, and what the events say of it."""

import itertools
import threading
from types import SimpleNamespace

import pytest

from engine.chat_format import Message, Role
from engine.events import PrefillAdvanced
from engine.generation import run_generation
from engine.loading import Model
from engine.session import Session
from tests.engine.answering import GREEDY, answer, finished, ids_of, prompt
from tests.support.one_thread import one_torch_thread

__all__ = ["one_torch_thread"]  # a fixture for every test here


def spoken(model: Model, *turns: tuple[Role, str], thinking: bool) -> list[int]:
    return model.encode_chat([Message(role, text) for role, text in turns], thinking)


@pytest.mark.parametrize("mode", ("sparse", "exact"))
@pytest.mark.parametrize(
    "thinking",
    [(True, True, True), (True, False, True), (False, True, True), (False, True, False), (True, True, False)],
)
def test_with_thinking_too_a_turn_computes_only_what_is_new(tiny: Model, thinking: tuple[bool, ...], mode: str) -> None:
    """Reasoning is left out of later turns, so each goes on from where the last one's answer began, or ended."""
    session = tiny.session(context=512, mode=mode)
    talk, held_before = list[tuple[Role, str]](), 0
    for thinks in thinking:
        talk.append((Role.USER, "what is it " * 8))
        ids = spoken(tiny, *talk, thinking=thinks)
        events = answer(session, ids)
        assert finished(events).usage.cached_tokens >= held_before
        assert ids_of(events) == ids_of(answer(tiny.session(context=512, mode=mode), ids))
        held_before = len(ids) - 1
        talk.append((Role.ASSISTANT, "it is that"))


def test_regenerating_with_another_thinking_keeps_the_prompt(tiny: Model) -> None:
    session = tiny.session(context=512)
    question = (Role.USER, "what is it " * 8)
    ids = spoken(tiny, question, thinking=True)
    answer(session, ids)
    assert finished(answer(session, ids)).usage.cached_tokens == len(ids)
    closed = spoken(tiny, question, thinking=False)
    assert closed[:-1] == ids[:-1]
    assert finished(answer(session, closed)).usage.cached_tokens == len(ids) - 1


@pytest.mark.parametrize("mode", ("sparse", "exact"))
def test_the_figures_of_a_thinking_prompt_count_its_tag_as_the_last_step(tiny: Model, mode: str) -> None:
    session = tiny.session(context=512, cap=40, mode=mode)
    session.prefill(spoken(tiny, (Role.USER, "what"), thinking=False)[:2])
    ids = spoken(tiny, (Role.USER, "what is it " * 8), thinking=True)
    events = answer(session, ids)
    advanced = [event for event in events if isinstance(event, PrefillAdvanced)]
    done = [event.tokens_done for event in advanced]
    assert done == sorted(done) and done[-1] == len(ids)
    assert len({event.steps for event in advanced}) == 1
    assert list(dict.fromkeys(event.step for event in advanced)) == list(range(1, advanced[0].steps + 1))
    assert advanced[-1].step_tokens == 1 and advanced[-1].layer == tiny.config.layers
    assert {event.cached for event in advanced} == {finished(events).usage.cached_tokens} == {2}


def test_a_stop_before_the_think_tag_keeps_what_was_read(tiny: Model) -> None:
    session, stop = tiny.session(context=512, mode="exact"), threading.Event()
    ids = spoken(tiny, (Role.USER, "what is it " * 8), thinking=True)
    for event in session.generate(ids, GREEDY, 4, stop):
        if isinstance(event, PrefillAdvanced) and event.tokens_done == len(ids) - 1:
            stop.set()
    assert session.tokens == tuple(ids[:-1])
    assert ids_of(answer(session, ids)) == ids_of(answer(tiny.session(context=512, mode="exact"), ids))


def test_reading_a_saved_state_is_no_prefill_but_delays_the_first_token(
    tiny: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock of its own: the disk takes 1000 s, every other look at the clock comes a second later."""
    seconds = itertools.count()
    now = [0]

    def clock() -> float:
        return next(seconds) + now[0]

    def slow_disk(session: Session, ids: list[int]) -> int:
        now[0] = 1000
        return 0

    monkeypatch.setattr(tiny, "prefixes", SimpleNamespace(restore=slow_disk, keep=lambda session, end: None))
    ids = prompt(100)
    events = list(run_generation(tiny.session(context=512), ids, GREEDY, 4, threading.Event(), 1, clock))
    timings = finished(events).timings
    assert timings.prefill_s < 100
    assert timings.first_token_s is not None and timings.first_token_s > 1000
    assert timings.prefill_tok_s == len(ids) / timings.prefill_s
    assert min(event.tok_s or 0 for event in events if isinstance(event, PrefillAdvanced)) > 1


def test_the_logits_after_a_prompt_outlive_a_longer_prompt(tiny: Model) -> None:
    session = tiny.session(context=512)
    said = ids_of(answer(session, prompt(100)))
    answer(session, prompt(130))
    again = answer(session, prompt(100))
    assert finished(again).usage.cached_tokens == 100
    assert ids_of(again) == said
