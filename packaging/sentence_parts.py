"""What a text in the source may be, and how to find it in a syntax tree: the tools of packaging/sentence_finder.py.
Pure functions on `ast`."""

import ast
import functools
import itertools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

_NUMBER_FORMAT = re.compile(r"[,fg%]")
_WORD = re.compile(r"[^\W\d_]{2}")
_MOST_WAYS = 64


@dataclass(frozen=True, slots=True)
class Parameter:
    """A function's parameter; `place` counts without self."""

    path: Path
    function: str
    name: str
    place: int
    is_method: bool

    @property
    def is_private(self) -> bool:
        return self.function.startswith("_")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a value. `kind` is "n" for a number, "w" for words, empty for what stays as it is; what a parameter
    holds is words if a caller gives it words."""

    name: str
    kind: str = ""
    parameter: Parameter | None = None


Part = str | Slot
Way = tuple[Part, ...]  # one way in which a text may be put


def product(choices: list[list[Way]]) -> list[Way]:
    """Each way of the first with each of the second and so on."""
    combined = [tuple(itertools.chain(*one)) for one in itertools.islice(itertools.product(*choices), _MOST_WAYS)]
    return list(dict.fromkeys(combined))


def has_text(ways: list[Way]) -> bool:
    """Whether anything of them is written here."""
    return any(isinstance(part, str) for way in ways for part in way)


def has_words(way: Way, *, is_part: bool) -> bool:
    """Whether there is something to translate. A single word of a part may be a name: it is let be."""
    text = "".join(part if isinstance(part, str) else "_" for part in way)
    words = "".join(part for part in way if isinstance(part, str))
    return bool(_WORD.search(words)) and not (is_part and " " not in text.strip())


def as_text(way: Way, with_words: Collection[Parameter]) -> str:
    """A way as a text with names for its slots; the same name for two of them gets a number."""
    text, names = "", set[str]()
    for part in way:
        if isinstance(part, str):
            text += part.replace("{", "{{").replace("}", "}}")
            continue
        base = part.name or "value"
        name = next(n for n in (f"{base}{i or ''}" for i in (0, *range(2, 99))) if n not in names)
        names.add(name)
        kind = "w" if part.parameter in with_words else part.kind
        text += f"{{{name}:{kind}}}" if kind else f"{{{name}}}"
    return text


def called(node: ast.expr) -> str:
    """A name for a value: the last name in its expression, or that of a function's first argument. Empty without."""
    name = ""
    match node:
        case ast.Name(id=found) | ast.Attribute(attr=found):
            name = found.strip("_").lower()
        case ast.Constant(value=str() as text) if text.isidentifier():
            name = text
        case ast.Call(func=ast.Name(id="getattr")):
            name = "value"
        case ast.Call(func=ast.Attribute(value=owner), args=[]):
            name = called(owner)
        case ast.Call(func=func, args=args):
            name = (called(args[0]) if args else "") or called(func)
        case ast.Subscript(value=inner) | ast.BinOp(left=inner) | ast.Starred(value=inner) | ast.UnaryOp(operand=inner):
            name = called(inner)
        case ast.BoolOp(values=[inner, *_]) | ast.GeneratorExp(generators=[ast.comprehension(iter=inner), *_]):
            name = called(inner)
    return name


def choices_of(node: ast.expr) -> list[ast.expr]:
    """What an expression chooses from; empty if it does not choose."""
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.BoolOp(values=values):
            return values
    return []


def is_number(value: ast.FormattedValue) -> bool:
    """Whether a part of an f-string is a number that is written for people: with separators or decimals."""
    spec = value.format_spec
    return spec is not None and bool(_NUMBER_FORMAT.search(ast.unparse(spec)[2:-1]))


def joins_numbers(call: ast.Call) -> bool:
    """Whether a call of join gets such numbers."""
    return any(isinstance(node, ast.FormattedValue) and is_number(node) for node in ast.walk(call))


def callee(call: ast.Call) -> str:
    return ast.unparse(call.func)


def calls_of(tree: ast.Module, name: str) -> list[ast.Call]:
    """Calls of a function or of a method, whatever object it is of; "a.b" only of that object."""
    return _calls(tree).get(name, [])


@functools.cache
def _calls(tree: ast.Module) -> dict[str, list[ast.Call]]:
    """Every call of a file by the callee as it is written, and by its last name."""
    found: dict[str, list[ast.Call]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            full = callee(node)
            for name in {full, full.rpartition(".")[2]}:
                found.setdefault(name, []).append(node)
    return found


def arguments(call: ast.Call, places: tuple[tuple[int, str], ...]) -> Iterator[ast.expr]:
    for place, name in places:
        if place < len(call.args):
            yield call.args[place]
        yield from (keyword.value for keyword in call.keywords if name and keyword.arg == name)


def assignments(function: ast.FunctionDef, name: str) -> list[tuple[bool, ast.expr]]:
    """(whether it is added, value) of each assignment to a name in a function, in their order."""
    found: list[tuple[bool, ast.expr]] = []
    for node in ast.walk(function):
        match node:
            case ast.AugAssign(target=ast.Name(id=target), value=value) if target == name:
                found.append((True, value))
            case ast.Assign(targets=targets, value=value):
                found += [(False, one) for target in targets for one in values_of(target, value, name)]
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                found += [(False, one) for one in values_of(target, value, name)]
    return sorted(found, key=lambda pair: pair[1].lineno)


def given_to_attributes(tree: ast.Module, names: Collection[str]) -> Iterator[ast.expr]:
    """What is assigned to attributes of these names, whatever object they are of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and target.attr in names:
                    yield node.value


def own_messages(tree: ast.Module, classes: Collection[str]) -> Iterator[ast.expr]:
    """What errors of these names hand to the class they are made of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name in classes:
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and callee(call) == "super().__init__":
                    yield from call.args[:1]


def values_of(target: ast.expr, value: ast.expr, name: str) -> Iterator[ast.expr]:
    """What a name gets of an assignment, also of one to several names at once."""
    if isinstance(target, ast.Name) and target.id == name:
        yield value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, its_value in zip(target.elts, value.elts, strict=True):
            yield from values_of(one, its_value, name)
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Call):
        for place, one in enumerate(target.elts):
            if isinstance(one, ast.Name) and one.id == name:
                yield ast.copy_location(ast.Subscript(value, ast.Constant(place), ast.Load()), value)


def caught(function: ast.FunctionDef) -> set[str]:
    """Names of errors that a function catches."""
    return {node.name for node in ast.walk(function) if isinstance(node, ast.ExceptHandler) and node.name}


def returns(function: ast.FunctionDef) -> list[ast.expr]:
    return [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
