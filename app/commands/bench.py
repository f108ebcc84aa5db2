"""`haloband bench`: runs a benchmark plan without a window and prints or saves the figures.

Called by app/cli.py on the main thread. Ctrl+C ends the run at the next layer or token and keeps the finished rows; a
second Ctrl+C ends the program at once. Progress goes to stderr when a person is watching, figures to stdout.
"""

import argparse
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from app.commands.interrupts import STOPPED_STATUS, stop_on_interrupt
from app.commands.progress_line import ProgressLine, bar
from app.errors import UserError
from app.files import why_not_written, write_atomic
from engine.bench.export import export, to_markdown
from engine.bench.history import Comparison, compare_runs, load_run, setting_changes
from engine.bench.json_form import run_to_json
from engine.bench.plans import Plan
from engine.bench.records import BenchEnded, BenchProgressed, BenchRun, BenchStarted, BenchUpdate, Figure, Phase

if TYPE_CHECKING:
    from engine.bench.face import BenchModel

_PHASES = {Phase.SETUP: "filling", Phase.WARM_UP: "warm-up", Phase.PREFILL: "prefill", Phase.DECODE: "decode"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plan", choices=[plan.value for plan in Plan], default=Plan.QUICK.value, help="what to measure"
    )
    parser.add_argument(
        "--model", type=Path, metavar="FILE", help="a GGUF file or a model's folder; default: the embedded model"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="save the run as .json, .csv or .md")
    parser.add_argument("--json", action="store_true", help="print the whole run as JSON")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="compare with an earlier run saved as .json")
    parser.add_argument("--runs", type=int, metavar="N", help="measured runs of each row")
    parser.add_argument("--context", type=int, metavar="N", help="tokens the session can hold; how far a sweep walks")
    parser.add_argument("--mode", choices=["sparse", "dense", "exact"], default="sparse", help="how rows are selected")
    parser.add_argument("--backend", default="auto", help=argparse.SUPPRESS)
    parser.add_argument("--kv-rounding", choices=["none", "f16", "e4m3"], help="how stored rows are rounded")
    parser.add_argument("--dtype", choices=["auto", "float32", "bfloat16"], default="auto", help="type of the products")


def run(args: argparse.Namespace) -> int:
    """Run the plan; 0 when it is complete, 130 when it was stopped. Raises UserError and EngineError for app/cli.py."""
    check_destination(args.out)
    earlier = load_run(args.compare).run if args.compare is not None else None
    stop = threading.Event()
    finished: BenchRun | None = None
    with stop_on_interrupt(stop), ProgressLine(sys.stderr) as progress:
        watch = _Watch(progress, sys.stderr)
        for update in _updates(args, stop):
            watch.show(update)
            if isinstance(update, BenchEnded):
                finished = update.run
                progress.clear()
                _deliver(finished, args, earlier)  # before a failure of the machine is raised
    if finished is None or finished.was_stopped:
        print(f"stopped; {len(finished.rows) if finished else 0} rows kept", file=sys.stderr)
        return STOPPED_STATUS
    return 0


def check_destination(path: Path | None) -> None:
    """Refuse a file that cannot be written before anything is measured. Raises UserError."""
    if path is None:
        return
    if path.suffix.lower() not in (".json", ".csv", ".md"):
        raise UserError(f"{path.name} ends in {path.suffix or 'nothing'}; a benchmark is saved as .json, .csv or .md.")
    if not path.absolute().parent.is_dir():
        raise UserError(f"The folder {path.absolute().parent} for {path.name} does not exist.")
    if path.is_dir():
        raise UserError(f"{path} is a folder, not a file to save a benchmark in.")


def _updates(args: argparse.Namespace, stop: threading.Event) -> Iterator[BenchUpdate]:
    import engine  # here and not above: torch takes seconds, and wrong arguments are told before
    from engine.bench.face import ModelSupply
    from engine.bench.run import BenchRequest, run_bench
    from engine.errors import Stopped

    def load() -> "BenchModel":
        return engine.load(args.model, args.backend, args.kv_rounding, args.dtype, stop=stop)

    request = BenchRequest(Plan(args.plan), args.context, args.runs, args.mode, args.dtype)
    try:
        yield from run_bench(request, ModelSupply(load, is_fresh=True), stop)
    except Stopped:
        return  # while the model was loading: there is nothing to keep


def _deliver(run: BenchRun, args: argparse.Namespace, earlier: BenchRun | None) -> None:
    """Print the run and save it; a file that cannot be written is told after the figures have been printed."""
    print(run_to_json(run) if args.json else to_markdown(run), end="")
    if earlier is not None:
        print(comparison_text(earlier, run), file=sys.stderr if args.json else sys.stdout)
    if args.out is not None:
        try:
            write_atomic(args.out, export(run, args.out).encode())
        except OSError as error:
            raise UserError(f"{args.out} was not written: {why_not_written(error)}.") from None


def comparison_text(old: BenchRun, new: BenchRun) -> str:
    """Figure by figure against an earlier run, then what else changed."""
    lines = [_comparison_line(item) for item in compare_runs(old, new)] or ["the two runs have no test in common"]
    changes = [f"changed: {change}" for change in setting_changes(old, new)]
    return "\n".join([f"against {old.started_at}", *lines, *changes])


def _comparison_line(item: Comparison) -> str:
    unit = "s" if item.figure is Figure.WALL else "tok/s"
    verdicts = {True: "outside the noise", False: "within the noise", None: "one run only: noise unknown"}
    found = item.difference
    ratio = "-" if found is None else f"{found.ratio:.3f}x, {verdicts[found.is_outside_noise]}"
    return f"{item.test}: {item.old} -> {item.new} {unit}, {ratio}"


class _Watch:
    """Shows updates as they come: the rows by their names, and why the machine is not quiet."""

    def __init__(self, progress: ProgressLine, notes: TextIO) -> None:
        self._progress, self._notes = progress, notes
        self._labels: tuple[str, ...] = ()

    def show(self, update: BenchUpdate) -> None:
        if isinstance(update, BenchStarted):
            self._labels = tuple(row.label for row in update.rows)
            for reason in update.not_quiet:
                print(f"note: {reason}", file=self._notes)
        elif isinstance(update, BenchProgressed):
            self._progress.show(progress_line(update, self._labels[update.row - 1]))


def progress_line(update: BenchProgressed, label: str) -> str:
    """`[####....]  34 %  pp2048, prefill, run 2 of 5, row 2 of 3, 80 s left`"""
    left = "" if update.left_s is None else f", {update.left_s:.0f} s left"
    return (
        f"{bar(update.share)}  {label}, {_PHASES[update.phase]}, run {update.run} of {update.runs}, "
        f"row {update.row} of {update.rows}{left}"
    )
