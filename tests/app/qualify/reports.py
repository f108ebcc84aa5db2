"""Made-up reports for the Qualify page's tests: one that passes, the public miss, one that was not finished."""

import math
from dataclasses import replace

from engine.qualify.judge import judge_domain, judge_machine
from engine.qualify.limits import load_limits
from engine.qualify.records import Axis, Domain, PairStatistics, ProcessResult, Report, TokenProbability
from engine.qualify.run import QualifyRequest, process_specs

LIMITS, LIMITS_HASH = load_limits()
_TOP = (TokenProbability(17, 0.61), TokenProbability(4, 0.2))


def pair(left: str, right: str, kl: float, prefix: int = 32, gap: float | None = None) -> PairStatistics:
    rows = tuple(2 * kl * math.sin(index / 9) ** 2 for index in range(128))
    worst = max(range(128), key=rows.__getitem__)
    return PairStatistics(left, right, kl, max(rows), worst, rows[worst], _TOP, _TOP, 0.98, prefix, gap, rows)


def make_report(kl: dict[Domain, float], started_at: str = "2026-01-02T03:04:05+00:00") -> Report:
    specs = process_specs(QualifyRequest())
    verdicts = []
    for domain, value in kl.items():
        same = [pair("1-A", "4-A", 0.0), pair("2-B", "3-B", 0.0)]
        cross = [pair(a, b, value, 21, 0.031) for a in ("1-A", "4-A") for b in ("2-B", "3-B")]
        verdicts.append(judge_domain(LIMITS, Axis.WIDTH, domain, same, cross, True))
    processes = tuple(
        ProcessResult(
            spec, "DS4 nano", "ab" * 32, "cpu", "2 threads", None, ("haloband 0.1.0",), (), (), 1 << 30, 0, 9.5
        )
        for spec in specs[:4]
    )
    checks = (judge_machine(LIMITS, processes),)
    return Report(started_at, "318f26d7db68", LIMITS_HASH, 2048, 8192, processes, tuple(verdicts), checks, None)


def passing() -> Report:
    return make_report(dict.fromkeys(Domain, 0.0012))


def missing() -> Report:
    """Code misses the limit."""
    return make_report({Domain.PROSE: 0.0021, Domain.CODE: 0.0115, Domain.AGENT: 0.0013, Domain.MULTILINGUAL: 0.0035})


def unfinished() -> Report:
    words = "Process 3-B ended with status 3: The graph header was overwritten."
    return replace(passing(), verdicts=(), checks=(), failure=words)
