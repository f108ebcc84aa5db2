"""The frozen tapes: their hashes, their lengths, and what happens with a tokenizer nobody froze tapes for."""

import json
from pathlib import Path

import pytest

import resources
from engine.errors import UserError
from engine.gguf.reader import GgufFile
from engine.qualify.freeze import freeze
from engine.qualify.records import Domain
from engine.qualify.tapes import (
    TAPE_TOKENS,
    TAPES,
    ids_sha256,
    load_tapes,
    make_tape,
    read_tape_files,
    tokenizer_sha256,
)
from engine.tokenizer import Tokenizer


class Letters:
    """One token a letter."""

    vocab_size, bos = 300, 0

    def encode(self, text: str) -> list[int]:
        return [1 + byte for byte in text.encode()]

    def piece(self, id: int) -> bytes:
        return bytes([id - 1]) if 0 < id <= 256 else b""


@pytest.fixture(scope="module")
def nano() -> Tokenizer:
    return Tokenizer.from_gguf(GgufFile.open(resources.embedded_model()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for domain in Domain:
        (tmp_path / f"{domain.value}.txt").write_text(f"The {domain.value} text. " * 1000)
    return tmp_path


def test_hash_of_ids_worked_out_by_hand() -> None:
    # sha256 of the bytes 01 00 00 00 00 01 00 00
    assert ids_sha256([1, 256]) == "242045e2f1bb37769b514f182fd91b3d215324cb57f187cced1e9c62921dbac3"


def test_the_shipped_tapes_are_whole() -> None:
    files = read_tape_files()
    assert {file.tokenizer for file in files} == {"ds4-nano", "ds4-nano-2", "ds4-nano-3", "deepseek-v4"}
    for file in files:
        assert {tape.domain for tape in file.tapes} == set(Domain)
        assert {len(tape.ids) for tape in file.tapes} == {TAPE_TOKENS}
        assert len({tape.ids_sha256 for tape in file.tapes}) == len(Domain)


def test_the_embedded_models_tapes_are_frozen_and_its_tokenizer_still_makes_them(nano: Tokenizer) -> None:
    tapes = load_tapes(nano)
    assert all(tape.is_frozen for tape in tapes.values())
    for domain in Domain:
        assert make_tape(domain, nano).ids == tapes[domain].ids


def test_an_unknown_tokenizer_gets_tapes_that_are_not_frozen(folder: Path) -> None:
    tapes = load_tapes(Letters(), folder)
    assert set(tapes) == set(Domain)
    assert not any(tape.is_frozen for tape in tapes.values())
    assert tapes[Domain.CODE].ids[0] == Letters.bos
    assert bytes(id - 1 for id in tapes[Domain.CODE].ids[1:9]) == b"The code"


def test_frozen_tapes_outlive_a_change_of_the_text(folder: Path) -> None:
    before = load_tapes(Letters(), folder)
    freeze("letters", Letters(), folder)
    (folder / "code.txt").write_text("something else " * 1000)
    after = load_tapes(Letters(), folder)
    assert after[Domain.CODE].ids == before[Domain.CODE].ids
    assert all(tape.is_frozen for tape in after.values())


def test_the_same_ids_from_another_vocabulary_are_the_frozen_tape(folder: Path) -> None:
    class More(Letters):
        vocab_size = 400

    freeze("letters", Letters(), folder)
    assert tokenizer_sha256(More()) != tokenizer_sha256(Letters())
    assert all(tape.is_frozen for tape in load_tapes(More(), folder).values())


def test_a_frozen_tape_is_never_changed(folder: Path) -> None:
    freeze("letters", Letters(), folder)
    with pytest.raises(UserError, match="never changed"):
        freeze("letters", Letters(), folder)


def test_a_changed_id_is_noticed(folder: Path) -> None:
    path = freeze("letters", Letters(), folder)
    data = json.loads(path.read_text())
    data["tapes"][1]["ids"][77] += 1
    path.write_text(json.dumps(data))
    with pytest.raises(UserError, match=r"code in letters\.json does not have the hash"):
        load_tapes(Letters(), folder)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"tokenizer": 3}'])
def test_a_damaged_tape_file_is_named(folder: Path, content: str) -> None:
    (folder / "broken.json").write_text(content)
    with pytest.raises(UserError, match=r"broken\.json are damaged"):
        read_tape_files(folder)


def test_a_text_that_is_too_short_is_named(folder: Path) -> None:
    (folder / "agent.txt").write_text("short")
    with pytest.raises(UserError, match="agent tape gives 6 tokens"):
        make_tape(Domain.AGENT, Letters(), folder)


def test_every_text_has_its_origin_and_licence_told() -> None:
    told = (TAPES / "README.md").read_text()
    for domain in Domain:
        assert f"{domain.value}.txt" in told
