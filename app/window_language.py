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
    """Put a language on the application: `choice`, or the system's if that is empty. Returns the code in force."""
    locale = QLocale(choice) if choice else QLocale.system()
    language = locale.name().split("_")[0]
    if language not in available_languages():
        language = _FALLBACK
        if locale.language() is QLocale.Language.C:  # a bare machine: still group digits as English does
            locale = QLocale(QLocale.Language.English)
    if choice:
        QLocale.setDefault(locale)
    elif QLocale.system().language() is QLocale.Language.C:
        QLocale.setDefault(QLocale(QLocale.Language.English))
    for translator in app.findChildren(QTranslator):  # of an earlier choice
        app.removeTranslator(translator)
        translator.deleteLater()
    _install(app, f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    _install(app, f"haloband_{language}", str(_FOLDER))
    app.setLayoutDirection(locale.textDirection())
    return language


def _install(app: QApplication, name: str, folder: str) -> None:
    translator = QTranslator(app)
    if translator.load(name, folder):
        app.installTranslator(translator)
