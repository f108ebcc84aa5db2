"""The embedded model at full length, in one process: single steps of 9,133 and 10,240 tokens, decode after each, twice.

Past ring wrap, past the selection's threshold, and through the largest step there is; short prompts in between must
not notice. Host buffers stand between canaries.
"""

from functools import cache

import pytest
import torch
from safetensors.torch import load_file

import engine
from engine.loading import Model
from engine.session import Session
from tests.support.tiny_model import DATA

CANARY = 12345.0


@cache
def model() -> Model:
    return engine.load()


def document(tokens: int) -> list[int]:
    ids: list[int] = load_file(DATA / "nano" / "oracle.safetensors")["doc_9133.input_ids"].tolist()
    return (ids + ids)[:tokens]


def run(session: Session, tokens: int, decoded: int = 16) -> list[torch.Tensor]:
    """Logits of a fresh prompt and of the greedy tokens after it."""
    session.reset()
    found = [session.prefill(document(tokens))]
    for _ in range(decoded):
        found.append(session.decode(int(found[-1].argmax())))
    return found


@cache
def published_prompt() -> list[torch.Tensor]:
    """The prompt of 9,133 tokens in one step, in a session of its own."""
    return run(model().session(context=12_288), 9133)


def same(a: list[torch.Tensor], b: list[torch.Tensor]) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def test_long_steps_repeat_exactly_and_leave_short_prompts_alone() -> None:
    session = model().session(context=12_288)
    first = {tokens: run(session, tokens) for tokens in (2048, 9133, 10_240)}
    assert [len(session.plan(tokens).steps) for tokens in (1, 2000)] == [1, 1]
    for tokens in (2048, 4096, 8192, 10_240, 9133, 2048):
        again = run(session, tokens)
        assert all(logits.isfinite().all() for logits in again)
        if tokens in first:
            assert same(again, first[tokens]), tokens


@pytest.mark.parametrize(("cap", "cut", "steps"), [(8192, "greedy", [8192, 941]), (10_240, "equal", [9133])])
def test_the_two_cuts_of_the_published_prompt_agree_in_text(cap: int, cut: str, steps: list[int]) -> None:
    session = model().session(context=12_288, cap=cap, cut=cut)
    assert [step.tokens for step in session.plan(9133).steps] == steps
    logits = run(session, 9133)
    assert [int(row.argmax()) for row in logits] == [int(row.argmax()) for row in published_prompt()]


def test_nothing_is_written_beside_the_state() -> None:
    session = model().session(context=4096)
    guards = []
    for layer in session.timeline.state.layers:
        for name in ("ring", "compressed", "index"):
            tensor = getattr(layer, name)
            if tensor.numel():
                room = torch.full((tensor.shape[0] + 2, tensor.shape[1]), CANARY).to(tensor.dtype)
                room[1:-1] = tensor
                setattr(layer, name, room[1:-1])
                guards.append(room)
    session._program = model().token_program(session.timeline.state, selects=True)
    run(session, 3000, decoded=200)
    canary = torch.tensor(CANARY)
    assert guards
    assert all((room[[0, -1]] == canary.to(room.dtype)).all() for room in guards)
