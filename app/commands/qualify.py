"""`haloband qualify`: runs the built-in qualification without a window and prints its report.

Called by app/cli.py on the main thread. Ctrl+C stops it at once; the processes that had finished are kept, and the same
command goes on from there. Every report, failed or not, is kept in the data folder. Status 0: passed, 1: failed.
"""

import argparse
import sys
import threading
from pathlib import Path

from app.commands.interrupts import STOPPED_STATUS, stop_on_interrupt
from app.commands.progress_line import ProgressLine, bar
from app.errors import UserError
from app.files import why_not_written, write_atomic
from app.paths import app_paths
from app.qualify.command import arm_command
from engine.qualify.history import save_report
from engine.qualify.records import Domain, Report
from engine.qualify.report import report_to_json, report_to_markdown
from engine.qualify.run import QualifyProgressed, QualifyRequest, run_qualification

_WRITERS = {".json": report_to_json, ".md": report_to_markdown}
_STEP_LIMIT = 10_240


def add_arguments(parser: argparse.ArgumentParser) -> None:
    default = QualifyRequest()
    parser.add_argument("--a", type=int, default=default.cap_a, metavar="N", help="step cap of arm A, in tokens")
    parser.add_argument("--b", type=int, default=default.cap_b, metavar="N", help="step cap of arm B, in tokens")
    parser.add_argument(
        "--model", type=Path, metavar="FILE", help="a GGUF file or a model's folder; default: the embedded model"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="save the report as .json or .md")
    parser.add_argument("--json", action="store_true", help="print the whole report as JSON")
    parser.add_argument(
        "--domain",
        action="append",
        choices=[domain.value for domain in Domain],
        help="only this domain; may be repeated",
    )
    parser.add_argument("--without-exact", action="store_true", help="leave out sparse against exact, the slowest part")
    parser.add_argument(
        "--retrieval-tokens", type=int, default=default.retrieval_tokens, metavar="N",
        help="length of the text that keys are hidden in; 0 leaves them out",
    )  # fmt: skip
    parser.add_argument("--arm", nargs=2, type=Path, metavar=("SPEC", "FOLDER"), help=argparse.SUPPRESS)
    parser.add_argument("--kv-rounding", choices=["none", "f16", "e4m3"], help="how stored rows are rounded")
    parser.add_argument("--dtype", choices=["auto", "float32", "bfloat16"], default="auto", help="type of the products")


def run(args: argparse.Namespace) -> int:
    """Qualify; 0 if everything passed, 1 if not, 130 if it was stopped. Raises UserError for app/cli.py."""
    if args.arm is not None:  # one process of a qualification, started by another one (app/qualify/command.py)
        from engine.qualify.arm import main as run_one_arm

        return run_one_arm([str(path) for path in args.arm])
    request = request_of(args)
    check_destination(args.out)
    paths = app_paths(getattr(args, "data_dir", None))
    stop = threading.Event()
    with stop_on_interrupt(stop):
        report = _run(request, paths.qualifications_dir, stop)
    if report is None:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return STOPPED_STATUS
    _deliver(report, args, paths.qualifications_dir)
    return 0 if report.passed else 1


def request_of(args: argparse.Namespace) -> QualifyRequest:
    """What the arguments ask for. Raises UserError for numbers and files that make no sense."""
    for name, cap in (("--a", args.a), ("--b", args.b)):
        if not 1 <= cap <= _STEP_LIMIT:
            raise UserError(f"The step cap {name} {cap:,} is outside 1 to {_STEP_LIMIT:,}.")
    if args.retrieval_tokens and args.retrieval_tokens < 512:
        raise UserError(f"Keys need a text of at least 512 tokens, not {args.retrieval_tokens:,}.")
    if args.model is not None and not args.model.exists():
        raise UserError(f"The model {args.model} does not exist.")
    return QualifyRequest(
        cap_a=args.a,
        cap_b=args.b,
        model=None if args.model is None else str(args.model.absolute()),
        kv_rounding=args.kv_rounding,
        dtype=args.dtype,
        domains=tuple(Domain) if not args.domain else tuple(d for d in Domain if d.value in args.domain),
        with_exact=not args.without_exact,
        retrieval_tokens=args.retrieval_tokens,
    )


def check_destination(path: Path | None) -> None:
    """Refuse a file that cannot be written before hours are spent. Raises UserError."""
    if path is None:
        return
    if path.suffix.lower() not in _WRITERS:
        raise UserError(f"{path.name} ends in {path.suffix or 'nothing'}; a report is saved as .json or .md.")
    if not path.absolute().parent.is_dir():
        raise UserError(f"The folder {path.absolute().parent} for {path.name} does not exist.")


def _run(request: QualifyRequest, folder: Path, stop: threading.Event) -> Report | None:
    report: Report | None = None
    with ProgressLine(sys.stderr) as progress:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for update in run_qualification(request, folder, stop, arm_command()):
                if isinstance(update, QualifyProgressed):
                    progress.show(progress_line(update))
                else:
                    report = update.report
        except OSError as error:
            raise UserError(f"The folder {folder} cannot be written: {why_not_written(error)}.") from None
    return report


def progress_line(update: QualifyProgressed) -> str:
    """`[########................]  34%  process 3 of 8 (3-B), code`"""
    what = f", {update.what}" if update.what else ""
    return f"{bar(update.share)}  process {update.process} of {update.processes} ({update.name}){what}"


def _deliver(report: Report, args: argparse.Namespace, folder: Path) -> None:
    """Print the report and keep it; a file that cannot be written is told after that."""
    print(report_to_json(report) if args.json else report_to_markdown(report), end="")
    try:
        kept = save_report(report, folder, write_atomic)
        print(f"kept as {kept}", file=sys.stderr)
        if args.out is not None:
            write_atomic(args.out, _WRITERS[args.out.suffix.lower()](report).encode())
    except OSError as error:
        raise UserError(f"The report was not written: {why_not_written(error)}.") from None
