"""Text in any common encoding is read as what it says; bytes that are no text are refused by name."""

import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.commands.text_files import decode_text, read_text_file
from app.errors import DocumentError

FRENCH = "Ils ont été très contents de découvrir où se trouvait la bibliothèque; l'hôtel est plein. Ça, c'est sûr.\n"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\ufeff")))
def test_utf_8_is_never_guessed_at(text: str) -> None:
    assert decode_text(text.encode(), "x") == text
    assert decode_text(codecs.BOM_UTF8 + text.encode(), "x") == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "latin-1"),
        ("El niño comió piñas por la mañana", "latin-1"),
        ("Füße und Äpfel, größer als gewöhnlich. „Straße“ – 5 €\n" * 20, "cp1252"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy. " * 5, "cp1250"),
        ("Съешь же ещё этих мягких французских булок, да выпей чаю. " * 5, "cp1251"),
        (FRENCH, "utf-16"),
        (FRENCH, "utf-32"),
    ],
)
def test_other_encodings_are_recognised(text: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(text.encode(encoding))
    assert read_text_file(path) == text


def test_line_ends_become_one_kind() -> None:
    assert decode_text(b"a\r\nb\rc\n", "x") == "a\nb\nc\n"


@pytest.mark.parametrize("content", [b"text\0with zero", bytes(range(256)) * 20, b"\x7fELF\x02\x01\x01" + bytes(60)])
def test_bytes_that_are_no_text_are_refused(content: bytes) -> None:
    with pytest.raises(DocumentError, match="thing is not a text file"):
        decode_text(content, "thing")


@pytest.mark.parametrize("name", ["absent", "."])
def test_what_cannot_be_read_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=str(tmp_path)):
        read_text_file(tmp_path / name)
