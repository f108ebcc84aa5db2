"""The public face: prefill, decode, generate with reuse, stop and failure that leave the last committed position."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
import torch

from engine.errors import ContextFullError, EngineError, Stopped, UserError
from engine.events import Event, FinishReason, MemoryChanged, PrefillAdvanced, TokenDecoded
from engine.loading import Model
from engine.plan import Step
from engine.session import Session
from tests.engine.answering import GREEDY, answer, finished, ids_of, prompt
from tests.support.one_thread import one_torch_thread
from tests.support.tiny_model import oracle_case

__all__ = ["one_torch_thread"]  # a fixture for every test here


def all_bits(session: Session) -> list[torch.Tensor]:
    """Every tensor that a later token could read."""
    state = session.timeline.state
    found = []
    for layer in state.layers:
        rows = state.position // layer.ratio if layer.ratio else 0
        found += [*layer.volatile(), layer.compressed[:rows], layer.index[:rows]]
    return [tensor.clone() for tensor in found]


def same_bits(a: list[torch.Tensor], b: list[torch.Tensor]) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


@dataclass
class StopAfter(threading.Event):
    """A stop event that is set once it has been looked at `looks` times."""

    looks: int
    seen: int = field(default=0)

    def __post_init__(self) -> None:
        super().__init__()

    def is_set(self) -> bool:
        self.seen += 1
        return self.seen > self.looks


def test_prefill_and_decode_are_the_face_of_the_product_page(tiny: Model) -> None:
    session = tiny.session(context=512)
    case = oracle_case(300)
    logits = session.prefill(case["input_ids"].tolist())
    assert logits.dtype is torch.float32 and logits.shape == (tiny.config.vocab,)
    for expected in case["greedy_ids"].tolist()[:4]:
        assert int(logits.argmax()) == expected
        logits = session.decode(expected)
    assert session.position == 304


@pytest.mark.parametrize("mode", ("sparse", "exact", "dense"))
def test_every_mode_answers_and_continues(tiny: Model, mode: str) -> None:
    session = tiny.session(context=512, mode=mode)
    events = answer(session, prompt(90))
    assert len(ids_of(events)) == 8
    if mode != "dense":  # dense attends to more rows than the oracle once the selection would cut
        assert ids_of(events) == ids_of(answer(tiny.session(context=512), prompt(90)))


def test_events_count_tokens_and_end_with_finished(tiny: Model) -> None:
    events = answer(tiny.session(context=512), prompt(100))
    advanced = [event for event in events if isinstance(event, PrefillAdvanced)]
    assert [event.layer for event in advanced] == list(range(1, 8))
    assert [event.tokens_done for event in advanced] == sorted(event.tokens_done for event in advanced)
    assert advanced[-1].tokens_done == advanced[-1].tokens_total == 100
    assert any(isinstance(event, MemoryChanged) for event in events)
    end = finished(events)
    assert end.reason is FinishReason.LENGTH and end.job_id == 5
    assert (end.usage.prompt_tokens, end.usage.cached_tokens, end.usage.completion_tokens) == (100, 0, 8)
    assert end.timings.first_token_s is not None and end.timings.decode_tok_s is not None


def test_a_following_turn_computes_only_what_is_new(tiny: Model) -> None:
    session = tiny.session(context=512)
    first = ids_of(answer(session, prompt(100)))
    follow_up = [*prompt(100), *first, 7, 8, 9]
    events = answer(session, follow_up)
    assert finished(events).usage.cached_tokens == 107  # the last generated token was never fed
    fresh = answer(tiny.session(context=512), follow_up)
    assert ids_of(events) == ids_of(fresh)


def test_regenerating_reuses_the_whole_prompt(tiny: Model) -> None:
    session = tiny.session(context=512)
    first = ids_of(answer(session, prompt(100)))
    again = answer(session, prompt(100))
    assert finished(again).usage.cached_tokens == 100
    assert ids_of(again) == first
    assert not [event for event in again if isinstance(event, PrefillAdvanced)]


def test_an_edited_question_goes_back_to_the_last_shared_turn(tiny: Model) -> None:
    session = tiny.session(context=512)
    turn = [*prompt(100), *ids_of(answer(session, prompt(100)))]
    answer(session, [*turn, 11, 12, 13])
    edited = [*turn, 21, 22]
    events = answer(session, edited)
    assert finished(events).usage.cached_tokens == 107
    assert ids_of(events) == ids_of(answer(tiny.session(context=512), edited))


def test_a_foreign_prompt_starts_afresh(tiny: Model) -> None:
    session = tiny.session(context=512)
    answer(session, prompt(200))
    other = list(reversed(prompt(90)))
    events = answer(session, other)
    assert finished(events).usage.cached_tokens == 0
    assert ids_of(events) == ids_of(answer(tiny.session(context=512), other))


@pytest.mark.parametrize("looks", (0, 1, 3, 8, 12))
def test_a_stop_in_prefill_leaves_the_last_commit(tiny: Model, looks: int) -> None:
    session = tiny.session(context=512)
    session.prefill(prompt(70))
    before, tokens = all_bits(session), session.tokens
    with pytest.raises(Stopped):
        session.prefill(prompt(140), stop=StopAfter(looks))
    assert (session.position, session.tokens) == (70, tokens)
    assert same_bits(all_bits(session), before)
    untouched = tiny.session(context=512)
    untouched.prefill(prompt(70))
    assert torch.equal(session.prefill(prompt(140)), untouched.prefill(prompt(140)))


def test_a_stop_in_an_answer_ends_with_finished_and_the_text_so_far(tiny: Model) -> None:
    stop = threading.Event()
    events: Iterator[Event] = tiny.session(context=512).generate(prompt(40), GREEDY, 100, stop)
    seen = []
    for event in events:
        seen.append(event)
        if isinstance(event, TokenDecoded) and len(ids_of(seen)) == 3:
            stop.set()
    assert finished(seen).reason is FinishReason.STOPPED
    assert len(ids_of(seen)) == 3


def test_a_stop_while_reading_ends_with_finished(tiny: Model) -> None:
    stop = threading.Event()
    seen = []
    for event in tiny.session(context=512).generate(prompt(40), GREEDY, 10, stop):
        seen.append(event)
        stop.set()
    assert finished(seen).reason is FinishReason.STOPPED
    assert finished(seen).usage.completion_tokens == 0
    assert finished(seen).timings.prefill_tok_s is None


@pytest.mark.parametrize("layer", range(7))
def test_a_failure_in_any_layer_leaves_the_last_commit(
    tiny: Model, layer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = tiny.session(context=512)
    session.prefill(prompt(70))
    before = all_bits(session)
    run, calls = tiny.network.backend.run_experts, []

    def failing(*arguments: object) -> torch.Tensor:
        calls.append(1)
        if len(calls) > layer:
            raise MemoryError
        return run(*arguments)  # type: ignore[arg-type]  # handed on as they came

    with monkeypatch.context() as patch:
        patch.setattr(tiny.network.backend, "run_experts", failing)
        with pytest.raises(EngineError, match="memory ran out at token 70"):
            session.prefill(prompt(140))
    assert same_bits(all_bits(session), before)
    untouched = tiny.session(context=512)
    untouched.prefill(prompt(70))
    assert torch.equal(session.prefill(prompt(140)), untouched.prefill(prompt(140)))


def test_an_abandoned_answer_leaves_the_last_commit(tiny: Model) -> None:
    session = tiny.session(context=512)
    events = session.generate(prompt(100), GREEDY, 10, threading.Event())
    next(iter(events))
    del events
    assert session.position == 0
    assert torch.equal(session.prefill(prompt(100)), tiny.session(context=512).prefill(prompt(100)))


def _decode(session: Session) -> None:
    session.decode(7)


def _answer(session: Session) -> None:
    answer(session, prompt(90))


def _restore(session: Session) -> None:
    session.restore(session.snapshot())


@pytest.mark.parametrize("mode", ("sparse", "exact"))
@pytest.mark.parametrize("later", (_decode, _answer, _restore, Session.snapshot, Session.reset))
def test_what_begins_during_an_unfinished_prompt_goes_on_from_the_last_commit_and_stays(
    tiny: Model, later: Callable[[Session], object], mode: str
) -> None:
    session, untouched = tiny.session(context=512, mode=mode), tiny.session(context=512, mode=mode)
    held, rest = prompt(70), prompt(300)[70:140]
    for each in (session, untouched):
        each.prefill(held)
    unfinished = session.timeline.run(rest, Step(70, 70))
    next(unfinished)
    later(session)
    later(untouched)
    unfinished.close()
    assert session.tokens == untouched.tokens
    assert session.position == len(session.tokens)
    assert same_bits(all_bits(session), all_bits(untouched))


def test_a_prompt_is_not_read_on_once_another_has_begun(tiny: Model) -> None:
    session = tiny.session(context=512)
    events = session.generate(prompt(100), GREEDY, 4)
    next(events)
    said = ids_of(answer(session, prompt(90)))
    before = all_bits(session)
    with pytest.raises(RuntimeError, match="another prompt began"):
        next(events)
    assert same_bits(all_bits(session), before)
    assert ids_of(answer(session, prompt(90))) == said


def test_the_same_request_gives_the_same_bits_cold_and_warm(tiny: Model) -> None:
    session = tiny.session(context=512)
    first = session.prefill(prompt(300))
    bits = all_bits(session)
    for _ in range(3):
        session.reset()
        assert torch.equal(session.prefill(prompt(300)), first)
        assert same_bits(all_bits(session), bits)


def test_a_prompt_beyond_the_context_names_both_numbers(tiny: Model) -> None:
    session = tiny.session(context=64)
    with pytest.raises(ContextFullError, match=r"65 tokens.*64"):
        session.generate(prompt(65), GREEDY, 4, threading.Event())
    with pytest.raises(ContextFullError, match=r"65 tokens.*64"):
        session.prefill(prompt(65))
    assert session.position == 0


def test_an_answer_ends_when_the_context_is_full(tiny: Model) -> None:
    events = answer(tiny.session(context=64), prompt(60), tokens=20)
    assert finished(events).reason is FinishReason.CONTEXT
    assert len(ids_of(events)) == 5  # four are fed, the fifth has nowhere to go


@pytest.mark.parametrize("ids", ([], [512], [-1], [3, 512], [*range(65)]))
def test_impossible_prompts_are_named_before_anything_changes(tiny: Model, ids: list[int]) -> None:
    session = tiny.session(context=64)
    session.prefill(prompt(9))
    before = all_bits(session)
    with pytest.raises(UserError, match=r"empty|vocabulary|context"):
        session.prefill(ids)
    with pytest.raises(UserError, match=r"empty|vocabulary|context"):
        session.generate(ids, GREEDY, 4)
    assert session.tokens == tuple(prompt(9))
    assert same_bits(all_bits(session), before)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"mode": "fast"}, "mode 'fast'"),
        ({"cut": "half"}, "cut 'half'"),
        ({"context": 0}, "context"),
        ({"cap": 0}, "cap"),
    ],
)
def test_impossible_sessions_are_named(tiny: Model, arguments: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words):
        tiny.session(**arguments)  # type: ignore[arg-type]  # wrong on purpose


def test_a_plan_names_steps_bands_and_memory(tiny: Model) -> None:
    session = tiny.session(context=16384, cap=8192, cut="greedy")
    plan = session.plan(9133)
    assert [step.tokens for step in plan.steps] == [8192, 941]
    assert plan.bands == (4, 1)
    assert plan.memory.position == 9133
    assert plan.memory.layers[2].compressed_bytes == 9133 // 4 * 64 * 2
    assert session.memory().position == 0
