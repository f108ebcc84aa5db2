"""Asks for keys that were hidden at five depths of a long text: speed tests cannot see a selection that loses rows.

The document is the benchmark's fixed prose with one sentence a key; each question is the beginning of that sentence,
so that a model without chat training can answer too. An answer counts if it starts with the key, byte for byte.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.bench.text import bench_text
from engine.qualify.records import KEY_DEPTHS, KeyResult, ProcessSpec

if TYPE_CHECKING:
    from engine import Model, Session

Tell = Callable[[str, int, int], None]
_NAMES = ("amber", "cobalt", "ivory", "scarlet", "violet")
_KEYS = ("7318204", "2960475", "5841937", "1097362", "8623150")
_ANSWER_TOKENS = 12
assert len(_NAMES) == len(_KEYS) == len(KEY_DEPTHS)


def _opening(name: str) -> str:
    return f"\n\nThe secret number of the {name} box is"


def make_document(model: "Model", tokens: int) -> list[int]:
    """About `tokens` ids: prose, and each key's sentence at its depth."""
    encode = model.tokenizer.encode
    needles = [encode(f"{_opening(name)} {key}. Remember it.\n\n") for name, key in zip(_NAMES, _KEYS, strict=True)]
    hay = list(bench_text(model.tokenizer, tokens - sum(map(len, needles)), model.tokenizer.bos).ids)
    places = [max(1, int(depth * len(hay))) for depth in KEY_DEPTHS]
    document: list[int] = []
    for start, stop, needle in zip([0, *places], [*places, len(hay)], [*needles, []], strict=True):
        document += hay[start:stop] + needle
    return document


def find_keys(model: "Model", spec: ProcessSpec, tell: Tell) -> tuple[KeyResult, ...]:
    """Read the document once, then ask for each key from the same saved state."""
    document = make_document(model, spec.retrieval_tokens)
    questions = [model.tokenizer.encode(_opening(name)) for name in _NAMES]
    longest = len(document) + max(map(len, questions)) + _ANSWER_TOKENS
    session = model.session(context=longest, mode=spec.mode, cap=spec.cap, cut="greedy")
    for at in session.prefill_steps(document):
        tell("keys", at.done, longest)
    saved = session.snapshot()
    found = []
    for depth, key, question in zip(KEY_DEPTHS, _KEYS, questions, strict=True):
        session.restore(saved)
        answer = _answer(model, session, question)
        found.append(KeyResult(depth, answer.strip().startswith(key), answer))
    return tuple(found)


def _answer(model: "Model", session: "Session", question: list[int]) -> str:
    logits, ids = session.prefill(question), list[int]()
    for _ in range(_ANSWER_TOKENS):
        ids.append(int(logits.argmax()))
        logits = session.decode(ids[-1])
    return model.tokenizer.decode(ids)
