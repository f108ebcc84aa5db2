"""Short greedy answers of the tiny model, and what their events say."""

import threading

from engine.events import Event, Finished, TokenDecoded
from engine.sampling import Sampling
from engine.session import Session
from tests.support.tiny_model import oracle_case

GREEDY = Sampling(temperature=0)


def prompt(tokens: int = 300) -> list[int]:
    ids: list[int] = oracle_case(300)["input_ids"].tolist()
    return ids[:tokens]


def answer(session: Session, ids: list[int], tokens: int = 8, stop: threading.Event | None = None) -> list[Event]:
    return list(session.generate(ids, GREEDY, tokens, stop or threading.Event(), job_id=5))


def ids_of(events: list[Event]) -> list[int]:
    return [event.id for event in events if isinstance(event, TokenDecoded)]


def finished(events: list[Event]) -> Finished:
    assert isinstance(events[-1], Finished)
    return events[-1]
