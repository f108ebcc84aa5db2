"""Chips of many documents: what is shown is what was told last, in its order, and only what changed is drawn again."""

import itertools
import random

import pytest
from pytestqt.qtbot import QtBot

from app.chat.models import DocumentInfo, PendingDocument, PendingState
from app.composer import chips
from app.composer.chips import Chip, ChipList
from app.theme import dark_palette, light_palette, theme_from_palette

WAIT_MS = 20_000


def reading(key: int) -> PendingDocument:
    return PendingDocument(key, f"file {key}", PendingState.READING)


def read(document: PendingDocument, key: int, tokens: int | None = None) -> PendingDocument:
    """The same document when the store has it, under another key."""
    info = DocumentInfo(key, document.name, 10, 10, tokens, "", "")
    return PendingDocument(key, document.name, PendingState.READY, info)


def shown(chip_list: ChipList) -> list[Chip]:
    """From top to bottom."""
    found = [chip_list._rows.itemAt(place).widget() for place in range(chip_list._rows.count())]
    return [chip for chip in found if isinstance(chip, Chip)]


def wait_for(qtbot: QtBot, chip_list: ChipList, documents: tuple[PendingDocument, ...]) -> None:
    def is_shown() -> bool:
        found = shown(chip_list)
        return [chip.key for chip in found] == [document.key for document in documents] and all(
            chip.shows(document, chip_list._theme) for chip, document in zip(found, documents, strict=True)
        )

    qtbot.waitUntil(is_shown, timeout=WAIT_MS)
    assert [chip.title for chip in shown(chip_list)] == [document.name for document in documents]


@pytest.fixture
def chip_list(qtbot: QtBot) -> ChipList:
    chip_list = ChipList(theme_from_palette(light_palette()))
    qtbot.addWidget(chip_list)
    return chip_list


def test_only_what_changed_is_drawn_again(qtbot: QtBot, chip_list: ChipList, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = tuple(reading(-number) for number in range(1, 31))
    chip_list.show_documents(documents)
    wait_for(qtbot, chip_list, documents)
    widgets = shown(chip_list)
    drawn: list[int] = []
    show_document = Chip.show_document

    def record(chip: Chip, document: PendingDocument, *arguments: object) -> None:
        drawn.append(document.key)
        show_document(chip, document, *arguments)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(Chip, "show_document", record)
    for place in (3, 17):
        documents = (*documents[:place], read(documents[place], place), *documents[place + 1 :])
        chip_list.show_documents(documents)
        wait_for(qtbot, chip_list, documents)
    assert drawn == [3, 17]
    assert shown(chip_list) == widgets  # the keyboard stays where it is
    chip_list.set_theme(theme_from_palette(dark_palette()))
    wait_for(qtbot, chip_list, documents)
    assert len(drawn) == 2 + len(documents)


@pytest.mark.parametrize("piece_s", [0.0, 1000.0], ids=["one a round", "all at once"])
def test_any_changes_end_in_what_was_told_last(
    qtbot: QtBot, chip_list: ChipList, monkeypatch: pytest.MonkeyPatch, piece_s: float
) -> None:
    monkeypatch.setattr(chips, "_PIECE_S", piece_s)
    chance, keys = random.Random(5), itertools.count(1)
    documents: tuple[PendingDocument, ...] = ()
    for number in range(60):
        kept = [document for document in documents if chance.random() < 0.8]
        changed = [read(document, next(keys)) if chance.random() < 0.3 else document for document in kept]
        documents = (*changed, *(reading(-next(keys)) for _ in range(chance.randrange(4))))
        chip_list.show_documents(documents)
        if chance.random() < 0.3:
            qtbot.wait(0)
        if number % 6 == 0:
            wait_for(qtbot, chip_list, documents)
    wait_for(qtbot, chip_list, documents)
    chip_list.show_documents(())
    assert shown(chip_list) == []
    assert chip_list.isHidden()
