"""Stored prefixes: found again by content, never trusted when damaged, never larger than their limit."""

import itertools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

import pytest
import torch

import engine
from engine import snapshot
from engine.chat_format import Message, Role
from engine.events import Finished, TokenDecoded
from engine.loading import Model
from engine.prefix_store import PrefixStore
from engine.sampling import Sampling
from engine.session import Mode
from engine.snapshot import read_header
from tests.engine.answering import answer, finished, ids_of, prompt
from tests.support.one_thread import one_torch_thread
from tests.support.tiny_model import oracle_case

__all__ = ["one_torch_thread"]  # a fixture for every test here


def ids(tokens: int) -> list[int]:
    found: list[int] = oracle_case(300)["input_ids"].tolist()
    return found[:tokens]


def kept(tiny: Model, store: PrefixStore, tokens: int) -> Path:
    return kept_ids(tiny, store, ids(tokens))


def kept_ids(tiny: Model, store: PrefixStore, tokens: list[int]) -> Path:
    session = tiny.session(context=512)
    session.prefill(tokens)
    path = store.keep(session)
    assert path is not None
    return path


def test_a_new_process_goes_on_where_the_old_one_was(tiny: Model, tmp_path: Path) -> None:
    store = PrefixStore(tmp_path / "prefixes", min_tokens=100)
    for tokens in (200, 120):
        kept(tiny, store, tokens)
    session = tiny.session(context=512)
    assert store.restore(session, ids(260)) == 200
    assert session.tokens == tuple(ids(200))
    whole = tiny.session(context=512)
    whole.prefill(ids(200))
    assert torch.equal(session.prefill(ids(260)[200:]), whole.prefill(ids(260)[200:]))


def test_a_different_text_or_a_whole_prompt_finds_nothing(tiny: Model, tmp_path: Path) -> None:
    store = PrefixStore(tmp_path, min_tokens=100)
    kept(tiny, store, 120)
    changed = [*ids(119), 7, 8, 9]
    assert store.restore(tiny.session(context=512), changed) == 0
    assert store.restore(tiny.session(context=512), ids(120)) == 0  # one token must stay to be computed
    assert store.restore(tiny.session(context=110), ids(109)) == 0


@pytest.mark.parametrize("asked", Mode)
@pytest.mark.parametrize("made", Mode)
def test_a_session_goes_on_only_from_its_own_mode(tiny: Model, tmp_path: Path, made: Mode, asked: Mode) -> None:
    store = PrefixStore(tmp_path, min_tokens=100)
    session = tiny.session(context=512, mode=made.value)
    session.prefill(ids(120))
    store.keep(session)
    found = store.restore(tiny.session(context=512, mode=asked.value), ids(200))
    assert found == (120 if asked is made else 0)


def test_a_later_turn_replaces_the_earlier_state_of_its_conversation(tiny: Model, tmp_path: Path) -> None:
    store = PrefixStore(tmp_path, min_tokens=100)
    kept(tiny, store, 120)
    other = kept_ids(tiny, store, [5, *ids(150)])
    later = kept(tiny, store, 200)
    assert sorted(tmp_path.iterdir()) == sorted([later, other])


def test_what_the_session_holds_already_is_not_replaced(tiny: Model, tmp_path: Path) -> None:
    store = PrefixStore(tmp_path, min_tokens=100)
    kept(tiny, store, 120)
    session = tiny.session(context=512)
    session.prefill(ids(150))
    assert store.restore(session, ids(200)) == 150


def test_nothing_is_digested_of_what_the_session_holds_already(
    tiny: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A digest reads all tokens up to its position, on every turn and for every file."""
    store = PrefixStore(tmp_path, min_tokens=100)
    kept(tiny, store, 120)
    kept_ids(tiny, store, [5, *ids(149)])
    session, digested = tiny.session(context=512), list[int]()
    session.prefill(ids(150))

    def noted(found: Sequence[int]) -> str:
        digested.append(len(found))
        return ""

    monkeypatch.setattr("engine.prefix_store._digest", noted)
    store.restore(session, ids(200))
    assert not digested
    store.restore(tiny.session(context=512), ids(200))
    assert sorted(digested) == [120, 150]


def failing(failure: Exception) -> Callable[..., None]:
    def fails(*_: object) -> None:
        raise failure

    return fails


@pytest.mark.parametrize("failure", [OSError(5, "Input/output error"), MemoryError()], ids=("disk", "memory"))
@pytest.mark.parametrize("place", ["_is_sealed", "_room_for"])
def test_a_file_that_cannot_be_read_leaves_what_the_session_holds(
    tiny: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, failure: Exception
) -> None:
    store, session = PrefixStore(tmp_path, min_tokens=100), tiny.session(context=512)
    kept(tiny, store, 200)
    session.prefill(ids(110))
    monkeypatch.setattr(f"engine.snapshot.{place}", failing(failure))
    assert store.restore(session, ids(260)) == 110
    assert session.tokens == tuple(ids(110))


@pytest.mark.parametrize("failure", [OSError(5, "Input/output error"), MemoryError()], ids=("disk", "memory"))
def test_after_a_file_that_fails_half_read_a_shorter_one_serves(
    tiny: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    store, session, fill = PrefixStore(tmp_path, min_tokens=100), tiny.session(context=512), snapshot._fill
    for tokens in (200, 105):
        kept(tiny, store, tokens)
    session.prefill(ids(110))

    def fails_once(tensor: torch.Tensor, file: BinaryIO) -> None:
        monkeypatch.setattr("engine.snapshot._fill", fill)
        raise failure

    monkeypatch.setattr("engine.snapshot._fill", fails_once)
    assert store.restore(session, ids(260)) == 105
    assert session.tokens == tuple(ids(105))


def test_short_sessions_are_not_kept(tiny: Model, tmp_path: Path) -> None:
    session = tiny.session(context=512)
    session.prefill(ids(50))
    assert PrefixStore(tmp_path, min_tokens=100).keep(session) is None
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_is_removed_and_the_next_best_used(tiny: Model, tmp_path: Path) -> None:
    store = PrefixStore(tmp_path, min_tokens=100)
    damaged = kept(tiny, store, 200)
    kept(tiny, store, 120)
    damaged.write_bytes(damaged.read_bytes()[:-40])
    session = tiny.session(context=512)
    assert store.restore(session, ids(260)) == 120
    assert not damaged.exists()


def test_the_least_recently_used_goes_first(tiny: Model, tmp_path: Path) -> None:
    store = PrefixStore(tmp_path, 100)
    old, used = kept_ids(tiny, store, [5, *ids(119)]), kept_ids(tiny, store, [6, *ids(159)])
    os.utime(old, (1, 1))
    os.utime(used, (2, 2))
    room = used.stat().st_size * 2 + old.stat().st_size // 2
    newest = kept(tiny, PrefixStore(tmp_path, 100, limit_bytes=room), 200)
    assert sorted(tmp_path.iterdir()) == sorted([used, newest])


def test_a_folder_that_cannot_be_written_loses_only_the_shortcut(
    tiny: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.prefix_store.replaced_file", full)
    session = tiny.session(context=512)
    session.prefill(ids(120))
    assert PrefixStore(tmp_path / "full", min_tokens=100).keep(session) is None
    assert session.position == 120


def test_too_little_memory_loses_only_the_shortcut(
    tiny: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PrefixStore(tmp_path, min_tokens=100)
    path = kept(tiny, store, 120)

    def no_memory(*_: object) -> None:
        raise MemoryError

    for fails in ("write_snapshot", "checked_snapshot"):
        monkeypatch.setattr(f"engine.session.{fails}", no_memory)
    session = tiny.session(context=512)
    assert store.restore(session, ids(200)) == 0
    session.prefill(ids(200))
    assert store.keep(session) is None
    assert session.tokens == tuple(ids(200))
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_whose_use_cannot_be_noted_is_used_and_stays(
    tiny: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PrefixStore(tmp_path, min_tokens=100)
    path = kept(tiny, store, 120)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "touch", refuse)
    session = tiny.session(context=512)
    assert store.restore(session, ids(200)) == 120
    assert session.tokens == tuple(ids(120))
    assert path.exists()


def test_another_bug_while_keeping_is_not_hidden(tiny: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def bug(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("engine.session.write_snapshot", bug)
    with pytest.raises(RuntimeError, match="a bug"):
        kept(tiny, PrefixStore(tmp_path, min_tokens=100), 120)


@pytest.fixture
def stored(tiny: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PrefixStore:
    """A store that the tiny model's sessions use."""
    store = PrefixStore(tmp_path, min_tokens=20)
    monkeypatch.setattr(tiny, "prefixes", store)
    return store


def test_after_a_restart_the_last_answer_can_be_made_again_and_its_question_edited(
    tiny: Model, stored: PrefixStore
) -> None:
    first = answer(tiny.session(context=512), prompt(120))
    said = [*prompt(120), *ids_of(first)]
    second = answer(tiny.session(context=512), [*said, 7, 8, 9])
    again = answer(tiny.session(context=512), [*said, 7, 8, 9])
    assert finished(again).usage.cached_tokens == len(said) + 3
    assert ids_of(again) == ids_of(second)
    edited = answer(tiny.session(context=512), [*said, 4, 5])
    assert finished(edited).usage.cached_tokens == len(said) - 1
    assert ids_of(answer(tiny.session(context=512), prompt(120))) == ids_of(first)
    assert len(list(stored.folder.iterdir())) == 3, "two branches, of each the newest turn, and their beginning"


@pytest.mark.parametrize("thinks", [True, False])
def test_only_what_changing_the_last_turn_needs_is_stored(tiny: Model, stored: PrefixStore, thinks: bool) -> None:
    """Each position takes 17.0 MiB of the disk at V4 Flash's size."""
    talk, session, began = list[Message](), tiny.session(context=512), list[int]()
    for _ in range(4):
        talk.append(Message(Role.USER, "what is it " * 4))
        ids = tiny.encode_chat(talk, thinks)
        answered = finished(answer(session, ids)).usage
        began.append(answered.cached_tokens)
        talk.append(Message(Role.ASSISTANT, "it is that"))
    newest = max(stored.folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    with newest.open("rb") as file:
        points = [position for position, _ in read_header(file).points]
    ends = [len(ids) - 1] if thinks else [len(ids), session.position]
    assert points == [began[-1], *ends]


@pytest.mark.parametrize("thinking", [*itertools.product((True, False), repeat=3)])
def test_after_a_restart_a_turn_computes_only_what_is_new_with_thinking_too(
    tiny: Model, stored: PrefixStore, thinking: tuple[bool, ...]
) -> None:
    """Reasoning and what follows it is not kept: no later turn begins with it."""
    talk, held_before = list[Message](), 0
    for thinks in thinking:
        talk.append(Message(Role.USER, "what is it " * 8))
        ids = tiny.encode_chat(talk, thinks)
        events = answer(tiny.session(context=512), ids)
        assert finished(events).usage.cached_tokens >= held_before
        again = answer(tiny.session(context=512), ids)
        assert finished(again).usage.cached_tokens >= len(ids) - 1
        assert ids_of(again) == ids_of(events)
        held_before = len(ids) - 1
        talk.append(Message(Role.ASSISTANT, "it is that"))
    assert len(list(stored.folder.iterdir())) <= 1 + thinking.count(False), (
        "one file, and those of answers that were said otherwise"
    )


def test_a_position_beyond_the_end_that_is_wanted_is_not_kept(tiny: Model, tmp_path: Path) -> None:
    session = tiny.session(context=512)
    session.prefill(ids(120))
    store = PrefixStore(tmp_path, min_tokens=100)
    assert store.keep(session, 110) is None
    session.timeline.mark(None)
    session.prefill(ids(140)[120:])
    assert store.keep(session, 130) == kept(tiny, store, 120)


def test_answers_go_on_from_disk_after_a_restart(
    tiny_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.prefix_store.MIN_TOKENS", 100)
    folder = tmp_path / "prefixes"

    def answer(prompt: list[int]) -> tuple[list[int], Finished]:
        model = engine.load(tiny_path, dtype="float32", prefix_folder=folder)
        events = list(model.session(context=512).generate(prompt, Sampling(temperature=0), 4))
        assert isinstance(events[-1], Finished)
        return [event.id for event in events if isinstance(event, TokenDecoded)], events[-1]

    said, first = answer(ids(150))
    assert first.usage.cached_tokens == 0
    following = [*ids(150), *said, 9, 8, 7]
    again, second = answer(following)
    assert second.usage.cached_tokens == 153
    plain = engine.load(tiny_path, dtype="float32").session(context=512)
    expected = plain.generate(following, Sampling(temperature=0), 4)
    assert again == [event.id for event in expected if isinstance(event, TokenDecoded)]
