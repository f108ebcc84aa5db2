"""Every text of the app is found, translated with the same placeholders, and compiled."""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication

from app.window_language import available_languages, install_language

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """packaging/translations.py, which is a script and no package."""
    spec = importlib.util.spec_from_file_location("translations", ROOT / "packaging" / "translations.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["translations"] = module
    spec.loader.exec_module(module)
    return module


def test_texts_are_found_in_every_form(tool: ModuleType) -> None:
    code = """
def _tr(text: str, n: int = -1) -> str:
    return QCoreApplication.translate("Context", text, None, n)
class Page:
    def show(self) -> None:
        _tr("short"); self.tr("by class"); QCoreApplication.translate("Other", "named"); _tr("%Ln thing(s)", 3)
LATER = QT_TRANSLATE_NOOP("Table", "stored")
"""
    found = {(text.context, text.source) for text in tool.texts_in(code)}
    assert found == {
        ("Context", "short"),
        ("Page", "by class"),
        ("Other", "named"),
        ("Context", "%Ln thing(s)"),
        ("Table", "stored"),
    }


def test_the_files_are_up_to_date(tool: ModuleType) -> None:
    """Run `python packaging/translations.py` and fill what it calls unfinished."""
    texts = tool.all_texts()
    for language in tool.LANGUAGES:
        known = tool.read_ts(tool.FOLDER / f"haloband_{language}.ts")
        wanted = {text for text in texts if text.is_plural} if language == "en" else texts
        assert wanted - known.keys() == set(), language
        assert known.keys() - wanted == set(), language


@pytest.mark.parametrize("language", ["de", "en"])
def test_translations_have_the_placeholders_of_their_source(tool: ModuleType, language: str) -> None:
    for text, forms in tool.read_ts(tool.FOLDER / f"haloband_{language}.ts").items():
        wanted = sorted(re.findall(r"\{[^}]*\}", text.source))
        for form in forms:
            assert sorted(re.findall(r"\{[^}]*\}", form)) == wanted, text
        if text.is_plural:
            assert len(forms) == 2 and "%" in forms[1], text


def test_compiled_files_are_those_of_the_texts(tool: ModuleType, tmp_path: Path) -> None:
    for language in tool.LANGUAGES:
        fresh = tmp_path / f"{language}.qm"
        tool.make_qm(tool.FOLDER / f"haloband_{language}.ts", fresh)
        assert fresh.read_bytes() == (tool.FOLDER / f"haloband_{language}.qm").read_bytes()


@pytest.fixture
def english_again(qapp: QApplication) -> Iterator[None]:
    yield
    install_language(qapp, "en")


def test_a_language_is_put_on_with_its_plurals_and_numbers(english_again: None, qapp: QApplication) -> None:
    assert set(available_languages()) == {"de", "en"}
    assert install_language(qapp, "de") == "de"
    assert QCoreApplication.translate("Formats", "%Ln token(s)", None, 1234) == "1.234 Tokens"
    assert QCoreApplication.translate("Sidebar", "New chat") == "Neuer Chat"
    assert install_language(qapp, "xx") == "en"
    assert install_language(qapp, "en") == "en"
    assert QCoreApplication.translate("Formats", "%Ln token(s)", None, 1) == "1 token"
    assert QCoreApplication.translate("Sidebar", "New chat") == "New chat"


@pytest.mark.parametrize(
    ("locale", "choice", "wanted"),
    [
        ("ar_EG.UTF-8", "", "en LeftToRight 12,345.6"),  # digits of another script
        ("he_IL.UTF-8", "", "en LeftToRight 12,345.6"),
        ("it_IT.UTF-8", "", "en LeftToRight 12.345,6"),
        ("de_DE.UTF-8", "", "de LeftToRight 12.345,6"),
        ("C.UTF-8", "", "en LeftToRight 12,345.6"),
        ("de_DE.UTF-8", "en", "en LeftToRight 12,345.6"),
        ("de_DE.UTF-8", "xx", "en LeftToRight 12,345.6"),
        ("C.UTF-8", "ar_EG", "en RightToLeft 12,345.6"),  # asked for by name, for who makes a translation
    ],
)
def test_an_untranslated_system_gets_an_english_window(locale: str, choice: str, wanted: str) -> None:
    program = (
        "from PySide6.QtCore import QLocale\n"
        "from PySide6.QtWidgets import QApplication\n"
        "from app.window_language import install_language\n"
        "app = QApplication([])\n"
        f"language = install_language(app, {choice!r})\n"
        "print(language, app.layoutDirection().name, QLocale().toString(12345.6, 'f', 1))\n"
    )
    environment = {**os.environ, "LC_ALL": locale, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == wanted
