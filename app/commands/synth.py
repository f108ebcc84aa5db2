"""`haloband synth`: writes a synthetic model, random weights in a real model's shape and formats, into a file.

Called by app.cli on the main thread. Ctrl+C stops between two pieces of a tensor and leaves no file behind.
"""

import argparse
import json
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.commands.interrupts import STOPPED_STATUS, stop_on_interrupt
from app.commands.progress_line import ProgressLine
from app.plain_words import printable, size_text
from engine.errors import Stopped
from engine.synth.address import DEFAULT_RECIPE, address_of, parse_address
from engine.synth.recipes import RECIPES
from engine.synth.shapes import SHAPES
from engine.synth.source import SynthSource
from engine.synth.write import WrittenModel, write_synth


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("target", type=Path, metavar="OUT.gguf", help="the file to write")
    parser.add_argument("--config", default="v4-flash", choices=list(SHAPES), help="the shape (default: v4-flash)")
    parser.add_argument("--layers", metavar="K", help="only the first K layers (default: all)")
    parser.add_argument("--ratios", metavar="R,R,...", help="instead of --layers: each layer's compression ratio")
    parser.add_argument(
        "--recipe", default=DEFAULT_RECIPE, choices=list(RECIPES), help=f"the formats (default: {DEFAULT_RECIPE})"
    )
    parser.add_argument("--experts", metavar="N", help="routed experts in each layer (default: the shape's)")
    parser.add_argument("--seed", metavar="N", help="another seed gives other weights (default: 0)")
    parser.add_argument("--force", action="store_true", help="replace a file that exists")
    parser.add_argument("--json", action="store_true", help="every number, for programs")


def run(args: argparse.Namespace) -> int:
    """Write the model; 0 when the file is written, 130 when it was stopped. Raises UserError for app.cli."""
    names = ("layers", "ratios", "recipe", "experts", "seed")
    source = SynthSource(parse_address(address_of(args.config, {name: getattr(args, name) for name in names})))
    stop = threading.Event()
    with stop_on_interrupt(stop), ProgressLine(sys.stderr) as progress:
        try:
            done = write_synth(source, args.target, args.force, progress.counting("writing"), stop)
        except Stopped:
            return STOPPED_STATUS
    print(json.dumps(as_json(done), indent=2) if args.json else as_text(done))
    return 0


def as_json(done: WrittenModel) -> dict[str, Any]:
    """Every number; sizes in bytes."""
    return asdict(done) | {"schema": 1, "target": str(done.target)}


def as_text(done: WrittenModel) -> str:
    """Two lines for people."""
    return (
        f"wrote {printable(str(done.target))}: {size_text(done.target_bytes)}, {done.parameters:,} random weights\n"
        f"the same model without a file: {done.address}"
    )
