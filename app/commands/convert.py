"""`haloband convert`: writes a model again in other number formats, and on request measures what that cost.

Called by app.cli on the main thread. Ctrl+C stops between two pieces of a tensor and leaves no file behind.
"""

import argparse
import json
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import resources
from app.commands.interrupts import STOPPED_STATUS, stop_on_interrupt
from app.commands.progress_line import ProgressLine
from app.plain_words import printable, size_text
from engine.errors import Stopped, UserError
from engine.gguf.types import AMBIGUOUS_TYPES
from engine.recipes import Recipes

if TYPE_CHECKING:
    from engine.convert import Conversion
    from engine.divergence import Divergence

EMBEDDED = "embedded"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("source", type=Path, metavar="IN", help=f'the model: a file, or "{EMBEDDED}"')
    parser.add_argument("target", type=Path, metavar="OUT.gguf", help="the file to write")
    parser.add_argument(
        "--recipe",
        required=True,
        choices=[recipe.value.name for recipe in Recipes],
        help="q8: every matrix Q8_0; mix: ROCmFP4, and Q8_0 where that would hurt",
    )
    parser.add_argument("--force", action="store_true", help="replace a file that exists")
    parser.add_argument("--check", action="store_true", help="compare the predictions of both files on a few texts")
    parser.add_argument(
        "--read-as", action="append", default=[], metavar="ID=NAME", help="what a type id with several meanings means"
    )
    parser.add_argument("--json", action="store_true", help="every number, for programs")


def run(args: argparse.Namespace) -> int:
    """Convert; 0 when the file is written, 130 when it was stopped. Raises UserError for app.cli."""
    source = resources.embedded_model() if args.source == Path(EMBEDDED) else args.source
    read_as = dict(_meaning(text) for text in args.read_as)
    stop = threading.Event()
    with stop_on_interrupt(stop), ProgressLine(sys.stderr) as progress:
        try:
            from engine.convert import convert  # here and not above: torch takes seconds, wrong usage is told before

            recipe = next(recipe.value for recipe in Recipes if recipe.value.name == args.recipe)
            done = convert(source, args.target, recipe, read_as, args.force, progress.counting("converting"), stop)
        except Stopped:
            return STOPPED_STATUS
        found = _compare(done) if args.check else None
    print(json.dumps(as_json(done, found), indent=2) if args.json else as_text(done, found))
    return 0


def as_json(done: "Conversion", found: "Divergence | None") -> dict[str, Any]:
    """Every number; sizes in bytes, divergences in nats a token."""
    values = asdict(done) | {"schema": 1, "source": str(done.source), "target": str(done.target)}
    return values | {"divergence": None if found is None else asdict(found)}


def as_text(done: "Conversion", found: "Divergence | None") -> str:
    """A few lines for people."""
    ratio = done.target_bytes / done.source_bytes
    lines = [
        f"wrote {printable(str(done.target))}: {size_text(done.target_bytes)}, "
        f"{ratio:.0%} of {size_text(done.source_bytes)}",
        f"formats before: {_formats(done.formats_before)}",
        f"formats now:    {_formats(done.formats_after)}",
        *map(printable, done.notes),
    ]
    if found is not None:
        lines.append(
            f"predictions:    KL divergence {found.mean:.3g} nats a token (largest {found.largest:.3g}), the same most "
            f"likely token at {found.same_top:.1%} of {found.tokens:,} places"
        )
    return "\n".join(lines)


def _formats(weights: Any) -> str:
    total = sum(weights.values())
    return ", ".join(f"{name} {count / total:.1%}" for name, count in weights.items())


def _compare(done: "Conversion") -> "Divergence":
    from engine.divergence import compare_files

    return compare_files(done.source, done.target)


def _meaning(text: str) -> tuple[int, str]:
    """`107=ROCmFP2 affine` as a type id and a name."""
    type_id, _, name = text.partition("=")
    if not (type_id.isdecimal() and int(type_id) in AMBIGUOUS_TYPES and name):
        allowed = ", ".join(map(str, AMBIGUOUS_TYPES))
        raise UserError(f"--read-as {text!r} is not ID=NAME with one of the ids {allowed}.")
    return int(type_id), name
