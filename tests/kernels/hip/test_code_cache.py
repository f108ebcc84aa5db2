"""The code-object cache: what the key covers, damage, several writers, and a folder that cannot be written."""

import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from kernels.cache import CodeCache, default_folder
from kernels.source import KernelSource

SOURCE = KernelSource("norm_rope", "norm_rope", (("WIDTH", 64),), 256)


@dataclass(frozen=True)
class CountingBuilder:
    """A builder that counts its builds."""

    target: str = "gfx1151"
    identity: str = "test 1"
    options: tuple[str, ...] = ("-O3",)
    built: list[str] = field(default_factory=list)

    def build(self, source: KernelSource) -> bytes:
        self.built.append(source.label)
        return f"{self.identity} {source.label}".encode()


def test_a_kernel_is_built_once_and_then_read(tmp_path: Path) -> None:
    builder = CountingBuilder()
    first = CodeCache(tmp_path / "new" / "folder").get(SOURCE, builder)
    again = CodeCache(tmp_path / "new" / "folder").get(SOURCE, builder)
    assert first == again == b"test 1 norm_rope(WIDTH=64)"
    assert len(builder.built) == 1
    assert [path.suffix for path in (tmp_path / "new" / "folder").iterdir()] == [".co"]


def test_the_key_covers_source_shape_options_compiler_and_target(tmp_path: Path) -> None:
    cache, builder = CodeCache(tmp_path), CountingBuilder()
    keys = {
        cache.key(SOURCE, builder),
        cache.key(replace(SOURCE, defines=(("WIDTH", 128),)), builder),
        cache.key(replace(SOURCE, name="router", file="router"), builder),
        cache.key(SOURCE, replace(builder, target="gfx1150")),
        cache.key(SOURCE, replace(builder, identity="test 2")),
        cache.key(SOURCE, replace(builder, options=("-O2",))),
    }
    assert len(keys) == 6


def test_the_key_covers_the_headers_a_kernel_includes(tmp_path: Path) -> None:
    assert "wave_sum" in SOURCE.text() and "round_e4m3" in SOURCE.text() and "thread_index" in SOURCE.text()


def test_a_damaged_file_is_built_again(tmp_path: Path) -> None:
    cache, builder = CodeCache(tmp_path), CountingBuilder()
    image = cache.get(SOURCE, builder)
    (stored,) = tmp_path.iterdir()
    whole = stored.read_bytes()
    for damage in (b"", whole[:20], whole[:-1], whole[:-1] + b"?", b"\0" * len(whole)):
        stored.write_bytes(damage)
        assert cache.get(SOURCE, builder) == image
        assert stored.read_bytes() == whole
    assert len(builder.built) == 6


def test_writers_at_the_same_time_leave_one_whole_file(tmp_path: Path) -> None:
    cache, results = CodeCache(tmp_path), []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        results.append(cache.get(SOURCE, CountingBuilder()))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1 and len(results) == 8
    assert len(list(tmp_path.iterdir())) == 1
    assert cache.get(SOURCE, CountingBuilder()) == results[0]


def age(path: Path, days: float) -> None:
    then = time.time() - days * 24 * 3600
    os.utime(path, (then, then))


def test_forms_that_nobody_read_for_long_go_when_a_new_one_is_written(tmp_path: Path) -> None:
    cache, builder = CodeCache(tmp_path), CountingBuilder()

    def stored(source: KernelSource, identity: str) -> Path:
        made = replace(builder, identity=identity)
        cache.get(source, made)
        return tmp_path / cache.key(source, made)

    other = replace(SOURCE, name="norm_rope_2", file="norm_rope")
    old, recent, read = (stored(SOURCE, identity) for identity in ("old", "recent", "read"))
    of_another, unfinished = stored(other, "old"), tmp_path / ".building-x"
    unfinished.write_bytes(b"half")
    for path, days in ((old, 91), (recent, 89), (read, 400), (of_another, 91), (unfinished, 91)):
        age(path, days)
    assert stored(SOURCE, "read") == read
    assert all(path.exists() for path in (old, recent, read, of_another, unfinished)), "reading removes nothing"
    new = stored(SOURCE, "new")
    assert set(tmp_path.iterdir()) == {recent, read, of_another, new}
    assert len(builder.built) == 5


def test_processes_that_clean_at_the_same_time_all_get_their_code(tmp_path: Path) -> None:
    """One reads what another removes, and two remove the same."""
    cache, shapes, results = CodeCache(tmp_path), range(64, 64 + 12 * 32, 32), list[bytes]()
    sources = [replace(SOURCE, defines=(("WIDTH", width),)) for width in shapes]
    barrier = threading.Barrier(8)
    for source in sources:
        cache.get(source, CountingBuilder())

    def work() -> None:
        barrier.wait()
        for source in sources:
            for path in tmp_path.glob("*.co"):
                with suppress(FileNotFoundError):
                    age(path, 400)
            results.append(cache.get(source, CountingBuilder()))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == sorted(f"test 1 {source.label}".encode() for source in sources for _ in threads)


def test_a_folder_that_is_only_read_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache, builder = CodeCache(tmp_path), CountingBuilder()
    image = cache.get(SOURCE, builder)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "utime", refuse)
    assert cache.get(SOURCE, builder) == image
    assert len(builder.built) == 1


def test_a_folder_that_cannot_be_made_costs_only_the_build(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache, builder = CodeCache(tmp_path / "file" / "cache"), CountingBuilder()
    assert cache.get(SOURCE, builder) == cache.get(SOURCE, builder)
    assert len(builder.built) == 2


def test_the_default_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "haloband" / "kernels"
