"""The Qualify page's sentences. Pure functions; GUI thread (translations and locale)."""

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale, Qt

from app.sentences import translated
from app.widgets import formats
from engine.qualify.history import SavedReport
from engine.qualify.records import Axis, Check, Domain, DomainVerdict, Report
from engine.qualify.run import QualifyProgressed


def _tr(text: str) -> str:
    return QCoreApplication.translate("QualifyPage", text)


def domain_name(domain: Domain) -> str:
    names = {
        Domain.PROSE: _tr("Prose"),
        Domain.CODE: _tr("Code"),
        Domain.AGENT: _tr("Tools"),
        Domain.MULTILINGUAL: _tr("Languages, structured"),
    }
    return names[domain]


def axis_name(axis: Axis) -> str:
    names = {
        Axis.WIDTH: _tr("Cuts"),
        Axis.SELECTION: _tr("Sparse against exact"),
        Axis.RETRIEVAL: _tr("Keys"),
    }
    return names[axis]


def progress_text(update: QualifyProgressed) -> str:
    """Which process, on what."""
    text = _tr("Process {number} of {total}: {name}").format(
        number=update.process, total=update.processes, name=update.name
    )
    parts = {domain.value: domain_name(domain) for domain in Domain} | {"keys": axis_name(Axis.RETRIEVAL)}
    return f"{text}, {parts[update.what]}" if update.what in parts else text


def verdict_title(report: Report) -> str:
    if report.failure is not None:
        return _tr("Not finished")
    return _tr("Passed") if report.passed else _tr("Failed")


def verdict_text(report: Report) -> str:
    """Below the title: why it was not finished, or how many checks hold."""
    if report.failure is not None:
        return translated(report.failure)
    checks = [check for verdict in report.verdicts for check in verdict.checks] + list(report.checks)
    held = sum(check.passed for check in checks)
    return _tr("{held} of {all} checks hold. Series {series}; limits {limits}.").format(
        held=held, all=len(checks), series=report.series, limits=report.limits_sha256[:12]
    )


def check_text(check: Check) -> str:
    mark = _tr("holds") if check.passed else _tr("does not hold")
    return f"{translated(check.rule)}, {mark}: {translated(check.text)}"


def first_difference(verdict: DomainVerdict) -> str:
    """Where the greedy answers first part, in the pair that parts first."""
    parted = [pair for pair in verdict.cross if pair.greedy_gap is not None]
    if not parted:
        return _tr("The greedy answers are equal.")
    pair = min(parted, key=lambda one: one.greedy_prefix)
    return _tr("The greedy answers first part at token {place} ({left} against {right}), top-2 gap {gap}.").format(
        place=pair.greedy_prefix + 1,
        left=pair.left,
        right=pair.right,
        gap=formats.significant(pair.greedy_gap or 0.0),
    )


def saved_name(saved: SavedReport) -> str:
    """An entry of the list of reports: when, verdict, series."""
    moment = QDateTime.fromString(saved.report.started_at, Qt.DateFormat.ISODate)
    is_known = moment.isValid()
    when = QLocale().toString(moment.toLocalTime(), QLocale.FormatType.ShortFormat) if is_known else "?"
    return formats.isolated(f"{when}, {verdict_title(saved.report)}, {saved.report.series}")
