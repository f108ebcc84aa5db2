"""Memory that is free inside the C library goes back after a session or a model was let go, and at no other time."""

import ctypes
import sys
from collections.abc import Iterator

import psutil
import pytest

from app import free_memory, worker
from app.free_memory import give_back_free_memory
from tests.app.conftest import MakeHost
from tests.app.fake_engine import FakeScript


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    made: list[str] = []
    monkeypatch.setattr(worker, "give_back_free_memory", lambda: made.append("trim"))
    return made


@pytest.fixture
def fresh() -> Iterator[None]:
    free_memory._trim.cache_clear()
    yield
    free_memory._trim.cache_clear()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc only")
def test_freed_blocks_leave_the_process() -> None:
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "malloc_trim"):
        pytest.skip("another C library")
    libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = (
        ctypes.c_void_p,
        (ctypes.c_size_t,),
        (ctypes.c_void_p,),
    )
    size, count = 100_000, 1_000  # below the size that is mapped and unmapped by itself
    blocks = [libc.malloc(size) for _ in range(count)]
    for block in blocks:
        ctypes.memset(block, 1, size)
    top = blocks.pop()  # keeps the heap from shrinking by itself
    for block in blocks:
        libc.free(block)
    before = psutil.Process().memory_info().rss
    assert give_back_free_memory()
    assert psutil.Process().memory_info().rss < before - size * count // 2
    libc.free(top)


def test_another_c_library_is_left_alone(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    assert not give_back_free_memory()


def test_an_answer_alone_gives_nothing_back(make_host: MakeHost, calls: list[str]) -> None:
    host = make_host()
    host.wait_end(host.ask())
    host.wait_end(host.ask())
    assert calls == []


def test_a_session_that_makes_room_is_given_back(make_host: MakeHost, calls: list[str]) -> None:
    host = make_host(FakeScript(), session_limit=1)
    host.wait_end(host.ask(conversation=1))
    host.wait_end(host.ask(conversation=2))
    host.wait_end(host.ask(conversation=2))
    assert calls == ["trim"]


def test_a_model_that_was_replaced_is_given_back(make_host: MakeHost, calls: list[str]) -> None:
    host = make_host()
    assert calls == []
    host.load()
    host.wait_end(host.ask())
    assert calls == ["trim"]
