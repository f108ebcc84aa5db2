"""Finds the sentences that the engine, the doctor and the store say in English, and that the window may have to show.

They know no Qt and no translation, so their texts are read from the syntax tree instead: what is handed to the errors
and records of SINKS, with what is put in as it stands there. A value is a place with a name, `{path}`; `{bytes:n}` is a
number that is written in the reader's way, and `{problem:w}` is in words that are found and translated in their turn.
packaging/translations.py puts them with the other texts, and app/sentences.py knows them again when they are shown.
"""

import ast
from dataclasses import dataclass, field, replace
from pathlib import Path

from sentence_parts import (
    Parameter,
    Slot,
    Way,
    arguments,
    as_text,
    assignments,
    called,
    callee,
    calls_of,
    caught,
    choices_of,
    given_to_attributes,
    has_text,
    has_words,
    is_number,
    joins_numbers,
    own_messages,
    product,
    returns,
)
from sentence_places import LEFT_OUT, NOTES, NUMBERS, SAME_WORDS, SELF_WORDED, SINKS, WORDS

ROOT = Path(__file__).resolve().parent.parent

_MOST_INLINE = 4  # ways to put one thing that are written out, each as a sentence of its own


@dataclass(slots=True)
class Module:
    """A file: its functions and constants by name, and the function around each node."""

    path: Path
    tree: ast.Module
    functions: dict[str, list[ast.FunctionDef]] = field(default_factory=dict)
    constants: dict[str, ast.expr] = field(default_factory=dict)
    around: dict[ast.AST, ast.FunctionDef | None] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)  # name: dotted module

    @classmethod
    def read(cls, path: Path) -> "Module":
        module = cls(path, ast.parse(path.read_text(encoding="utf-8")))
        for node in module.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                module.constants[node.targets[0].id] = node.value
            elif isinstance(node, ast.ImportFrom) and node.module:
                module.imported.update((alias.name, node.module) for alias in node.names)
        module._walk(module.tree, None)
        return module

    def _walk(self, node: ast.AST, function: ast.FunctionDef | None) -> None:
        self.around[node] = function
        if isinstance(node, ast.FunctionDef):
            self.functions.setdefault(node.name, []).append(node)
            function = node
        for child in ast.iter_child_nodes(node):
            self._walk(child, function)


def find_sentences(root: Path = ROOT) -> dict[str, str]:
    """Every sentence, and the file that says it first."""
    return SentenceFinder(root).find()


class SentenceFinder:
    """Goes from the sinks to what reaches them, through functions and variables, until nothing new is found."""

    def __init__(self, root: Path) -> None:
        self._root = root
        paths = sorted(path for room in ("app", "engine", "kernels") for path in (root / room).rglob("*.py"))
        self._modules = [Module.read(path) for path in paths if not self._is_left_out(path)]
        self._by_name = {self._dotted(module.path): module for module in self._modules}
        self._found: dict[Way, str] = {}
        self._given: dict[Parameter, list[list[Way] | Slot]] = {}
        self._unseen: list[Parameter] = []
        self._open: set[ast.expr] = set()  # what is being looked at: a variable may be made of itself
        self._seen: set[object] = set()

    def _is_left_out(self, path: Path) -> bool:
        name = path.relative_to(self._root).as_posix()
        return any(name == left or name.startswith(f"{left}/") for left in LEFT_OUT)

    def _dotted(self, path: Path) -> str:
        return ".".join(path.relative_to(self._root).with_suffix("").parts).removesuffix(".__init__")

    def _home(self, module: Module, name: str) -> Module:
        """The module that a name comes from: the module itself, or where it imports the name from."""
        return self._by_name.get(module.imported.get(name, ""), module)

    def find(self) -> dict[str, str]:
        for name, places in SINKS.items():
            for module in self._modules:
                for call in calls_of(module.tree, name):
                    for argument in arguments(call, places):
                        self._add(module, self._ways(module, argument))
        for module in self._modules:
            for value in (*given_to_attributes(module.tree, NOTES), *own_messages(module.tree, SELF_WORDED)):
                self._add(module, self._ways(module, value))
        while self._unseen:
            self._look_at_callers(self._unseen.pop())
        with_words = self._parameters_with_words()
        texts = {as_text(way, with_words): file for way, file in self._found.items()}
        return dict(sorted(texts.items()))

    def _look_at_callers(self, parameter: Parameter) -> None:
        """Keep what is handed to a function for a parameter that is a part of a sentence."""
        for module in self._modules:
            if parameter.is_private and module.path != parameter.path:
                continue
            for call in calls_of(module.tree, parameter.function):
                if isinstance(call.func, ast.Attribute) is parameter.is_method:
                    for argument in arguments(call, ((parameter.place, parameter.name),)):
                        ways = self._ways(module, argument)
                        self._given.setdefault(parameter, []).append(ways)
                        self._add(module, ways, is_part=True)

    def _add(self, module: Module, ways: list[Way] | Slot, *, is_part: bool = False) -> None:
        for way in () if isinstance(ways, Slot) else ways:
            if has_words(way, is_part=is_part):
                self._found.setdefault(way, module.path.relative_to(self._root).as_posix())

    def _parameters_with_words(self) -> frozenset[Parameter]:
        """Parameters that some caller gives words to, or a parameter of its own that has them."""
        found: set[Parameter] = set()
        while True:
            more = {
                parameter
                for parameter, given in self._given.items()
                if any(
                    ways.kind == "w" or ways.parameter in found
                    if isinstance(ways, Slot)
                    else any(has_words(way, is_part=True) for way in ways)
                    for ways in given
                )
            }
            if more <= found:
                return frozenset(found)
            found |= more

    # ------------------------------------------------------------ what a text may be

    def _ways(self, module: Module, node: ast.expr) -> list[Way] | Slot:
        """The ways to put what an expression says; a slot where that is not written here."""
        if node in self._open:
            return Slot(called(node))
        self._open.add(node)
        try:
            return self._ways_of(module, node)
        finally:
            self._open.remove(node)

    def _ways_of(self, module: Module, node: ast.expr) -> list[Way] | Slot:
        if choices := choices_of(node):
            return self._either(module, choices)
        ways: list[Way] | Slot = Slot(called(node))
        match node:
            case ast.Constant(value=str() as text):
                ways = [(text,)]
            case ast.Constant(value=None):
                ways = []
            case ast.JoinedStr(values=values):
                ways = product([self._piece(module, value) for value in values])
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                both = product([self._listed(module, left), self._listed(module, right)])
                ways = both if has_text(both) else ways
            case ast.Name():
                ways = self._name(module, node)
            case ast.Call():
                ways = self._call(module, node)
            case ast.Attribute(attr=name) if name in WORDS:
                ways = Slot(called(node), "w")
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=int() as place)):
                ways = self._either(module, self._members(module, call, place)) or ways
        return ways

    def _listed(self, module: Module, node: ast.expr) -> list[Way]:
        ways = self._ways(module, node)
        return [(ways,)] if isinstance(ways, Slot) else ways

    def _either(self, module: Module, nodes: list[ast.expr]) -> list[Way]:
        return [way for node in nodes for way in self._listed(module, node)]

    def _piece(self, module: Module, value: ast.expr) -> list[Way]:
        """A part of an f-string: written out where it can only be one of a few texts, else a slot."""
        if not isinstance(value, ast.FormattedValue):
            return self._listed(module, value)
        if value.format_spec is not None or value.conversion != -1:
            return [(Slot(called(value.value), "n" if is_number(value) else ""),)]
        ways = self._ways(module, value.value)
        if isinstance(ways, Slot):
            return [(ways,)]
        if len(ways) <= _MOST_INLINE and not any(len(way) == 1 and isinstance(way[0], Slot) for way in ways):
            return ways
        self._add(module, ways, is_part=True)
        return [(Slot(called(value.value), "w"),)]

    def _name(self, module: Module, node: ast.Name) -> list[Way] | Slot:
        function = module.around[node]
        if function is not None:
            ways = self._assigned(module, assignments(function, node.id))
            names = [argument.arg for argument in function.args.args]
            if node.id in names:
                slot = self._parameter(module, function, node.id)
                return [*ways, (slot,)] if ways else slot
            if node.id in caught(function):
                self._look_at_raises(module)
                return Slot(node.id, "w")
            if has_text(ways):
                return ways
            if ways:
                first = ways[0][0]
                return replace(first, name=node.id) if isinstance(first, Slot) else Slot(node.id)
        home = self._home(module, node.id)
        found = self._ways(home, home.constants[node.id]) if node.id in home.constants else Slot(called(node))
        return Slot(called(node)) if isinstance(found, Slot) else found

    def _parameter(self, module: Module, function: ast.FunctionDef, name: str) -> Slot:
        """A slot for what callers give, and a note to look at them. An error is words, whoever gives it."""
        given = function.args.args
        place = next(index for index, argument in enumerate(given) if argument.arg == name)
        kind = given[place].annotation
        if kind is not None and ast.unparse(kind).endswith("Error"):
            return Slot(name, "w")
        if function.name.startswith("__"):
            return Slot(name)
        is_method = given[0].arg in ("self", "cls")
        parameter = Parameter(module.path, function.name, name, place - is_method, is_method)
        if parameter not in self._seen:
            self._seen.add(parameter)
            self._unseen.append(parameter)
        return Slot(name, "", parameter)

    def _assigned(self, module: Module, assigned: list[tuple[bool, ast.expr]]) -> list[Way]:
        """What a variable may hold: each value it is given, and with what is added to it."""
        ways: list[Way] = []
        for is_added, value in assigned:
            new = self._listed(module, value)
            ways = ways + product([ways, new]) if is_added else ways + new
        return ways

    def _call(self, module: Module, node: ast.Call) -> list[Way] | Slot:
        name = callee(node).rpartition(".")[2]
        if name in NUMBERS or (name == "join" and joins_numbers(node)):
            return Slot(called(node), "n")
        if name == "str" and node.args:
            return self._ways(module, node.args[0])
        if name in SAME_WORDS and isinstance(node.func, ast.Attribute):
            return self._ways(module, node.func.value)
        home, functions = self._functions(module, node)
        ways = self._either(home, [value for function in functions for value in returns(function)])
        return ways if has_text(ways) else Slot(called(node))

    def _functions(self, module: Module, call: ast.Call) -> tuple[Module, list[ast.FunctionDef]]:
        """A function of ours that is called, and where it is written."""
        name = callee(call).rpartition(".")[2]
        home = self._home(module, name)
        return home, home.functions.get(name, []) if callee(call) in (name, f"self.{name}") else []

    def _members(self, module: Module, call: ast.Call, place: int) -> list[ast.expr]:
        """One member of each tuple that a function returns."""
        _, functions = self._functions(module, call)
        tuples = [value for function in functions for value in returns(function) if isinstance(value, ast.Tuple)]
        return [value.elts[place] for value in tuples if place < len(value.elts)]

    # ------------------------------------------------------------ where to look next

    def _look_at_raises(self, module: Module) -> None:
        """An error that is caught and put into another's sentence: what the same file says with it."""
        if module.path in self._seen:
            return
        self._seen.add(module.path)
        for node in ast.walk(module.tree):
            error = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(error, ast.Call) and error.args and callee(error) not in SINKS:
                self._add(module, self._ways(module, error.args[0]), is_part=True)
