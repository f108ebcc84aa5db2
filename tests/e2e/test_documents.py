"""Long pastes and dropped files reach the embedded model, or it is said why not."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent

from app.composer.chips import Chip
from app.transcript.model import MessageState
from tests.app.documents.test_reading import pdf_bytes
from tests.app.window.driver import WindowDriver

MEGABYTE = 1 << 20


def chips(real: WindowDriver) -> list[Chip]:
    return [chip for chip in real.composer.chips.findChildren(Chip) if not chip.isHidden()]


@pytest.mark.parametrize(
    "text", ["a line of text\n" * (MEGABYTE // 15), "word " * (MEGABYTE // 5)], ids=["lines", "one"]
)
def test_a_megabyte_is_a_chip_with_its_tokens_and_is_refused_with_numbers(real: WindowDriver, text: str) -> None:
    real.paste(text)
    real.wait(lambda: chips(real) and "– tokens" not in chips(real)[0].accessibleName())
    real.type("Summarise this.")
    real.wait(lambda: real.composer.meter.is_over)
    real.press(Qt.Key.Key_Return)
    real.wait(real.composer.refusal.isVisible)
    assert "16,384" in real.composer.refusal.text
    assert real.messages == []
    chips(real)[0].remove_button.click()
    real.wait(lambda: not real.composer.meter.is_over)
    assert real.ask("").state is MessageState.COMPLETE


def test_a_dropped_pdf_is_read_and_answered(real: WindowDriver, tmp_path: Path) -> None:
    path = tmp_path / "halo.pdf"
    path.write_bytes(pdf_bytes(["The capital of the halo is light."]))
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    drop = QDropEvent(
        QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    real.composer.field.dropEvent(drop)
    real.wait(lambda: chips(real) and chips(real)[0].property("state") == "ready")
    real.ask("What is the capital?")
    assert real.messages[0].attachments[0].name == "halo.pdf"
    shown: list[str] = []
    real.chats.document_text_ready.connect(lambda _key, text: shown.append(text))
    real.chats.request_document_text(real.messages[0].attachments[0].id)
    real.wait(lambda: shown)
    assert "capital of the halo" in shown[0]
