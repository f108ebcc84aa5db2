"""Makes the report of a qualification from its processes' results: pairs, statistics, verdicts, and its two forms.

The arrays are read from the work folder, two at a time; afterwards only the numbers remain.
"""

import hashlib
import json
import reprlib
from collections.abc import Iterable, Sequence
from itertools import combinations, product
from pathlib import Path

import numpy as np

from engine.qualify.judge import judge_domain, judge_machine, judge_retrieval
from engine.qualify.limits import Limits
from engine.qualify.records import (
    SCHEMA_VERSION,
    Axis,
    Check,
    Domain,
    DomainResult,
    DomainVerdict,
    PairStatistics,
    ProcessResult,
    Report,
)
from engine.qualify.statistics import Logits, compare_pair
from engine.record_json import from_plain, to_plain
from engine.strict_json import parse_value

TABLE_RULES = ("mean KL", "top-1", "greedy")  # every verdict has them, and the tables show them


def make_report(
    started_at: str,
    caps: tuple[int, int],
    results: Sequence[ProcessResult],
    work: Path,
    limits: Limits,
    limits_sha256: str,
    failure: str | None,
) -> Report:
    """Statistics and verdicts of everything that finished; an axis with a process missing gets no verdict."""
    verdicts = []
    for axis in (Axis.WIDTH, Axis.SELECTION):
        arms = _arms(results, axis)
        if len(arms) == 2:
            domains = arms[0][0].spec.domains
            verdicts += [_judge(limits, axis, domain, arms, work) for domain in domains]
    checks: list[Check] = []
    if results:
        checks.append(judge_machine(limits, results))
    keys = _arms(results, Axis.RETRIEVAL)
    if len(keys) == 2:
        checks.append(judge_retrieval(keys[0][0], keys[1][0]))
    series = _series(limits_sha256, caps, results)
    return Report(started_at, series, limits_sha256, *caps, tuple(results), tuple(verdicts), tuple(checks), failure)


def _arms(results: Iterable[ProcessResult], axis: Axis) -> list[list[ProcessResult]]:
    """The processes of an axis by arm, if all of them are there: A twice and B twice, or each arm once."""
    found: dict[str, list[ProcessResult]] = {}
    for result in results:
        if result.spec.axis is axis:
            found.setdefault(result.spec.arm, []).append(result)
    needed = 2 if axis is Axis.WIDTH else 1
    return list(found.values()) if all(len(arm) == needed for arm in found.values()) else []


def _judge(limits: Limits, axis: Axis, domain: Domain, arms: list[list[ProcessResult]], work: Path) -> DomainVerdict:
    first, second = arms
    same = [_compare(a, b, domain, work) for arm in arms for a, b in combinations(arm, 2)]
    cross = [_compare(a, b, domain, work) for a, b in product(first, second)]
    return judge_domain(limits, axis, domain, same, cross, _state_is_equal(arms, domain) if same else None)


def _state_is_equal(arms: list[list[ProcessResult]], domain: Domain) -> bool:
    """All hashes of state, logits and greedy ids equal within each arm."""
    for arm in arms:
        told = {(d.state_sha256, d.logits_sha256, d.greedy_ids) for d in (_of(result, domain) for result in arm)}
        if len(told) != 1:
            return False
    return True


def _compare(left: ProcessResult, right: ProcessResult, domain: Domain, work: Path) -> PairStatistics:
    a, b = _of(left, domain), _of(right, domain)
    logits = (_load(work, left, a), _load(work, right, b))
    return compare_pair(left.spec.name, right.spec.name, logits, (a.greedy_ids, b.greedy_ids), a.greedy_gaps)


def _of(result: ProcessResult, domain: Domain) -> DomainResult:
    return next(found for found in result.domains if found.domain is domain)


def _load(work: Path, result: ProcessResult, domain: DomainResult) -> Logits:
    loaded: Logits = np.load(work / result.spec.name / domain.logits_file, mmap_mode="r", allow_pickle=False)
    return loaded


def _series(limits_sha256: str, caps: tuple[int, int], results: Sequence[ProcessResult]) -> str:
    """Runs of one series answer the same question; a changed limit, tape, cap or model starts another."""
    tapes = sorted({found.tape_sha256 for result in results for found in result.domains})
    models = sorted({result.model_fingerprint for result in results})
    told = json.dumps([limits_sha256, caps, tapes, models])
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def report_to_json(report: Report) -> str:
    """Everything, as JSON, with the verdict spelled out for readers in other languages."""
    data = to_plain(report)
    data["passed"] = report.passed
    for verdict, told in zip(report.verdicts, data["verdicts"], strict=True):
        told["passed"] = verdict.passed
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def report_from_json(text: str) -> Report:
    """Read a report back. Raises ValueError naming the field."""
    data = parse_value(text, may_have_constants=True)  # a run whose logits were no numbers is kept like any other
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != SCHEMA_VERSION:
        raise ValueError(f"the schema version is {reprlib.repr(version)}, not {SCHEMA_VERSION}")
    report = from_plain(Report, data, "report")
    for verdict in report.verdicts:
        missing = [rule for rule in TABLE_RULES if rule not in {check.rule for check in verdict.checks}]
        if missing:
            raise ValueError(f"the verdict on {verdict.domain.value} lacks the check {missing[0]}")
    return report


def report_to_markdown(report: Report) -> str:
    """The report as a page: verdict, a table of the domains, every check, the machine."""
    word = "passed" if report.passed else "failed"
    lines = [f"# Qualification {word}", "", f"{report.started_at}, series {report.series}"]
    lines += [f"Limits: SHA-256 {report.limits_sha256}", ""]
    if report.failure is not None:
        lines += [f"**Not finished.** {report.failure}", ""]
    lines += [
        "| axis | domain | cross KL | noise | limit | top-1 | greedy | |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    lines += [_table_line(verdict) for verdict in report.verdicts]
    for verdict in report.verdicts:
        lines += ["", f"## {verdict.axis.value}, {verdict.domain.value}", ""]
        lines += [f"* {_mark(check)} {check.rule}: {check.text}" for check in verdict.checks]
        lines += [f"* {_pair_line(pair)}" for pair in (*verdict.same, *verdict.cross)]
    lines += ["", "## Run", "", *(f"* {_mark(check)} {check.rule}: {check.text}" for check in report.checks)]
    lines += [f"* {_process_line(result)}" for result in report.processes]
    return "\n".join(lines) + "\n"


def _table_line(verdict: DomainVerdict) -> str:
    checks = {check.rule: check for check in verdict.checks}
    noise = max((pair.mean_kl for pair in verdict.same), default=0.0)
    kl, word = checks["mean KL"], "pass" if verdict.passed else "miss"
    return (
        f"| {verdict.axis.value} | {verdict.domain.value} | {kl.value:.6f} | {noise:.6f} | {kl.limit:.6f} "
        f"| {checks['top-1'].value:.2%} | {checks['greedy'].value:.0f} | {word} |"
    )


def _mark(check: Check) -> str:
    return "pass" if check.passed else "MISS"


def _pair_line(pair: PairStatistics) -> str:
    likeliest = ", ".join(f"{item.token} {item.probability:.4f}" for item in pair.worst_left)
    other = ", ".join(f"{item.token} {item.probability:.4f}" for item in pair.worst_right)
    return (
        f"{pair.left} against {pair.right}: mean KL {pair.mean_kl:.6f}, p99 {pair.p99_kl:.6f}, worst row "
        f"{pair.worst_row} with {pair.worst_kl:.6f} ({likeliest} / {other}), top-1 {pair.top1:.2%}, "
        f"greedy prefix {pair.greedy_prefix}"
    )


def _process_line(result: ProcessResult) -> str:
    peak = "unknown" if result.peak_bytes is None else f"{result.peak_bytes:,} bytes"
    keys = f", keys {sum(key.was_found for key in result.keys)} of {len(result.keys)}" if result.keys else ""
    frozen = "" if all(domain.tape_is_frozen for domain in result.domains) else ", tapes not frozen for this tokenizer"
    return f"{result.spec.name} ({result.device}): {result.wall_s:.1f} s, peak memory {peak}{keys}{frozen}"
