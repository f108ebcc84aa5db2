"""`haloband kernels`: compile every GPU kernel for a target without a GPU and say what each one needs.

Called by app.cli on the main thread. The exit status is 1 when a kernel breaks one of its rules: a spill, scratch, a
register budget, a missing matrix instruction, a wave exchange with lanes switched off.
"""

import argparse
import json
import sys
from pathlib import Path

from app.commands.progress_line import ProgressLine
from engine.backends.kernel_report import TARGETS, KernelReport, kernel_report, update_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument(
        "--target", choices=TARGETS, default=TARGETS[0], help=f"GPU to compile for (default: {TARGETS[0]})"
    )
    parser.add_argument(
        "--update-page", type=Path, metavar="FILE", help="also put the table into a Markdown page (docs/kernels.md)"
    )
    parser.add_argument("--json", action="store_true", help="every figure of every kernel, for programs")


def run(args: argparse.Namespace) -> int:
    """Print the report. Raises UserError without a compiler, EngineError if a kernel does not compile."""
    with ProgressLine(sys.stderr) as progress:
        report = kernel_report(args.target, progress.counting("compiling"))
    if args.update_page:
        update_page(report, args.update_page)
    print(json.dumps(report.as_json(), indent=2) if args.json else as_text(report))
    return 1 if any(row.complaints for row in report.rows) else 0


def as_text(report: KernelReport) -> str:
    """The table for people: one line a kernel, then what breaks a rule."""
    head = ("VGPR", "SGPR", "LDS", "spills", "scratch", "waves/SIMD", "kernel")
    lines = [f"{report.target}, {report.compiler}", "  ".join(f"{name:>7}" for name in head[:-1]) + "  kernel"]
    for row in report.rows:
        r = row.resources
        figures = (r.vgprs, r.sgprs, r.lds_bytes, r.spills, r.scratch_bytes, r.occupancy_waves)
        cells = "  ".join(f"{value:>{max(7, len(name))}}" for name, value in zip(head, figures, strict=False))
        lines.append(f"{cells}  {row.entry.source.label}")
    for row in report.rows:
        lines += [f"{row.entry.source.label}: {complaint}" for complaint in row.complaints]
    return "\n".join(lines)
