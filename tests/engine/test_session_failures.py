"""Whatever a machine fails with leaves the session at its last commit and is told in one sentence, in any way in."""

from collections.abc import Callable

import pytest
import torch

from engine.errors import EngineError
from engine.loading import Model
from engine.session import Session
from kernels.errors import KernelArgumentError, KernelBuildError, KernelLaunchError
from tests.engine.answering import answer
from tests.support.one_thread import one_torch_thread
from tests.support.tiny_model import oracle_case

__all__ = ["one_torch_thread"]  # a fixture for every test here

HELD = 70
OUT_OF_MEMORY = f"memory ran out at token {HELD}; nothing before it was lost"
FAILURES = {
    "main memory": (MemoryError(), OUT_OF_MEMORY),
    "torch on a CPU": (
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
        OUT_OF_MEMORY,
    ),
    "torch on a GPU": (torch.OutOfMemoryError("HIP out of memory. Tried to allocate 2.00 GiB"), OUT_OF_MEMORY),
    "HIP's driver without memory": (KernelLaunchError("p", "AMD", "hipLaunch", "hipErrorOutOfMemory"), OUT_OF_MEMORY),
    "CUDA's driver without memory": (KernelLaunchError("p", "H", "cuLoad", "CUDA_ERROR_OUT_OF_MEMORY"), OUT_OF_MEMORY),
    "a launch": (
        KernelLaunchError("product", "AMD", "hipModuleLaunchKernel", "hipErrorLaunchFailure"),
        "kernel product failed on AMD: hipModuleLaunchKernel returned hipErrorLaunchFailure",
    ),
    "a build": (
        KernelBuildError("product", "gfx1151", "hiprtc 7.2", "error: no"),
        "kernel product does not build for gfx1151 with hiprtc 7.2: error: no",
    ),
    "a driver": (
        RuntimeError("HIP error: unspecified launch failure\nHIP kernel errors might be reported asynchronously"),
        "the GPU failed (HIP error: unspecified launch failure)",
    ),
    "CUDA's driver": (
        torch.AcceleratorError("CUDA error: an illegal memory access was encountered\nCompile with"),
        "the GPU failed (CUDA error: an illegal memory access was encountered)",
    ),
}  # fmt: skip
BUGS = (RuntimeError("shape mismatch"), KernelArgumentError("norm_rope: out is too small"), ValueError("no"))


def prompt() -> list[int]:
    ids: list[int] = oracle_case(300)["input_ids"].tolist()
    return ids


def raising(failure: Exception) -> Callable[..., None]:
    def raises(*_: object, **__: object) -> None:
        raise failure

    return raises


class FailingProgram:
    def __init__(self, failure: Exception) -> None:
        self.failure = failure

    def run(self, token_id: int, position: int) -> torch.Tensor:
        raise self.failure


@pytest.fixture
def session(tiny: Model) -> Session:
    session = tiny.session(context=512)
    session.prefill(prompt()[:HELD])
    return session


def reads_on(session: Session, failure: Exception, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(session.model.network.backend, "run_experts", raising(failure))
    session.prefill(prompt()[HELD:140])


def decodes_in_layers(session: Session, failure: Exception, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(session, "_program", None)
    patch.setattr(session.model.network.backend, "run_experts", raising(failure))
    session.decode(7)


def decodes_by_a_program(session: Session, failure: Exception, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(session, "_program", FailingProgram(failure))
    session.decode(7)


def reads_singly(session: Session, failure: Exception, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(session, "_program", FailingProgram(failure))
    session.prefill([7, 9])


WAYS = (reads_on, decodes_in_layers, decodes_by_a_program, reads_singly)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", FAILURES)
def test_a_failure_is_told_and_the_next_try_answers(
    tiny: Model, session: Session, kind: str, way: Callable[[Session, Exception, pytest.MonkeyPatch], None]
) -> None:
    failure, told = FAILURES[kind]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(EngineError) as caught:
        way(session, failure, patch)
    assert str(caught.value).split("\n")[0] == told
    assert session.position == HELD
    untouched = tiny.session(context=512)
    untouched.prefill(prompt()[:HELD])
    assert torch.equal(session.decode(7), untouched.decode(7))


@pytest.mark.parametrize("kind", FAILURES)
def test_a_failure_in_the_output_is_told_too(session: Session, kind: str) -> None:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(EngineError):
        patch.setattr(session.model.network.backend, "collapse", raising(FAILURES[kind][0]))
        session.prefill(prompt()[HELD:140])


PLACES = (
    "engine.sampling.Sampler.pick",
    "engine.timeline.Timeline.mark",
    "engine.timeline.Timeline.return_to_shared",
    "engine.session.Session.keep",
)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", FAILURES)
def test_a_failure_of_queued_work_is_told_wherever_an_answer_first_waits_for_it(
    session: Session, monkeypatch: pytest.MonkeyPatch, kind: str, place: str
) -> None:
    failure, told = FAILURES[kind]
    monkeypatch.setattr(place, raising(failure))
    with pytest.raises(EngineError) as caught:
        answer(session, prompt()[: HELD + 1], tokens=2)
    assert str(caught.value).split("\n")[0].startswith(told.split(str(HELD))[0])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: type(bug).__name__)
def test_a_bug_of_ours_in_an_answer_stays_one(
    session: Session, monkeypatch: pytest.MonkeyPatch, bug: Exception, place: str
) -> None:
    monkeypatch.setattr(place, raising(bug))
    with pytest.raises(type(bug)) as caught:
        answer(session, prompt()[: HELD + 1], tokens=2)
    assert caught.value is bug


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: type(bug).__name__)
def test_a_bug_of_ours_stays_one(
    session: Session, bug: Exception, way: Callable[[Session, Exception, pytest.MonkeyPatch], None]
) -> None:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(type(bug)) as caught:
        way(session, bug, patch)
    assert caught.value is bug
    assert session.position == HELD
