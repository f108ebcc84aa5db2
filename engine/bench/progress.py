"""How much of a plan is done and how long the rest will take, from the speeds measured so far. Pure bookkeeping."""

from collections.abc import Iterable

from engine.bench.plans import Case, CaseKind

_ANSWER_WEIGHT = 20  # a generated token costs about as much as this many prompt tokens, until speeds are known


class WorkMeter:
    """Counts prompt and answer tokens done of those a plan needs, warm-ups and filling included."""

    def __init__(self, cases: Iterable[Case]) -> None:
        cases = list(cases)
        self._prompt = sum(fill_tokens(case) + case.prompt * _passes(case) for case in cases)
        self._answer = sum(case.answer * _passes(case) for case in cases)
        self._prompt_done = self._answer_done = 0
        self._prompt_s: float | None = None  # seconds a token, newest measurement
        self._answer_s: float | None = None

    def prompt_done(self, tokens: int, seconds: float | None = None) -> None:
        """A prompt of `tokens` is through; `seconds` if it was timed."""
        self._prompt_done += tokens
        if seconds is not None and tokens:
            self._prompt_s = seconds / tokens

    def answer_done(self, tokens: int, seconds: float | None = None) -> None:
        self._answer_done += tokens
        if seconds is not None and tokens > 1:
            self._answer_s = seconds / (tokens - 1)

    def share(self, prompt_now: int = 0) -> float:
        """Share of the work that is done, 0 to 1; `prompt_now` tokens of the running prompt count too."""
        total = self._prompt + _ANSWER_WEIGHT * self._answer
        done = self._prompt_done + prompt_now + _ANSWER_WEIGHT * self._answer_done
        return min(1.0, done / total) if total else 1.0

    def left_s(self, prompt_now: int = 0) -> float | None:
        """Seconds left; None while a speed that is needed is unknown."""
        prompt = max(0, self._prompt - self._prompt_done - prompt_now)
        answer = max(0, self._answer - self._answer_done)
        if (prompt and self._prompt_s is None) or (answer and self._answer_s is None):
            return None
        return prompt * (self._prompt_s or 0.0) + answer * (self._answer_s or 0.0)


def fill_tokens(case: Case) -> int:
    """Tokens computed only to reach the case's depth; a frontier starts where the one before it ended."""
    return 0 if case.kind is CaseKind.FRONTIER else case.depth


def _passes(case: Case) -> int:
    return case.warm_ups + case.runs
