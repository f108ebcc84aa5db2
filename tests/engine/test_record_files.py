"""Files of records: a name of their own each, damaged ones named and left alone, other errors not swallowed."""

from pathlib import Path

import pytest

from engine.errors import UserError
from engine.record_files import load_all, save_new


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _number(path: Path) -> int:
    text = path.read_text()
    if text == "?":
        raise UserError(f"{path.name} is no number.")
    return int(text)


def test_a_file_is_named_by_its_title_and_never_written_over(tmp_path: Path) -> None:
    paths = [save_new("2026-01-02T03:04:05+00:00 / ../quick", str(n), tmp_path, _write) for n in (1, 2, 3)]
    assert [path.name for path in paths] == [f"2026-01-02T03-04-05-00-00-quick{end}.json" for end in ("", "-2", "-3")]
    assert [path.parent for path in paths] == [tmp_path] * 3
    assert sorted(load_all(tmp_path, _number)[0]) == [1, 2, 3]


def test_a_file_that_is_refused_is_told_beside_the_others(tmp_path: Path) -> None:
    for name, text in (("b", "2"), ("a", "1"), ("bad", "?")):
        save_new(name, text, tmp_path, _write)
    (tmp_path / "notes.txt").write_text("not a record")
    assert load_all(tmp_path, _number) == ([1, 2], ("bad.json is no number.",))
    assert (tmp_path / "bad.json").read_text() == "?"


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert load_all(tmp_path / "none", _number) == ([], ())


def test_what_is_no_users_error_is_not_hidden(tmp_path: Path) -> None:
    save_new("text", "words", tmp_path, _write)
    with pytest.raises(ValueError, match="words"):
        load_all(tmp_path, _number)
