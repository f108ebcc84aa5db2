"""The Live panel's sentences: what the engine is doing and how the saved memory is counted. Pure; GUI thread."""

from PySide6.QtCore import QCoreApplication

from app.telemetry.live_meter import Activity, LiveFigures
from app.widgets import formats
from engine.ledger import MemoryReport
from engine.plan import BAND_TOKENS


def _tr(text: str, n: int = -1) -> str:
    return QCoreApplication.translate("LivePanel", text, None, n)


def heading(figures: LiveFigures) -> str:
    """What the engine is doing, as a title."""
    if figures.is_benchmark and figures.activity in (Activity.STARTING, Activity.PREFILL, Activity.DECODE):
        return _tr("Benchmark running")
    words = {
        Activity.IDLE: _tr("Nothing is running"),
        Activity.STARTING: _tr("Starting"),
        Activity.PREFILL: _tr("Reading the prompt"),
        Activity.DECODE: _tr("Answering"),
        Activity.DONE: _tr("Benchmark finished") if figures.is_benchmark else _tr("Last answer"),
        Activity.STOPPED: _tr("Stopped"),
        Activity.FAILED: _tr("Failed"),
    }
    return words[figures.activity]


def progress_text(figures: LiveFigures) -> str:
    """Step, band and layer in words, such as "step 1 of 1, 9,133 tokens in 5 bands, layer 17 of 43", as far as the
    prompt was read; once it is read, in how many steps that was."""
    at = figures.progress
    if figures.activity is Activity.IDLE:
        return _tr("Ask something, and its speeds and memory appear here.")
    if at is None:
        return ""
    if figures.activity in (Activity.DECODE, Activity.DONE):
        return _tr("{tokens} read in {steps}").format(
            tokens=formats.tokens(at.tokens_total - at.cached), steps=_tr("%Ln step(s)", at.steps)
        )
    bands = -(-at.step_tokens // BAND_TOKENS)
    return _tr("step {step} of {steps}, {tokens} in {bands}, layer {layer} of {layers}").format(
        step=at.step,
        steps=at.steps,
        tokens=formats.tokens(at.step_tokens),
        bands=_tr("%Ln band(s)", bands),
        layer=at.layer,
        layers=at.layers,
    )


def saved_bytes(report: MemoryReport) -> int:
    """Plain attention's rows beyond what is held, plus the masks that were never allocated."""
    return max(0, report.plain_bytes - report.held_bytes) + report.mask_bytes


def total_text(report: MemoryReport | None) -> str:
    """One line: how much is saved, and how it is counted."""
    if report is None:
        return _tr("Memory per layer appears with the first prompt.")
    return _tr(
        "{saved} saved at {tokens}: F16 keys and values of every head for these tokens, minus what is held, plus the "
        "F32 masks of the largest step, which are never allocated."
    ).format(saved=formats.size(saved_bytes(report)), tokens=formats.tokens(report.position))
