"""A list of findings as text for people and as JSON for programs. Pure functions."""

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

from app.doctor.finding import Finding, Severity, Topic

SCHEMA = 1
_LINE = 100  # characters
_MARKS = {Severity.OK: "ok", Severity.NOTE: "note", Severity.WARNING: "warning", Severity.PROBLEM: "PROBLEM"}
_INDENT = " " * 11


def worst(findings: Sequence[Finding]) -> Severity:
    """The gravest severity; OK for none."""
    return max((finding.severity for finding in findings), key=lambda severity: severity.rank, default=Severity.OK)


def summary(findings: Sequence[Finding]) -> str:
    """One sentence: how many problems and warnings."""
    count = Counter(finding.severity for finding in findings)
    problems, warnings = count[Severity.PROBLEM], count[Severity.WARNING]
    if not problems and not warnings:
        return "Nothing stands in the way."
    return f"{_plural(problems, 'problem')}, {_plural(warnings, 'warning')}."


def as_text(findings: Sequence[Finding]) -> str:
    """Findings by topic, each with what was found; what is wanted and what to do only where something is amiss."""
    lines: list[str] = []
    for topic in Topic:
        own = [finding for finding in findings if finding.topic is topic]
        if own:
            lines += [topic.value, *(line for finding in own for line in _finding_lines(finding)), ""]
    return "\n".join([*lines, summary(findings)])


def as_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """Every finding with its facts, and the gravest severity."""
    return {
        "schema": SCHEMA,
        "worst": worst(findings).value,
        "summary": summary(findings),
        "findings": [
            {
                "key": finding.key,
                "topic": finding.topic.value,
                "title": finding.title,
                "severity": finding.severity.value,
                "found": finding.found,
                "wanted": finding.wanted,
                "advice": finding.advice,
                "facts": dict(finding.facts),
            }
            for finding in findings
        ],
    }


def _finding_lines(finding: Finding) -> list[str]:
    mark = f"  {_MARKS[finding.severity]:<9}"
    lines = textwrap.wrap(
        f"{finding.title}: {finding.found}", _LINE, initial_indent=mark, subsequent_indent=_INDENT + "  "
    )
    if finding.severity is not Severity.OK and finding.wanted:
        lines += _labelled("wanted", finding.wanted)
    if finding.advice:
        lines += _labelled("do", finding.advice)
    return lines


def _labelled(label: str, text: str) -> list[str]:
    # A command must survive copying: words are never broken, not even at a hyphen.
    return textwrap.wrap(
        f"{label}: {text}",
        _LINE,
        initial_indent=_INDENT,
        subsequent_indent=_INDENT + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
