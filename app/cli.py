"""The `haloband` program: picks the subcommand, or opens the window, and turns failures into one line and a status.

Runs on the main thread. Each subcommand is a module of app.commands that is imported only when it is asked for, so
that `haloband inspect` does not wait for Qt and the window does not wait for the benchmark.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, cast

from app.display import has_display, instead_of_a_window, library_is_missing, missing_library
from app.errors import EngineError, StoreError, UserError

INTERRUPTED_STATUS = 130  # what a shell reports for a program ended by Ctrl+C

# Subcommand, and its line in `haloband --help`. The module is app.commands.<name>.
COMMANDS: dict[str, str] = {
    "chat": "ask the model on the command line",
    "bench": "measure reading and writing speed",
    "qualify": "check that answers do not depend on how a prompt is cut",
    "memory": "what a prompt would hold in memory, without loading weights",
    "inspect": "what a model's files hold, and whether it fits this machine",
    "convert": "write a model again in other number formats",
    "synth": "write a model of random weights in a real model's shape",
    "kernels": "compile every GPU kernel for a target without a GPU, and what each needs",
    "doctor": "is this machine set up, and what to do where it is not",
}


class Command(Protocol):
    """What each module of app.commands offers."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...
    def run(self, args: argparse.Namespace) -> int: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program with these arguments (the process's own by default); returns its exit status."""
    args = parse(argv)
    try:
        if args.command is None:
            return _open_window(args)
        status = load_command(args.command).run(args)
        sys.stdout.flush()  # a reader that has gone is met here and not at exit, where Python would complain
        return status
    except (UserError, StoreError, EngineError) as error:
        print(f"haloband: {error}", file=sys.stderr)
        return 1
    except MemoryError:
        print("haloband: There is not enough memory for this; close other programs first.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED_STATUS
    except BrokenPipeError:
        # The reader of our output is gone (`haloband ... | head`): nothing is left to say, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments, with `command` None for the window. Exits on --help, --version and wrong usage."""
    args = _parser().parse_args(argv)
    if getattr(args, "model", None) is None:
        args.model = args.model_for_all
    return args


def load_command(name: str) -> Command:
    """Import the module of a subcommand."""
    return cast(Command, importlib.import_module(f"app.commands.{name}"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="haloband",
        description="Chat with a DeepSeek V4 Flash model on your own machine. Without a command, the window opens.",
    )
    parser.add_argument(
        "--model", dest="model_for_all", type=Path, metavar="FILE", help="a GGUF file; the embedded model if left out"
    )
    parser.add_argument("--data-dir", type=Path, metavar="DIR", help="keep chats and settings under this folder")
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_CommandParser)
    for name, line in COMMANDS.items():
        commands.add_parser(name, help=line, description=f"{line[0].upper()}{line[1:]}.")
    return parser


class _CommandParser(argparse.ArgumentParser):
    """The parser of a subcommand; it learns its arguments from the module when it is used for the first time."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._is_complete = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if not self._is_complete:
            load_command(self.prog.rpartition(" ")[2]).add_arguments(self)
            self._is_complete = True
        return super().parse_known_args(args, namespace)


class _ShowVersion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        from importlib.metadata import PackageNotFoundError, version  # here: half of a bare start's time

        try:
            print(f"haloband {version('haloband')}")
        except PackageNotFoundError:
            print("haloband (not installed)")
        parser.exit()


def _open_window(args: argparse.Namespace) -> int:
    if not has_display(os.environ, sys.platform):
        print(instead_of_a_window("No display was found, so the window cannot open."))
        return 0
    try:
        window = importlib.import_module("app.main_window")
    except ImportError as error:
        library = missing_library(error)
        if library is None:
            raise
        print(f"haloband: {instead_of_a_window(library_is_missing(library))}", file=sys.stderr)
        return 1
    status: int = window.run_app(args)
    return status


if __name__ == "__main__":
    sys.exit(main())
