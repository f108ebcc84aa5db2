"""What the GPU kernels need on a target, for the command line: the app does not reach into `kernels` itself."""

from collections.abc import Callable
from pathlib import Path

from engine.errors import EngineError, UserError
from kernels.errors import KernelBuildError, KernelUnavailableError
from kernels.report import TARGETS, KernelReport, build_report, write_table

__all__ = ["TARGETS", "KernelReport", "kernel_report", "update_page"]


def kernel_report(target: str, progress: Callable[[int, int], None] | None = None) -> KernelReport:
    """Compile every kernel for `target`. Raises UserError without a compiler, EngineError if one does not compile."""
    try:
        return build_report(target, progress)
    except KernelUnavailableError as missing:
        raise UserError(str(missing)) from missing
    except KernelBuildError as refused:
        raise EngineError(f"{refused}\n{refused.log}") from refused


def update_page(report: KernelReport, page: Path) -> None:
    """Put the report's table between the markers of a Markdown page. Raises UserError if it cannot."""
    try:
        write_table(report, page)
    except (OSError, ValueError) as failure:
        raise UserError(str(failure)) from failure
