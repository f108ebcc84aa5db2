"""The worker behind its host: order, stopping in every state, late events, failures, model switches, shutdown."""

import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.engine_host import JobKind
from app.protocol.events import (
    AnswerFailed,
    AnswerFinished,
    AnswerStarted,
    BenchmarkAdvanced,
    BenchmarkFailed,
    BenchmarkFinished,
    JobQueued,
    LoadCancelled,
    LoadFailed,
    MemoryReported,
    ModelLoaded,
    ModelLoading,
    PrefillProgressed,
    TextArrived,
)
from app.protocol.requests import SamplingChoice
from engine.errors import EngineError, ModelFileError, UserError
from engine.events import FinishReason
from engine.partial_sampling import PartialSampling
from engine.sampling import Sampling
from tests.app.conftest import MakeHost
from tests.app.fake_engine import FakeScript
from tests.app.host_recorder import question

LONG = FakeScript(answer=("word ",) * 5000, token_s=0.002)


def test_an_answer_streams_in_order_from_another_thread(make_host: MakeHost) -> None:
    host = make_host(FakeScript(thoughts=("hm",)))
    job = host.ask(thinking=True)
    end = host.wait_end(job)
    assert isinstance(end, AnswerFinished)
    assert end.finished.reason is FinishReason.END
    assert host.text(job) == "Hello, world."
    assert "".join(event.reasoning for event in host.of(TextArrived, job)) == "hm"
    kinds = [type(event) for event in host.events if getattr(event, "job_id", None) == job]
    assert kinds[0] is AnswerStarted
    assert kinds.index(PrefillProgressed) < kinds.index(TextArrived)
    assert kinds[-1] is AnswerFinished
    assert host.of(MemoryReported, job)
    assert threading.get_ident() not in host.engine.threads


def test_a_second_turn_reuses_the_session(make_host: MakeHost) -> None:
    host = make_host()
    host.wait_end(host.ask())
    end = host.wait_end(host.ask())
    assert isinstance(end, AnswerFinished)
    assert end.finished.usage.cached_tokens > 0
    assert host.engine.calls.count("session 4096 sparse") == 1


def test_only_the_conversations_used_last_keep_a_session(make_host: MakeHost) -> None:
    host = make_host(session_limit=2)
    for conversation in (1, 2, 1, 3, 1, 2):  # 2 must be made again, 1 never
        host.wait_end(host.ask(conversation))
    assert host.engine.calls.count("session 4096 sparse") == 4


def test_another_limit_holds_at_once(make_host: MakeHost) -> None:
    host = make_host(session_limit=2)

    def conversations() -> list[int]:
        return [entry.conversation_id for entry in host.host._worker.published.held]

    for conversation in (1, 2):
        host.wait_end(host.ask(conversation))
    host.host.set_session_limit(3)
    host.wait_end(host.ask(3))
    host.wait(lambda: conversations() == [1, 2, 3])
    host.host.set_session_limit(1)
    host.wait(lambda: conversations() == [3])  # the one used last
    host.wait_end(host.ask(4))
    host.wait(lambda: conversations() == [4])


def test_another_context_size_makes_another_session(make_host: MakeHost) -> None:
    host = make_host()
    host.wait_end(host.ask(context=4096))
    host.wait_end(host.ask(context=8192))
    assert "session 8192 sparse" in host.engine.calls


def test_memory_for_a_session_is_taken_from_idle_ones(make_host: MakeHost) -> None:
    host = make_host()
    host.wait_end(host.ask(1))
    model = host.host._worker._model
    assert model is not None
    made, refused = model.session, []

    def refuse_once(context: int = 0, mode: str = "sparse") -> object:
        if not refused:
            refused.append(context)
            raise UserError("not enough memory")
        return made(context, mode)

    model.session = refuse_once  # type: ignore[method-assign]  # the fake under test
    assert isinstance(host.wait_end(host.ask(2)), AnswerFinished)
    assert [entry.conversation_id for entry in host.host._worker.published.held] == [2]


@pytest.mark.parametrize("phase", [PrefillProgressed, TextArrived])
def test_stop_ends_a_running_answer_and_keeps_its_text(make_host: MakeHost, phase: type) -> None:
    script = FakeScript(
        answer=("word ",) * 5000, token_s=0.002, prefill_s=30.0 if phase is PrefillProgressed else 0.0, layers=400
    )
    host = make_host(script)
    job = host.ask()
    host.wait_for(phase, job)
    host.host.stop(job)
    end = host.wait_end(job)
    assert isinstance(end, AnswerFinished)
    assert end.finished.reason is FinishReason.STOPPED
    assert bool(host.text(job)) == (phase is TextArrived)
    next_job = host.ask(2)  # the worker lives on
    host.wait_for(phase, next_job)
    host.host.stop(next_job)
    host.wait_end(next_job)


def test_a_waiting_answer_says_how_many_go_first_and_stops_at_once(make_host: MakeHost) -> None:
    host = make_host(LONG)
    first, second, third = host.ask(1), host.ask(2), host.ask(3)
    host.wait_for(TextArrived, first)
    assert [event.ahead for event in host.of(JobQueued, third)] == [2]
    host.host.stop(second)
    end = host.wait_end(second)
    assert isinstance(end, AnswerFinished)
    assert end.finished.reason is FinishReason.STOPPED
    assert not host.of((AnswerFinished, AnswerFailed), first)
    host.wait(lambda: [event.ahead for event in host.of(JobQueued, third)] == [2, 1])
    host.host.stop(first)
    host.wait_for(TextArrived, third)
    host.host.stop(third)
    host.wait_end(third)
    assert len(host.of(AnswerFinished, second)) == 1
    assert not host.of(AnswerStarted, second)


def test_nothing_is_told_of_a_job_that_ended(make_host: MakeHost) -> None:
    host = make_host(LONG)
    for _ in range(20):  # stop races with start: whoever wins, the end comes once and is the last word
        job = host.ask()
        host.host.stop(job)
        host.wait_end(job)
    host.wait_end(host.ask(9, max_tokens=1))
    for job in {event.job_id for event in host.of(AnswerFinished)}:
        told = [event for event in host.events if event.job_id == job]
        assert [type(event) for event in told].count(AnswerFinished) == 1
        assert isinstance(told[-1], AnswerFinished)


@pytest.mark.parametrize("error", [UserError("Too hot."), EngineError("The device went away."), RuntimeError("oops")])
@pytest.mark.parametrize("where", ["session_error", "prefill_error", "token_error"])
def test_a_failure_is_said_and_the_text_before_it_stands(make_host: MakeHost, where: str, error: Exception) -> None:
    host = make_host(FakeScript(**{where: error}))  # type: ignore[arg-type]  # a field by name
    job = host.ask()
    end = host.wait_end(job)
    assert isinstance(end, AnswerFailed)
    assert end.is_bug == isinstance(error, RuntimeError)
    assert str(error) in end.message
    assert host.text(job) == ("Hello" if where == "token_error" else "")
    held = [entry.conversation_id for entry in host.host._worker.published.held]
    assert held == ([] if end.is_bug or where == "session_error" else [1])


def test_a_bug_leaves_its_trace_in_the_log(make_host: MakeHost, caplog: pytest.LogCaptureFixture) -> None:
    host = make_host(FakeScript(token_error=KeyError("x")))
    host.wait_end(host.ask())
    assert any(record.exc_info for record in caplog.records)
    caplog.clear()
    host.engine.script = FakeScript(token_error=UserError("Mine."))
    host.load()
    host.wait_end(host.ask())
    assert not any(record.exc_info for record in caplog.records)


def test_a_prompt_that_does_not_fit_names_both_numbers(make_host: MakeHost) -> None:
    host = make_host()
    end = host.wait_end(host.ask(text="x" * 4000, context=300))
    assert isinstance(end, AnswerFailed)
    assert "300" in end.message
    assert not end.is_bug


def test_the_model_that_answers_says_what_was_not_wished(make_host: MakeHost) -> None:
    host = make_host(FakeScript(advice=PartialSampling(temperature=0.3, top_k=5)))
    choice = SamplingChoice(PartialSampling(top_k=9, min_p=0.1), seed=4)
    host.wait_end(host.host.ask(1, question(), choice, max_tokens=5, context=64))
    host.engine.script = FakeScript(advice=PartialSampling(temperature=0.0))
    host.load()
    host.wait_end(host.host.ask(1, question(), choice, max_tokens=5, context=64))
    assert host.engine.samplings == [
        Sampling(temperature=temperature, top_k=9, min_p=0.1, seed=4) for temperature in (0.3, 0.0)
    ]


def test_bad_sampling_numbers_are_said(make_host: MakeHost) -> None:
    host = make_host()
    job = host.host.ask(1, question(), SamplingChoice(PartialSampling(temperature=-1.0)), max_tokens=5, context=64)
    end = host.wait_end(job)
    assert isinstance(end, AnswerFailed)
    assert not end.is_bug


def test_loading_reports_and_can_be_cancelled(make_host: MakeHost) -> None:
    host = make_host(FakeScript(load_s=30.0, load_parts=300), load=False)
    job = host.host.load_model(Path("/models/big.gguf"))
    host.wait_for(ModelLoading, job)
    host.host.stop(job)
    event = host.wait_for(LoadCancelled, job)
    assert not event.kept_previous
    assert not host.host.has_model
    assert not host.host.is_busy


def test_a_load_that_waits_is_cancelled_at_once(make_host: MakeHost) -> None:
    host = make_host(LONG)
    answer = host.ask()
    host.wait_for(TextArrived, answer)
    job = host.host.load_model(Path("/models/other.gguf"))
    host.host.stop(job)
    assert host.wait_for(LoadCancelled, job).kept_previous
    assert not host.of((AnswerFinished, AnswerFailed), answer)


def test_a_model_chosen_while_answering_is_loaded_after_the_answer(make_host: MakeHost) -> None:
    host = make_host(FakeScript(answer=("word ",) * 40, token_s=0.005))
    answer = host.ask()
    host.wait_for(TextArrived, answer)
    job = host.host.load_model(Path("/models/other.gguf"))
    after = host.ask(2)
    assert host.wait_for(ModelLoaded, job).info.name == "other"
    order = [event.job_id for event in host.events if isinstance(event, AnswerFinished | ModelLoaded)]
    assert order[-2:] == [answer, job]
    assert host.text(answer) == "word " * 40
    host.wait_end(after)


def test_a_second_load_takes_the_place_of_the_first(make_host: MakeHost) -> None:
    host = make_host(FakeScript(load_s=30.0, load_parts=300), load=False)
    first = host.host.load_model(Path("/models/a.gguf"))
    host.wait_for(ModelLoading, first)
    host.engine.script = FakeScript()
    second = host.host.load_model(Path("/models/b.gguf"))
    host.wait_for(ModelLoaded, second)
    assert host.of(LoadCancelled, first)


@pytest.mark.parametrize("error", [ModelFileError("b.gguf: not a GGUF file."), RuntimeError("oops")])
def test_a_load_that_fails_keeps_the_old_model(make_host: MakeHost, error: Exception) -> None:
    host = make_host()
    host.engine.script = FakeScript(load_error=error)
    job = host.host.load_model(None)
    event = host.wait_for(LoadFailed, job)
    assert event.kept_previous
    assert str(error) in event.message
    assert event.is_bug == isinstance(error, RuntimeError)
    assert isinstance(host.wait_end(host.ask()), AnswerFinished)


def test_memory_for_one_model_only_drops_the_old_one_first(
    make_host: MakeHost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "big.gguf"
    path.write_bytes(b"x" * 1000)
    monkeypatch.setattr("app.worker.available_bytes", lambda: 100)
    host = make_host()
    host.engine.script = FakeScript(load_error=ModelFileError("bad"))
    assert not host.wait_for(LoadFailed, host.host.load_model(path)).kept_previous
    end = host.wait_end(host.ask())
    assert isinstance(end, AnswerFailed)
    assert "No model is loaded" in end.message


def test_a_model_in_a_reference_cycle_is_freed_by_a_switch(make_host: MakeHost) -> None:
    host = make_host()
    host.wait_end(host.ask())
    model = host.host._worker._model
    assert model is not None
    model.me = model  # type: ignore[attr-defined]  # the cycle
    gone = weakref.ref(model)
    del model
    host.load()
    assert gone() is None


class Plan:
    def __init__(self, rows: int, error: Exception | None = None) -> None:
        self.rows, self.error = rows, error

    def run(self, model: object, stop: threading.Event) -> Iterator[object]:
        for row in range(self.rows):
            if stop.wait(0.005):
                return
            yield row
        if self.error:
            raise self.error


def test_a_benchmark_runs_between_answers_and_keeps_its_rows(make_host: MakeHost) -> None:
    host = make_host()
    job = host.host.run_benchmark(Plan(3))
    assert JobKind.BENCHMARK in host.host.busy_kinds
    assert not host.wait_for(BenchmarkFinished, job).stopped
    assert [event.update for event in host.of(BenchmarkAdvanced, job)] == [0, 1, 2]
    stopped = host.host.run_benchmark(Plan(100_000))
    host.wait_for(BenchmarkAdvanced, stopped)
    host.host.stop(stopped)
    assert host.wait_for(BenchmarkFinished, stopped).stopped
    assert host.of(BenchmarkAdvanced, stopped)
    failed = host.host.run_benchmark(Plan(1, UserError("No room.")))
    assert host.wait_for(BenchmarkFailed, failed).message == "No room."


@pytest.mark.parametrize("phase", ["loading", "prefilling", "decoding", "queued", "counting", "idle"])
def test_shutdown_is_clean_in_every_state(make_host: MakeHost, phase: str) -> None:
    script = FakeScript(
        answer=("word ",) * 100_000,
        token_s=0.002,
        prefill_s=60.0 if phase == "prefilling" else 0.0,
        layers=2000,
        encode_s=0.05,
    )
    host = make_host(script)
    if phase == "loading":
        host.engine.script = FakeScript(load_s=60.0, load_parts=600)
        host.wait_for(ModelLoading, host.host.load_model(None))
    elif phase == "counting":
        for _ in range(50):
            host.host.count_tokens(("text",) * 10)
    elif phase != "idle":
        job = host.ask()
        host.wait_for(PrefillProgressed if phase == "prefilling" else TextArrived, job)
        if phase == "queued":
            host.ask(2)
    assert host.host.shutdown(timeout_s=10.0)
    assert host.host._thread.isFinished()
    for job in {event.job_id for event in host.of(AnswerStarted)}:
        assert isinstance(host.of((AnswerFinished, AnswerFailed), job)[0], AnswerFinished)
    with pytest.raises(RuntimeError):
        host.ask()
