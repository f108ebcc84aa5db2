"""Gathering: no text is lost or reordered, and no more events are told than a window can paint."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from app.answer_stream import FLUSH_S, AnswerStream
from app.protocol.events import AnswerFinished, Event, MemoryReported, PrefillProgressed, TextArrived
from engine.events import Finished, FinishReason, MemoryChanged, PrefillAdvanced, Timings, TokenDecoded, Usage
from engine.ledger import MemoryReport

USAGE, TIMINGS = Usage(10, 0, 5), Timings(1.0, 1.0, 1.0, 10.0, 5.0)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def stream() -> tuple[AnswerStream, list[Event], Clock]:
    events: list[Event] = []
    clock = Clock()
    return AnswerStream(7, 3, events.append, clock=clock), events, clock


def advanced(done: int) -> PrefillAdvanced:
    return PrefillAdvanced(7, 1, 1, 100, 1, 4, done, 100, 0, None)


@given(
    st.lists(st.tuples(st.text(max_size=4), st.booleans(), st.sampled_from((0.0, 0.001, 0.02, 0.2)))),
    st.text(max_size=3),
)
def test_all_text_arrives_in_order_and_not_too_often(tokens: list[tuple[str, bool, float]], tail: str) -> None:
    answer, events, clock = stream()
    times = []
    for index, (text, thinking, pause) in enumerate(tokens):
        clock.now += pause
        before = len(events)
        answer.feed(TokenDecoded(7, index, text, 5.0, thinking))
        times += [clock.now] * (len(events) - before)
    answer.feed(Finished(7, FinishReason.END, tail, USAGE, TIMINGS))
    told = [event for event in events if isinstance(event, TextArrived)]
    last_thinks = bool(tokens) and tokens[-1][1]
    assert "".join(event.text for event in told) == "".join(t for t, thinks, _ in tokens if not thinks) + (
        "" if last_thinks else tail
    )
    assert "".join(event.reasoning for event in told) == "".join(t for t, thinks, _ in tokens if thinks) + (
        tail if last_thinks else ""
    )
    assert all(later - earlier >= FLUSH_S - 1e-9 for earlier, later in itertools.pairwise(times))
    if told:
        assert told[-1].tokens == len(tokens)
        assert told[-1].reasoning_tokens == sum(thinks for _, thinks, _ in tokens)
    assert isinstance(events[-1], AnswerFinished)


def test_progress_is_thinned_but_its_last_record_comes_before_the_first_text() -> None:
    answer, events, clock = stream()
    for done in range(1, 101):
        clock.now += 0.001
        answer.feed(advanced(done))
    answer.feed(TokenDecoded(7, 1, "a", None))
    progress = [event.progress.tokens_done for event in events if isinstance(event, PrefillProgressed)]
    assert len(progress) <= 100 * 0.001 / FLUSH_S + 2
    assert progress[0] == 1
    assert progress[-1] == 100
    assert isinstance(events[-1], TextArrived)


def test_what_is_held_back_is_told_before_a_failure() -> None:
    answer, events, clock = stream()
    answer.feed(TokenDecoded(7, 1, "a", None))
    answer.feed(TokenDecoded(7, 2, "b", None))
    report = MemoryReport(5, (), 0, 0, 0)
    answer.feed(MemoryChanged(7, report))
    answer.feed(MemoryChanged(7, MemoryReport(6, (), 0, 0, 0)))
    assert len([event for event in events if isinstance(event, TextArrived)]) == 1
    answer.close()
    assert "".join(event.text for event in events if isinstance(event, TextArrived)) == "ab"
    assert [event.report.position for event in events if isinstance(event, MemoryReported)] == [5, 6]
    before = list(events)
    answer.close()
    assert events == before
    assert clock.now == 100.0
