"""The window's language: our translations and Qt's own, and the number formats that go with them. GUI thread, once at
start."""

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from resources import ROOT

_FOLDER = ROOT / "translations"
_FALLBACK = "en"  # its file holds the plural forms of the source language


def available_languages() -> tuple[str, ...]:
    """Codes of the languages that there is a translation for."""
    return tuple(sorted(path.stem.removeprefix("haloband_") for path in _FOLDER.glob("haloband_*.qm")))


def install_language(app: QApplication, choice: str) -> str:
    """Put a language on the application: `choice`, or the system's if that is empty. Returns the code in force.

    A language that is asked for by name also gives the window's direction when there is no translation of it, as one
    wants to see who makes one. The system's does not: English from right to left helps nobody.
    """
    locale = QLocale(choice) if choice else QLocale.system()
    language = locale.name().split("_")[0]
    is_translated = language in available_languages()
    if not is_translated:
        language = _FALLBACK
    QLocale.setDefault(locale if is_translated else _formats_beside_english(locale))
    for translator in app.findChildren(QTranslator):  # of an earlier choice
        app.removeTranslator(translator)
        translator.deleteLater()
    _install(app, f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    _install(app, f"haloband_{language}", str(_FOLDER))
    app.setLayoutDirection((locale if choice else QLocale(language)).textDirection())
    return language


def _formats_beside_english(locale: QLocale) -> QLocale:
    """The locale's own, but English ones for a bare machine, which would not group digits, and in place of digits of
    another script, because the engine's sentences have 0 to 9."""
    is_readable = locale.language() is not QLocale.Language.C and locale.zeroDigit() == "0"
    return locale if is_readable else QLocale(QLocale.Language.English)


def _install(app: QApplication, name: str, folder: str) -> None:
    translator = QTranslator(app)
    if translator.load(name, folder):
        app.installTranslator(translator)
