"""`haloband doctor`: is this machine set up, and what is to be done where it is not?

Called by app.cli on the main thread. Exit status 0 without a problem, 1 with one (warnings do not count).
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

import resources
from app.doctor.examine import examine
from app.doctor.finding import Severity
from app.doctor.host import real_host
from app.doctor.report import as_json, as_text, summary, worst
from app.doctor.self_test import run_self_test


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--json", action="store_true", help="every finding with its numbers, for programs")
    parser.add_argument(
        "--model", type=Path, metavar="FILE", help="test reading this model (default: the embedded model)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="leave out the two checks that take seconds: the disk and the engine"
    )
    parser.add_argument("--self-test", action="store_true", help=argparse.SUPPRESS)  # see app.doctor.self_test


def run(args: argparse.Namespace) -> int:
    """Print the report."""
    if args.self_test:
        answer = run_self_test()
        print(json.dumps(asdict(answer)))
        return 0 if answer.finite and answer.window_error is None else 1
    findings = list(examine(real_host(), args.model or resources.embedded_model(), args.quick))
    print(json.dumps(as_json(findings), indent=2) if args.json else as_text(findings))
    if worst(findings) is not Severity.PROBLEM:
        return 0
    if args.json or not sys.stdout.isatty():  # the text already ends with this line
        print(f"haloband doctor: {summary(findings)}", file=sys.stderr)
    return 1
