"""Icons of the window: one symbolic SVG set in resources/icons, drawn in the colour of the theme. GUI thread.

Every SVG is written with `currentColor`; the colour is put in before rendering, so one file serves both themes.
"""

from functools import lru_cache
from importlib import resources

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.theme import Theme, mix

_SIZES = (16, 20, 24, 32, 48)  # 16 device-independent pixels at 100 % to 300 %


@lru_cache(maxsize=128)
def _source(name: str) -> str:
    return (resources.files("resources") / "icons" / f"{name}.svg").read_text(encoding="utf-8")


def svg_source(name: str, colour: str) -> str:
    """The SVG text of an icon in one colour."""
    return _source(name).replace("currentColor", colour)


def pixmap(name: str, colour: str, size: int) -> QPixmap:
    """One icon at one size in device pixels."""
    return _drawn(_renderer(name, colour), size)


def _renderer(name: str, colour: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(svg_source(name, colour).encode()))


def _drawn(renderer: QSvgRenderer, size: int, width: int | None = None) -> QPixmap:
    """The icon in the middle of a pixmap `size` high and `width` (or as much) wide."""
    width = width or size
    result = QPixmap(width, size)
    result.fill(QColor(Qt.GlobalColor.transparent))
    painter = QPainter(result)
    renderer.render(painter, QRectF((width - size) / 2, 0, size, size))
    painter.end()
    return result


@lru_cache(maxsize=512)
def _icon(name: str, colour: str, disabled: str, share: float = 1.0) -> QIcon:
    icon = QIcon()
    for mode, tone in ((QIcon.Mode.Normal, colour), (QIcon.Mode.Disabled, disabled)):
        renderer = _renderer(name, tone)
        for size in _SIZES:
            icon.addPixmap(_drawn(renderer, size, round(share * size)), mode)
    return icon


def icon(name: str, theme: Theme, colour: str | None = None) -> QIcon:
    """The icon in the theme's text colour (or the given one), dimmed when disabled."""
    tone = colour or theme.text
    return _icon(name, tone, mix(tone, theme.base, 0.55))


BESIDE_TEXT = QSize(22, 16)


def icon_beside_text(name: str, theme: Theme, colour: str | None = None) -> QIcon:
    """An icon with room at its sides, for a button with words (set its icon size to BESIDE_TEXT): a style sheet knows
    no gap between the two."""
    tone = colour or theme.text
    return _icon(name, tone, mix(tone, theme.base, 0.55), BESIDE_TEXT.width() / BESIDE_TEXT.height())
