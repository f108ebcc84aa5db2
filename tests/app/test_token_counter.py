"""Counting beside the worker: while it answers, without a model, with what a session holds, and after the end."""

import logging

import pytest
from pytestqt.qtbot import QtBot

from app.protocol.events import (
    AnswerFailed,
    AnswerFinished,
    AnswerStarted,
    Event,
    PromptCounted,
    TextArrived,
    TokensCounted,
)
from app.protocol.requests import CountTokens
from app.stop_registry import StopRegistry
from app.token_counter import TokenCounter
from app.worker import EngineWorker
from tests.app.conftest import MakeHost
from tests.app.fake_engine import FakeEngine, FakeScript
from tests.app.host_recorder import WAIT_MS, question


def test_counting_works_while_the_engine_answers(make_host: MakeHost) -> None:
    host = make_host(FakeScript(answer=("word ",) * 5000, token_s=0.002))
    answer = host.ask()
    host.wait_for(TextArrived, answer)
    job = host.host.count_tokens(("12345678", ""))
    assert host.wait_for(TokensCounted, job).counts == (2, 0)
    assert not host.of((AnswerFinished, AnswerFailed), answer)


def test_a_count_is_no_job_that_others_wait_for(make_host: MakeHost) -> None:
    host = make_host(FakeScript(encode_s=0.05))
    job = host.host.count_tokens(("12345678",) * 4)
    assert not host.host.is_busy
    assert host.host.busy_kinds == frozenset()
    assert host.wait_for(TokensCounted, job).counts == (2,) * 4


def test_a_count_that_fails_is_no_count_and_is_written_down(
    make_host: MakeHost, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise IndexError("no such piece")

    host = make_host()
    monkeypatch.setattr(host.host._worker._model.tokenizer, "count", broken)
    monkeypatch.setattr(host.host._worker._model, "encode_chat", broken)
    with caplog.at_level(logging.ERROR):
        assert host.wait_for(TokensCounted, host.host.count_tokens(("a",))).counts is None
        assert host.wait_for(PromptCounted, host.host.count_prompt(1, question())).tokens is None
    assert "counting tokens" in caplog.text


def test_counting_without_a_model_says_so(make_host: MakeHost) -> None:
    host = make_host(load=False)
    assert host.wait_for(TokensCounted, host.host.count_tokens(("a",))).counts is None
    assert host.wait_for(PromptCounted, host.host.count_prompt(1, question())).tokens is None


def test_a_prompt_count_knows_what_the_session_holds(make_host: MakeHost) -> None:
    host = make_host()
    fresh = host.wait_for(PromptCounted, host.host.count_prompt(1, question()))
    assert fresh.cached == 0
    started = host.wait_for(AnswerStarted, host.ask())
    assert fresh.tokens == started.prompt_tokens
    host.wait_for(AnswerFinished)
    again = host.wait_for(PromptCounted, host.host.count_prompt(1, question()))
    assert again.cached == started.prompt_tokens
    other = host.wait_for(PromptCounted, host.host.count_prompt(1, question("something else")))
    assert other.cached == 0


def test_nothing_is_counted_after_the_end(qtbot: QtBot) -> None:
    counter = TokenCounter(EngineWorker(FakeEngine(FakeScript()).load, StopRegistry()))
    told: list[Event] = []
    counter.counted.connect(told.append)
    counter.count_tokens(CountTokens(1, ("a",)))
    qtbot.waitUntil(lambda: told == [TokensCounted(1, None)], timeout=WAIT_MS)
    counter.close()
    counter.count_tokens(CountTokens(2, ("a",)))
    counter._thread.shutdown(wait=True)
    qtbot.wait(1)
    assert told == [TokensCounted(1, None)]
