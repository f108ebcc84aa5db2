"""Which theme and text size are on. One per program, on the GUI thread; built by `main_window.run_app`.

Holds the system's own palette and font as they were at start, so that "system" can be returned to, and switches live:
palette, style sheet and font are set on the application, then `changed` lets painted widgets redraw.
"""

import logging
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTemporaryDir, Signal
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from app.settings import Theme as ThemeChoice
from app.theme import Theme, dark_palette, light_palette, theme_from_palette
from app.widgets.icons import svg_source
from app.widgets.stylesheet import SHEET_ICONS, stylesheet

log = logging.getLogger("haloband.theme")

SMALL, BODY, TITLE = 0.88, 1.0, 1.28  # the three sizes, times the body size
MIN_SCALE, MAX_SCALE = 0.5, 3.0
_SMALLEST_SYSTEM_PT = 10.0  # a desktop without font settings reports 9 pt, too small to read all day


def _application() -> QApplication:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    return app


class ThemeController(QObject):
    """Applies a theme choice and a text scale to the whole application."""

    changed = Signal(object)  # Theme

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        app = _application()
        app.setStyle("Fusion")
        self._system_palette = QPalette(app.palette())
        self._system_font = QFont(app.font())
        self._folder = QTemporaryDir()
        self._choice = ThemeChoice.SYSTEM
        self._scale = 1.0
        self._theme = theme_from_palette(self._palette())
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_scheme_changed)

    @property
    def theme(self) -> Theme:
        return self._theme

    @property
    def choice(self) -> ThemeChoice:
        return self._choice

    @property
    def scale(self) -> float:
        return self._scale

    def set_look(self, choice: ThemeChoice, scale: float) -> None:
        """Put a theme and a text size on."""
        self._choice = choice
        self._scale = min(MAX_SCALE, max(MIN_SCALE, scale))
        self.apply()

    def apply(self) -> None:
        """Set palette, font and style sheet on the application and tell everybody.

        Without the old sheet while they change: in place of another, a sheet takes Qt five times as long.
        """
        app = _application()
        app.setStyleSheet("")
        palette = self._palette()
        self._theme = theme_from_palette(palette)
        app.setPalette(palette)
        app.setFont(self.font())
        small, title = self.font(SMALL).pointSizeF(), self.font(TITLE).pointSizeF()
        app.setStyleSheet(stylesheet(self._theme, small, title, self._write_icons()))
        self.changed.emit(self._theme)

    def restore(self) -> None:
        """Give the application back its own look, as it was before this controller was made."""
        app = _application()
        app.setStyleSheet("")
        app.setPalette(self._system_palette)
        app.setFont(self._system_font)

    def _write_icons(self) -> str:
        """Put the style sheet's icons, in the theme's colours, where it can name them."""
        folder = Path(self._folder.path()) / ("dark" if self._theme.is_dark else "light")
        try:
            folder.mkdir(exist_ok=True)
            for name, colour in SHEET_ICONS.items():
                text = svg_source(name, getattr(self._theme, colour))
                (folder / f"{name}.svg").write_text(text, encoding="utf-8")
        except OSError as error:  # a full disk costs two small marks, not the window
            log.warning("no icons for the style sheet: %s", error)
        return folder.as_posix()

    def font(self, size: float = BODY) -> QFont:
        """The interface font at one of the three sizes."""
        font = QFont(self._system_font)
        font.setPointSizeF(max(_SMALLEST_SYSTEM_PT, self._system_font.pointSizeF()) * self._scale * size)
        return font

    def numeric_font(self, size: float = SMALL) -> QFont:
        """The interface font with digits of one width, for numbers that change while one looks."""
        font = self.font(size)
        font.setFeature(QFont.Tag("tnum"), 1)
        return font

    def code_font(self, size: float = 0.95) -> QFont:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(self.font(size).pointSizeF())
        font.setStyleHint(QFont.StyleHint.Monospace)
        return font

    def _palette(self) -> QPalette:
        if self._choice is ThemeChoice.LIGHT:
            return light_palette()
        if self._choice is ThemeChoice.DARK:
            return dark_palette()
        scheme = QGuiApplication.styleHints().colorScheme()
        if scheme is Qt.ColorScheme.Unknown:  # no desktop theme: Fusion's stock grey is nobody's choice
            return light_palette()
        return self._system_palette

    def _on_system_scheme_changed(self) -> None:
        """The desktop switched: take its new palette, which Qt sets only where we have set none."""
        app = _application()
        app.setPalette(QPalette())
        self._system_palette = QPalette(app.style().standardPalette()) if self._is_bare() else QPalette(app.palette())
        if self._choice is ThemeChoice.SYSTEM:
            self.apply()

    @staticmethod
    def _is_bare() -> bool:
        return QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Unknown
