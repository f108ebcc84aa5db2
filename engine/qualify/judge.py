"""Applies the limits to the statistics: one check a rule, each with its value, its limit and a sentence.

Pure functions. A check that fails stays failed: nothing here runs anything again.
"""

from collections.abc import Sequence

from engine.qualify.limits import Limits
from engine.qualify.records import Axis, Check, Domain, DomainVerdict, PairStatistics, ProcessResult


def judge_domain(
    limits: Limits,
    axis: Axis,
    domain: Domain,
    same: Sequence[PairStatistics],
    cross: Sequence[PairStatistics],
    state_is_equal: bool | None,
) -> DomainVerdict:
    """The verdict on one domain. `state_is_equal`: all hashes equal within each arm; None where each arm ran once."""
    checks = [_mean_kl(limits, same, cross), _top1(limits, same, cross), _greedy(limits, same, cross)]
    if same:
        noise = max(pair.mean_kl for pair in same)
        checks.append(
            Check("determinism", noise == limits.noise, noise, limits.noise, f"noise {noise:.6f}, must be exactly 0")
        )
    if state_is_equal is not None:
        text = "all hashes are equal within each arm" if state_is_equal else "hashes differ within an arm"
        checks.append(Check("state", state_is_equal, float(state_is_equal), 1.0, text))
    return DomainVerdict(axis, domain, tuple(same), tuple(cross), tuple(checks))


def mean_kl_check(limits: Limits, noise: float, cross: float) -> Check:
    """The public rule: cross KL at most max(floor, factor x noise)."""
    limit = limits.mean_kl(noise)
    passed = cross <= limit
    margin = f"a miss by {cross - limit:.6f}" if not passed else f"{limit - cross:.6f} below"
    text = f"cross KL {cross:.6f} against {limit:.6f} (noise {noise:.6f}): {margin}"
    return Check("mean KL", passed, cross, limit, text)


def _mean_kl(limits: Limits, same: Sequence[PairStatistics], cross: Sequence[PairStatistics]) -> Check:
    noise = max((pair.mean_kl for pair in same), default=0.0)
    return mean_kl_check(limits, noise, sum(pair.mean_kl for pair in cross) / len(cross))


def _top1(limits: Limits, same: Sequence[PairStatistics], cross: Sequence[PairStatistics]) -> Check:
    within = min((pair.top1 for pair in same), default=1.0)
    worst, limit = min(pair.top1 for pair in cross), limits.top1(within)
    text = f"top-1 agrees in {worst:.2%} of the rows, at least {limit:.2%} (within an arm {within:.2%})"
    return Check("top-1", worst >= limit, worst, limit, text)


def _greedy(limits: Limits, same: Sequence[PairStatistics], cross: Sequence[PairStatistics]) -> Check:
    """A prefix that is too short passes if every such pair parts at a near-tie; equal answers are never too short."""
    within = min((pair.greedy_prefix for pair in same), default=limits.greedy_prefix)
    worst = min(cross, key=lambda pair: pair.greedy_prefix)
    limit = limits.prefix(within)
    short = [pair for pair in cross if pair.greedy_prefix < limit and pair.greedy_gap is not None]
    ties = all(pair.greedy_gap is not None and pair.greedy_gap < limits.greedy_tie_gap for pair in short)
    text = f"greedy answers share {worst.greedy_prefix} tokens, at least {limit}"
    if worst.greedy_gap is not None:
        text += f"; they part at a top-2 gap of {worst.greedy_gap:.4f}"
        text += " (a tie)" if short and ties else ""
    return Check("greedy", not short or ties, float(worst.greedy_prefix), float(limit), text)


def judge_machine(limits: Limits, processes: Sequence[ProcessResult]) -> Check:
    """No page may have been swapped in while a process worked: its times and its memory would not be its own."""
    known = [process.swapped_in_pages for process in processes if process.swapped_in_pages is not None]
    pages = sum(known)
    text = f"{pages} pages swapped in" if known else "the kernel does not say whether pages were swapped in"
    return Check("machine", pages <= limits.swapped_in_pages, float(pages), float(limits.swapped_in_pages), text)


def judge_retrieval(sparse: ProcessResult, dense: ProcessResult) -> Check:
    """Selection may lose no key that attention to every row finds: a silent error would."""
    lost = [a.depth for a, b in zip(sparse.keys, dense.keys, strict=True) if b.was_found and not a.was_found]
    found, could = sum(key.was_found for key in sparse.keys), sum(key.was_found for key in dense.keys)
    text = f"{found} of {len(sparse.keys)} keys found, {could} without selection"
    if lost:
        text += "; lost at a depth of " + ", ".join(f"{depth:.0%}" for depth in lost)
    return Check("retrieval", not lost, float(found), float(could), text)
