"""Text files in any common encoding are read as what they say; bytes that are no text are refused by name."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.documents.plain_text import decode
from app.errors import DocumentError

FRENCH = "Ils ont été très contents de découvrir où se trouvait la bibliothèque; l'hôtel est plein. Ça, c'est sûr.\n"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")))
def test_utf_8_is_never_guessed_at(text: str) -> None:
    assert decode("x", text.encode()) == text
    assert decode("x", codecs.BOM_UTF8 + text.encode()) == text


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
def test_other_encodings_are_recognised(text: str, encoding: str) -> None:
    assert decode("x", text.encode(encoding)) == text


@pytest.mark.parametrize("content", [bytes(range(256)) * 20, b"\x7fELF\x02\x01\x01" + bytes(60)])
def test_bytes_that_are_no_text_are_refused(content: bytes) -> None:
    with pytest.raises(DocumentError, match="thing is not a text"):
        decode("thing", content)
