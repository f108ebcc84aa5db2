"""The frozen records of the qualification: what a process is asked, what it found, what the report says.

They hold no arrays, cross threads and processes, and are saved as JSON through engine.record_json.
"""

from dataclasses import dataclass
from enum import Enum

SCHEMA_VERSION = 1
PROMPT_TOKENS, ROWS, GREEDY_TOKENS = 9_133, 128, 32
EXACT_PROMPT_TOKENS, EXACT_ROWS = 4_096, 256
KEY_DEPTHS = (0.02, 0.20, 0.50, 0.80, 0.98)


class Domain(Enum):
    """What a tape's text is about."""

    PROSE = "prose"
    CODE = "code"
    AGENT = "agent"
    MULTILINGUAL = "multilingual"


class Axis(Enum):
    """What a set of processes compares."""

    WIDTH = "width"  # A against B: step caps
    SELECTION = "selection"  # sparse against exact, past position 4,096
    RETRIEVAL = "retrieval"  # keys in a long text: sparse against dense


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """One fresh process. `arm` names what it stands for; two processes of one arm must agree bit for bit.

    `retrieval_tokens` > 0 asks for keys in a text of that length instead of tapes.
    """

    axis: Axis
    place: int  # from 1, in the order they run
    arm: str
    mode: str
    cap: int
    dtype: str
    kv_rounding: str | None
    model: str | None  # path; None is the embedded model
    domains: tuple[Domain, ...]
    prompt_tokens: int
    rows: int
    greedy: int
    retrieval_tokens: int = 0

    @property
    def name(self) -> str:
        return f"{self.place}-{self.arm}"


@dataclass(frozen=True, slots=True)
class DomainResult:
    """What a process found on one tape. Hashes are SHA-256 in hex; `greedy_gaps` are top-2 gaps in logits.

    `logits_file` is a float32 array [rows, vocab] beside the result, needed only until the report is made.
    """

    domain: Domain
    tape_sha256: str
    tape_is_frozen: bool
    logits_file: str
    logits_sha256: str
    state_sha256: tuple[str, ...]
    greedy_ids: tuple[int, ...]
    greedy_gaps: tuple[float, ...]
    prefill_s: float
    rows_s: float
    greedy_s: float


@dataclass(frozen=True, slots=True)
class KeyResult:
    """One key that was asked for: where it stood, whether it came back byte for byte, and what came instead."""

    depth: float
    was_found: bool
    answer: str


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """Everything a process found. `swapped_in_pages` is None where the kernel does not say."""

    spec: ProcessSpec
    model_name: str
    model_fingerprint: str
    backend: str
    device: str
    native: str | None
    versions: tuple[str, ...]  # "haloband 0.1.0", "torch 2.13.0", ...
    domains: tuple[DomainResult, ...]
    keys: tuple[KeyResult, ...]
    peak_bytes: int | None
    swapped_in_pages: int | None
    wall_s: float


@dataclass(frozen=True, slots=True)
class TokenProbability:
    """One of the likeliest tokens of a row."""

    token: int
    probability: float


@dataclass(frozen=True, slots=True)
class PairStatistics:
    """Two processes on one tape. KL in nats, of `left` against `right`, averaged over the rows."""

    left: str
    right: str
    mean_kl: float
    p99_kl: float
    worst_row: int
    worst_kl: float
    worst_left: tuple[TokenProbability, ...]
    worst_right: tuple[TokenProbability, ...]
    top1: float  # share of rows with the same likeliest token
    greedy_prefix: int
    greedy_gap: float | None  # top-2 gap of `left` where the answers first differ; None if they do not
    row_kl: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One rule applied: the value, the limit it was held against, and the sentence that says so."""

    rule: str
    passed: bool
    value: float
    limit: float
    text: str


@dataclass(frozen=True, slots=True)
class DomainVerdict:
    """One domain of one axis: every pair, and every check."""

    axis: Axis
    domain: Domain
    same: tuple[PairStatistics, ...]
    cross: tuple[PairStatistics, ...]
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)


@dataclass(frozen=True, slots=True)
class Report:
    """A whole qualification. `series` changes with the limits, the tapes, the caps or the model.

    `failure` says why it could not be finished; it is kept like any other result.
    """

    started_at: str
    series: str
    limits_sha256: str
    cap_a: int
    cap_b: int
    processes: tuple[ProcessResult, ...]
    verdicts: tuple[DomainVerdict, ...]
    checks: tuple[Check, ...]  # of the run as a whole: machine, retrieval
    failure: str | None
    schema_version: int = SCHEMA_VERSION

    @property
    def passed(self) -> bool:
        is_done = self.failure is None and bool(self.verdicts)
        return (
            is_done and all(verdict.passed for verdict in self.verdicts) and all(check.passed for check in self.checks)
        )
