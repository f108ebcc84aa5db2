"""Gathers the texts of the app for translators and makes the files that Qt loads.

    python packaging/translations.py            update the .ts files from the source, then make the .qm files
    python packaging/translations.py --check    exit 1 if a run would change anything or German is unfinished

Qt's own lupdate does not know our short `_tr`, so texts are found in the syntax tree: `_tr("text")` with the context
that the module's `_tr` names, `translate("Context", "text")`, QT_TRANSLATE_NOOP, and `self.tr`. A text with %n or %Ln
has plural forms. `haloband_en.ts` holds only those; `haloband_de.ts` holds every text.

What the engine and the doctor say (packaging/sentence_finder.py) is in the context "Sentences", and listed in
`sentences.json`, by which the window knows it again.
"""

import argparse
import ast
import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from sentence_finder import find_sentences

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "translations"
LANGUAGES = ("en", "de")
PLURAL_FORMS = 2  # English and German
SENTENCES, SENTENCES_FILE = "Sentences", FOLDER / "sentences.json"


@dataclass(frozen=True, order=True)
class Text:
    """One text of the source."""

    context: str
    source: str

    @property
    def is_plural(self) -> bool:
        return "%n" in self.source or "%Ln" in self.source


def texts_in(code: str) -> set[Text]:
    """Every translatable text of a module."""
    tree = ast.parse(code)
    return set(_walk(tree, _context_of_tr(tree), ""))


def _context_of_tr(tree: ast.Module) -> str | None:
    """The context that the module's own `_tr` translates in."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "_tr":
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and _name(call) == "translate" and _constant(call, 0):
                    return _constant(call, 0)
    return None


def _walk(node: ast.AST, tr_context: str | None, class_name: str) -> Iterator[Text]:
    if isinstance(node, ast.ClassDef):
        class_name = node.name
    if isinstance(node, ast.Call):
        name = _name(node)
        first, second = _constant(node, 0), _constant(node, 1)
        if name == "_tr" and tr_context and first:
            yield Text(tr_context, first)
        elif name in ("translate", "QT_TRANSLATE_NOOP") and first and second:
            yield Text(first, second)
        elif name == "tr" and isinstance(node.func, ast.Attribute) and first:
            yield Text(class_name, first)
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, tr_context, class_name)


def _name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _constant(call: ast.Call, index: int) -> str | None:
    argument = call.args[index] if index < len(call.args) else None
    return argument.value if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else None


def all_texts() -> set[Text]:
    """Every translatable text of the app."""
    found: set[Text] = set()
    for path in sorted((ROOT / "app").rglob("*.py")):
        found |= texts_in(path.read_text(encoding="utf-8"))
    return found | {Text(SENTENCES, sentence) for sentence in find_sentences()}


def make_list(texts: set[Text]) -> str:
    """The text of sentences.json."""
    sentences = sorted(text.source for text in texts if text.context == SENTENCES)
    return json.dumps(sentences, ensure_ascii=False, indent=0) + "\n"


def read_ts(path: Path) -> dict[Text, tuple[str, ...]]:
    """Finished translations of a .ts file: one text, or one for each plural form."""
    if not path.exists():
        return {}
    known: dict[Text, tuple[str, ...]] = {}
    for context in ET.parse(path).getroot().iter("context"):
        name = context.findtext("name") or ""
        for message in context.iter("message"):
            translation = message.find("translation")
            if translation is None:
                continue
            forms = [form.text or "" for form in translation.iter("numerusform")] or [translation.text or ""]
            if all(forms):
                known[Text(name, message.findtext("source") or "")] = tuple(forms)
    return known


def make_ts(language: str, texts: set[Text], known: dict[Text, tuple[str, ...]]) -> str:
    """The text of a .ts file: all texts, with the translations that are known."""
    root = ET.Element("TS", version="2.1", language=language, sourcelanguage="en")
    contexts: dict[str, ET.Element] = {}
    for text in sorted(texts):
        if text.context not in contexts:
            contexts[text.context] = ET.SubElement(root, "context")
            ET.SubElement(contexts[text.context], "name").text = text.context
        message = ET.SubElement(contexts[text.context], "message")
        ET.SubElement(message, "source").text = text.source
        forms = known.get(text, ())
        translation = ET.SubElement(message, "translation")
        if text.is_plural:
            message.set("numerus", "yes")
            for index in range(PLURAL_FORMS):
                ET.SubElement(translation, "numerusform").text = forms[index] if index < len(forms) else ""
        else:
            translation.text = forms[0] if forms else ""
        if not forms or not all(forms):
            translation.set("type", "unfinished")
    ET.indent(root, space="    ")
    body = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n{body}\n'


def english_forms(text: Text) -> tuple[str, ...]:
    """English plurals: the source marks them with "(s)"."""
    return text.source.replace("(s)", ""), text.source.replace("(s)", "s")


def make_qm(ts: Path, qm: Path) -> None:
    """Compile with Qt's lrelease."""
    import PySide6

    tool = Path(PySide6.__file__).parent / "lrelease"
    subprocess.run([tool, "-silent", ts, "-qm", qm], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if something is out of date")
    check: bool = parser.parse_args().check
    texts = all_texts()
    stale: list[str] = []
    if not check:
        SENTENCES_FILE.write_text(make_list(texts), encoding="utf-8")
    elif not SENTENCES_FILE.exists() or SENTENCES_FILE.read_text(encoding="utf-8") != make_list(texts):
        stale.append(f"{SENTENCES_FILE.name} is out of date; run python packaging/translations.py")
    for language in LANGUAGES:
        wanted = {text for text in texts if text.is_plural} if language == "en" else texts
        ts, qm = FOLDER / f"haloband_{language}.ts", FOLDER / f"haloband_{language}.qm"
        known = read_ts(ts) | ({text: english_forms(text) for text in wanted} if language == "en" else {})
        made = make_ts(language, wanted, known)
        if check:
            stale += _problems(ts, qm, made)
            continue
        ts.write_text(made, encoding="utf-8")
        make_qm(ts, qm)
        print(f"{ts.relative_to(ROOT)}: {len(wanted)} texts, {made.count('unfinished')} unfinished")
    for line in stale:
        print(line, file=sys.stderr)
    return 1 if stale else 0


def _problems(ts: Path, qm: Path, made: str) -> list[str]:
    problems = []
    if not ts.exists() or ts.read_text(encoding="utf-8") != made:
        problems.append(f"{ts.name} is out of date; run python packaging/translations.py")
    if "unfinished" in made:
        problems.append(f"{ts.name} has unfinished texts")
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / qm.name
        make_qm(ts, fresh)
        if not qm.exists() or qm.read_bytes() != fresh.read_bytes():
            problems.append(f"{qm.name} is out of date; run python packaging/translations.py")
    return problems


if __name__ == "__main__":
    sys.exit(main())
