"""The commands that our pages print: found in their text, and each held against the program it names.

In a block marked `sh` every line is a command. Elsewhere a line of a block, or an inline span, is one if it begins with
a program of ours, so that older pages and running text are covered too. `#` or three spaces begin a comment.
"""

import argparse
import contextlib
import importlib.util
import io
import itertools
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app import cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
OURS = ("make", "haloband", "python", "python3")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^    (\S.*)$", re.MULTILINE)
_SPAN = re.compile(r"`([^`\n]+)`")
_COMMAND = re.compile(r'((?:"[^"]*"|[^"])*?)(?:\s{3,}|\s+#\s|$)')
_PARSED_BY_ARGPARSE = ("argparse", "parse_arguments")


@dataclass(frozen=True, slots=True)
class DocCommand:
    """One command as a page prints it, without its comment. In running text (`is_block` False) it may be cut."""

    page: str
    text: str
    is_block: bool

    @property
    def words(self) -> list[str]:
        first, *rest = shlex.split(self.text)
        return [first.removeprefix(".venv/bin/"), *rest]


class WrongCommandError(Exception):
    """A page prints a command that would not be understood."""


def commands() -> list[DocCommand]:
    """Every command of every page, each once a page."""
    return list(dict.fromkeys(command for page in PAGES for command in commands_of(page.name, page.read_text())))


def commands_of(page: str, text: str) -> Iterator[DocCommand]:
    for kind, body in _FENCE.findall(text):
        for line in body.splitlines():
            if (command := _without_comment(line)) and (kind == "sh" or _begins_with_ours(command)):
                yield DocCommand(page, command, True)
    rest = _FENCE.sub("", text)
    for line in _INDENTED.findall(rest):
        if _begins_with_ours(line):
            yield DocCommand(page, _without_comment(line), True)
    for span in _SPAN.findall(rest):
        if _begins_with_ours(span):
            yield DocCommand(page, span, False)


def _without_comment(line: str) -> str:
    found = _COMMAND.match(line.strip())
    return found[1] if found else ""


def _begins_with_ours(line: str) -> bool:
    first, _, rest = line.strip().partition(" ")
    return bool(rest) and first.removeprefix(".venv/bin/") in OURS and (line + " ").isprintable()


def check(command: DocCommand) -> None:
    """Raise WrongCommandError if a subcommand, target, module, file, flag or choice does not exist."""
    program, *words = command.words
    if program == "make":
        _check_make(words)
    elif program == "haloband":
        for variant in _variants(words):
            _check_haloband(variant, command.is_block)
    else:
        _check_python(words)


def _variants(words: Sequence[str]) -> Iterator[list[str]]:
    """A synopsis as what it stands for: `[--flag]` is given, `a|b` is each in turn."""
    plain = [word.strip("[]") for word in words]
    yield from map(list, itertools.product(*(word.split("|") for word in plain)))


def _check_make(words: Sequence[str]) -> None:
    done = subprocess.run(["make", "-n", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise WrongCommandError(done.stderr.strip())


def _check_haloband(words: Sequence[str], is_whole: bool) -> None:
    if not is_whole:
        _check_flags(words)
        return
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            cli.parse(words)
    except SystemExit as left:
        if left.code:
            raise WrongCommandError(said.getvalue().strip()) from None


def _check_flags(words: Sequence[str]) -> None:
    """In running text a command need not be whole, but what is there must exist."""
    name = next((word for word in words if not word.startswith("-")), None)
    if name not in cli.COMMANDS:
        raise WrongCommandError(f"haloband has no command {name!r}")
    parser = argparse.ArgumentParser()
    cli.load_command(name).add_arguments(parser)
    known = set(parser.format_help().replace(",", " ").replace("]", " ").replace("[", " ").split())
    unknown = [word for word in words if word.startswith("--") and word.partition("=")[0] not in known]
    if unknown:
        raise WrongCommandError(f"haloband {name} has no {', '.join(unknown)}")


def _check_python(words: Sequence[str]) -> None:
    if words[:2] == ["-m", "pytest"]:
        _check_pytest(words[2:])
        return
    if words[0] == "-m":
        found = importlib.util.find_spec(words[1]) if importlib.util.find_spec(words[1].partition(".")[0]) else None
        if found is None or found.origin is None:
            raise WrongCommandError(f"there is no module {words[1]}")
        file, start, rest = Path(found.origin), list(words[:2]), words[2:]
    else:
        file, start, rest = ROOT / words[0], [words[0]], words[1:]
        file = file / "__main__.py" if file.is_dir() else file
        if not file.is_file():
            raise WrongCommandError(f"there is no file {words[0]}")
    flags = [word.partition("=")[0] for word in rest if word.startswith("--")]
    if file.is_relative_to(ROOT) and any(name in file.read_text() for name in _PARSED_BY_ARGPARSE):
        unknown = [flag for flag in flags if flag not in help_of(tuple(start)).split()]
        if unknown:
            raise WrongCommandError(f"{' '.join(start)} has no {', '.join(unknown)}")


@cache
def help_of(start: tuple[str, ...]) -> str:
    done = subprocess.run([sys.executable, *start, "--help"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise WrongCommandError(f"{' '.join(start)} --help: {done.stderr.strip()}")
    return re.sub(r"[\[\],]", " ", done.stdout)


def _check_pytest(words: Sequence[str]) -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        markers = tomllib.load(file)["tool"]["pytest"]["ini_options"]["markers"]
    known = {marker.partition(":")[0] for marker in markers}
    for before, word in zip(["", *words], words, strict=False):
        if before == "-m" and word not in known:
            raise WrongCommandError(f"no test is marked {word}")
        if before != "-m" and not word.startswith("-") and not (ROOT / word).exists():
            raise WrongCommandError(f"there is no {word}")
