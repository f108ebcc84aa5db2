"""Every sentence that the engine, the doctor or the store can say to a person is found, however it is put together."""

import ast
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "resources" / "translations" / "sentences.json"


@pytest.fixture(scope="module")
def finder() -> Iterator[ModuleType]:
    """packaging/sentence_finder.py, which is a script and no package, with the one beside it."""
    sys.path.insert(0, str(ROOT / "packaging"))
    spec = importlib.util.find_spec("sentence_finder")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sentence_finder"] = module
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(ROOT / "packaging"))


# How a sentence may be written, and what is found.
WAYS = {
    'raise UserError("The plain text.")': {"The plain text."},
    'raise UserError(f"{path} is not there.")': {"{path} is not there."},
    'raise UserError(f"{path.name} has {size:,} bytes at {share:.1f}.")': {"{name} has {size:n} bytes at {share:n}."},
    'raise UserError(f"{name!r} is {len(ids)}, not {LIMIT}.")': {"{name} is {ids}, not {limit}."},
    'raise UserError(f"{a.name} and {b.name} differ.")': {"{name} and {name2} differ."},
    'raise UserError("It is { here }.")': {"It is {{ here }}."},
    'raise UserError(f"It is {\'very \' if far else \'\'}far.")': {"It is very far.", "It is far."},
    'text = f"{a} is first"\ntext += "; and more"\nraise UserError(text)': {"{a} is first", "{a} is first; and more"},
    'raise UserError(f"It is {TEXT}.")': {"It is the constant text."},
    'raise UserError(f"It says {told()}.")': {"It says one thing.", "It says another thing."},
    'level, text = both()\nraise UserError(text)': {"The second of both."},
    'raise UserError(f"It fails: {error}.")': {"It fails: {error:w}.", "a reason in words", "{n} reasons in words"},
    'fail("has two problems")': {"{where} is damaged: {problem:w}.", "has two problems"},
    'yield Finding("key", topic, "A title", severity, found, "what is wanted", "")': {"A title", "what is wanted"},
    'raise ValueError("an internal text")': set(),
    'raise UserError(str(error))': {"a reason in words", "{n} reasons in words"},
    'raise UserError(name)': set(),
    'class KernelBuildError(E):\n    def __init__(self, name):\n        super().__init__(f"{name} does not build")': {
        "{name} does not build"
    },
    'x.native_note = f"{kind}, {count} threads"': {"{kind}, {count} threads"},
    'x.native_note = f"{x.native_note}; not on the GPU"': {"{native_note:w}; not on the GPU"},
}  # fmt: skip
AROUND = """
LIMIT = 3
TEXT = "the constant text"
def told():
    if LIMIT:
        return "one thing"
    return "another thing"
def both():
    return 1, "The second of both."
def say(a, b, ids, far, path, size, share, name, topic, severity, found):
    try:
        if not ids:
            raise KeyError("a reason in words")
        raise KeyError(f"{n} reasons in words")
    except KeyError as error:
        pass
    CODE
"""
FAIL = """
class Reader:
    def fail(self, problem):
        raise UserError(f"{self.where} is damaged: {problem}.")
"""


def found_in(finder: ModuleType, folder: Path, code: str) -> set[str]:
    method = "fail(" in code
    body = AROUND.replace("CODE", code.replace("fail(", "self.fail(").replace("\n", "\n    "))
    (folder / "engine").mkdir(exist_ok=True)
    (folder / "engine" / "a.py").write_text(body + (FAIL if method else ""))
    return set(finder.find_sentences(folder))


@pytest.mark.parametrize("code", WAYS)
def test_a_sentence_is_found_however_it_is_written(finder: ModuleType, tmp_path: Path, code: str) -> None:
    assert found_in(finder, tmp_path, code) == WAYS[code]


def test_a_new_message_is_not_in_the_list(finder: ModuleType, tmp_path: Path) -> None:
    """So tests/app/test_translations.py fails until it has a German form."""
    new = found_in(finder, tmp_path, 'raise ModelFileError(f"{path} is of a kind that nobody foresaw.")')
    assert new and not new <= set(json.loads(LIST.read_text(encoding="utf-8")))


def test_the_list_is_that_of_the_source(finder: ModuleType) -> None:
    """Run `python packaging/translations.py`."""
    assert json.loads(LIST.read_text(encoding="utf-8")) == sorted(finder.find_sentences())


def test_no_literal_of_an_error_is_missed(finder: ModuleType) -> None:
    """A second look that knows nothing of variables: whatever words stand inside such a call are in some sentence."""
    everything = "\n".join(json.loads(LIST.read_text(encoding="utf-8")))
    missed = []
    for module in finder.SentenceFinder(ROOT)._modules:
        for name in finder.SINKS:
            for call in finder.calls_of(module.tree, name):
                for argument in finder.arguments(call, finder.SINKS[name]):
                    missed += [text for text in literals(argument) if text not in everything]
    assert missed == []


def literals(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Call):
        return  # what is done with a value is not said
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) > 1:
        yield node.value
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from literals(child)


def test_what_stays_english_is_there_and_says_why(finder: ModuleType) -> None:
    sentences = set(json.loads(LIST.read_text(encoding="utf-8")))
    assert all(reason and (ROOT / path).exists() for path, reason in finder.LEFT_OUT.items())
    fragments = importlib.import_module("sentence_places").FRAGMENTS
    assert fragments.keys() <= sentences and all(fragments.values())
