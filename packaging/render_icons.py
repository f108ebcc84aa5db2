"""Draw the PNG sizes of the app's icon from its SVG: `python packaging/render_icons.py`, after changing the SVG."""

import os
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

ICONS = Path(__file__).resolve().parent.parent / "resources" / "icons" / "app"
SIZES = (512, 128)


def render(size: int) -> QImage:
    """The icon at `size` pixels, on transparent ground. Needs a QGuiApplication."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(QColor(0, 0, 0, 0))
    painter = QPainter(image)
    QSvgRenderer(str(ICONS / "io.github.haloband.Haloband.svg")).render(painter, QRectF(0, 0, size, size))
    painter.end()
    return image


def main() -> None:
    app = QGuiApplication([])
    for size in SIZES:
        render(size).save(str(ICONS / f"{size}.png"))
    del app


if __name__ == "__main__":
    main()
