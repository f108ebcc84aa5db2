"""The four benchmark plans as lists of cases: integers only, nothing is run here.

The runner (engine/bench/run.py) walks the cases; the panel shows their labels before anything is measured. Names follow
llama-bench: ppN prefill of N tokens, tgN decode of N, "@ dN" with N tokens already in the session.
"""

from dataclasses import dataclass
from enum import Enum

from engine.errors import UserError
from engine.plan import STEP_CAP, Cut, cut_prompt

DEEP_TOKENS = 16_384  # from here on a run is long: fewer of them
RUNS, DEEP_RUNS = 5, 3
SEED_PROMPT, SEED_ANSWER, SEED_CAP, SEED_RUNS = 9_133, 128, 8_192, 3
SWEEP_INTERVAL, SWEEP_ANSWER, SWEEP_LIMIT, SWEEP_ROWS = 2_048, 64, 32_768, 64


class Plan(Enum):
    """What to measure."""

    QUICK = "quick"
    STANDARD = "standard"
    SEED = "seed"  # the table of Luce-Org/lucebox PR #684
    SWEEP = "sweep"  # the frontier method of antirez/ds4's ds4-bench


class CaseKind(Enum):
    """How a case is measured."""

    PREFILL = "prefill"  # a prompt from an empty session, or at a depth
    DECODE = "decode"  # an answer from an empty session
    SEED = "seed"  # prompt and answer, the first run cold
    FRONTIER = "frontier"  # the next interval of one long text, then an answer that is taken back


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to measure. `depth` tokens are in the session before, `prompt` are computed, `answer` generated.

    A decode case has prompt 0: one begin-of-text token, outside the clock, gives its first token.
    """

    kind: CaseKind
    depth: int
    prompt: int
    answer: int
    runs: int
    cap: int = STEP_CAP
    cut: Cut = Cut.EQUAL
    variant: str = ""  # tells two cases of one shape apart, such as "8,192 + 941, warm"
    is_cold: bool = False  # on a new session, without a warm-up
    warm_ups: int = 1

    @property
    def context(self) -> int:
        """Tokens the session must be able to hold."""
        return self.depth + max(self.prompt, 1) + self.answer

    @property
    def label(self) -> str:
        """What the table calls the case while it waits."""
        if self.variant:
            return self.variant
        return prefill_name(self.depth, self.prompt) if self.prompt else decode_name(0, self.answer)


def prefill_name(depth: int, prompt: int) -> str:
    return f"pp{prompt}" + (f" @ d{depth}" if depth else "")


def decode_name(depth: int, answer: int) -> str:
    return f"tg{answer}" + (f" @ d{depth}" if depth else "")


def plan_cases(plan: Plan, runs: int | None = None, context: int | None = None, limit: int | None = None) -> list[Case]:
    """The cases of a plan, in the order they run.

    `runs` overrides the number of measured runs; `context` is the session's length (for the sweep: how far to walk)
    and `limit` the model's. Raises UserError where they contradict each other or the plan.
    """
    if runs is not None and runs < 1:
        raise UserError(f"A benchmark needs at least one run, not {runs}.")
    if context is not None and limit is not None and context > limit:
        raise UserError(f"A context of {context:,} tokens is more than the model's {limit:,}.")
    if plan is Plan.SWEEP:
        return _sweep(context or min(SWEEP_LIMIT, limit or SWEEP_LIMIT), runs)
    cases = _seed(runs) if plan is Plan.SEED else _fixed(plan, runs)
    needed, allowed = max(case.context for case in cases), context or limit
    if allowed is not None and needed > allowed:
        raise UserError(f"The {plan.value} plan needs a context of {needed:,} tokens; {allowed:,} is too short.")
    return cases


def _runs_at(depth: int, runs: int | None) -> int:
    return runs or (DEEP_RUNS if depth >= DEEP_TOKENS else RUNS)


def _fixed(plan: Plan, runs: int | None) -> list[Case]:
    def prefill(prompt: int, depth: int = 0) -> Case:
        return Case(CaseKind.PREFILL, depth, prompt, 0, _runs_at(depth + prompt, runs))

    answer = 64 if plan is Plan.QUICK else 128
    cases = [prefill(512), prefill(2048), Case(CaseKind.DECODE, 0, 0, answer, _runs_at(0, runs))]
    return cases if plan is Plan.QUICK else [*cases, prefill(2048, 8192)]


def _seed(runs: int | None) -> list[Case]:
    """Both ways to cut the same prompt: of each one cold run, then warm ones on the same session."""
    warm_runs = (runs or SEED_RUNS) - 1
    cases = []
    for cap, cut in ((SEED_CAP, Cut.GREEDY), (STEP_CAP, Cut.EQUAL)):
        name = _arm_name(cap, cut)
        shape = (CaseKind.SEED, 0, SEED_PROMPT, SEED_ANSWER)
        cases.append(Case(*shape, 1, cap, cut, variant=f"{name}, cold", is_cold=True, warm_ups=0))
        if warm_runs:
            cases.append(Case(*shape, warm_runs, cap, cut, variant=f"{name}, warm", warm_ups=0))
    return cases


def _arm_name(cap: int, cut: Cut) -> str:
    steps = cut_prompt(0, SEED_PROMPT, cap, cut)
    return " + ".join(f"{step.tokens:,}" for step in steps) + (" in one step" if len(steps) == 1 else "")


def _sweep(context: int, runs: int | None) -> list[Case]:
    """Frontiers at equal intervals to the end of the context, at most SWEEP_ROWS of them, one run each by default."""
    last = context - SWEEP_ANSWER
    interval = SWEEP_INTERVAL * max(1, -(-last // (SWEEP_INTERVAL * SWEEP_ROWS)))
    if last < interval:
        raise UserError(
            f"The sweep plan needs a context of at least {interval + SWEEP_ANSWER:,} tokens; {context:,} is too short."
        )
    return [
        Case(CaseKind.FRONTIER, stop - interval, interval, SWEEP_ANSWER, runs or 1, warm_ups=int(stop == interval))
        for stop in range(interval, last + 1, interval)
    ]
