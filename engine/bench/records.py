"""The frozen records of a benchmark: samples, rows, the whole run, and the updates a runner yields while it works.

They hold no tensors, cross threads, and are what the exports write. The speeds come from engine.speed, so that they
are the same numbers as the live panel's.
"""

from dataclasses import dataclass
from enum import Enum

from engine.bench.environment import Load, Machine, ModelFacts
from engine.bench.plans import Plan, decode_name, prefill_name
from engine.bench.stats import Stats, describe
from engine.events import Event
from engine.speed import decode_tok_s, prefill_tok_s

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured run. Times in seconds; None where that part was not measured.

    `computed` tokens were really computed in prefill_s, `cached` were in the session before. decode_s runs from the
    first of `generated` tokens to the last. `output_sha256` is over the generated ids, so that arms can be compared.
    """

    computed: int
    cached: int
    prefill_s: float | None
    generated: int
    decode_s: float | None
    output_sha256: str = ""

    @property
    def prefill_tok_s(self) -> float | None:
        return None if self.prefill_s is None else prefill_tok_s(self.computed, self.prefill_s)

    @property
    def decode_tok_s(self) -> float | None:
        return None if self.decode_s is None else decode_tok_s(self.generated, self.decode_s)

    @property
    def wall_s(self) -> float | None:
        """From the first prompt token to the last generated one; None unless both parts were measured."""
        return None if self.prefill_s is None or self.decode_s is None else self.prefill_s + self.decode_s


class Figure(Enum):
    """A quantity of a row."""

    PREFILL = "prefill"  # tok/s
    DECODE = "decode"  # tok/s
    WALL = "wall"  # seconds


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One line of the table: a shape and its samples so far.

    `variant` tells rows of one shape apart. `steps` are the lengths of the prompt's steps. `held_bytes` is the
    session state after the row, the mask figures are those that were never allocated (all layers, and the ratio-4
    ones alone), the peaks are the process's resident and the GPU's high-water marks during the row; None: unknown.
    """

    variant: str
    depth: int
    prompt_tokens: int
    generated_tokens: int
    runs_planned: int
    samples: tuple[Sample, ...]
    steps: tuple[int, ...] = ()
    held_bytes: int | None = None
    mask_bytes: int | None = None
    mask_bytes_ratio4: int | None = None
    peak_bytes: int | None = None
    peak_gpu_bytes: int | None = None

    @property
    def context(self) -> int:
        """Position after the prompt."""
        return self.depth + self.prompt_tokens

    @property
    def label(self) -> str:
        return self.variant or (self.name(Figure.PREFILL) if self.prompt_tokens else self.name(Figure.DECODE))

    @property
    def figures(self) -> tuple[Figure, ...]:
        """What the row measures. Wall time only where prompt and answer belong together, as in the seed plan."""
        has = {
            Figure.PREFILL: self.prompt_tokens > 0,
            Figure.DECODE: self.generated_tokens > 0,
            Figure.WALL: bool(self.prompt_tokens and self.generated_tokens and self.variant),
        }
        return tuple(figure for figure, is_measured in has.items() if is_measured)

    def name(self, figure: Figure) -> str:
        """The llama-bench name of a figure, with the variant in brackets."""
        if figure is Figure.PREFILL:
            base = prefill_name(self.depth, self.prompt_tokens)
        elif figure is Figure.DECODE:
            base = decode_name(self.context, self.generated_tokens)
        else:
            base = f"wall {prefill_name(self.depth, self.prompt_tokens)}+tg{self.generated_tokens}"
        return f"{base} [{self.variant}]" if self.variant else base

    def values(self, figure: Figure) -> list[float]:
        """The figure of every sample that has it; none if the row does not measure it."""
        if figure not in self.figures:
            return []
        if figure is Figure.PREFILL:
            found = [sample.prefill_tok_s for sample in self.samples]
        elif figure is Figure.DECODE:
            found = [sample.decode_tok_s for sample in self.samples]
        else:
            found = [sample.wall_s for sample in self.samples]
        return [value for value in found if value is not None]

    def stats(self, figure: Figure) -> Stats | None:
        return describe(self.values(figure))


@dataclass(frozen=True, slots=True)
class Settings:
    """What the run was asked for. `cold_is_fresh`: the model was loaded anew before each cold run."""

    plan: Plan
    context: int
    mode: str
    runs: int | None
    kv_rounding: str
    dtype: str
    cold_is_fresh: bool


@dataclass(frozen=True, slots=True)
class BenchRun:
    """A whole run: everything that is exported and kept in the history. `started_at` is UTC, ISO 8601, for display."""

    started_at: str
    settings: Settings
    model: ModelFacts
    machine: Machine
    text: str
    text_sha256: str
    load_before: Load
    load_during: Load
    not_quiet: tuple[str, ...]  # reasons in words; empty on a quiet machine
    rows: tuple[BenchRow, ...]
    was_stopped: bool
    failure: str | None = None  # what ended the run early, in words
    schema_version: int = SCHEMA_VERSION


class Phase(Enum):
    """What the runner is doing."""

    SETUP = "setup"  # filling the session up to the depth, outside the clock
    WARM_UP = "warm_up"
    PREFILL = "prefill"
    DECODE = "decode"


@dataclass(frozen=True, slots=True)
class BenchStarted:
    """The first update: the rows to come, still without samples, and why the machine is not quiet, if so."""

    plan: Plan
    rows: tuple[BenchRow, ...]
    not_quiet: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BenchProgressed:
    """Where the runner is. `row` and `run` count from 1; `left_s` is None until speeds are known."""

    row: int
    rows: int
    run: int
    runs: int
    phase: Phase
    share: float  # of all work, 0 to 1
    left_s: float | None


@dataclass(frozen=True, slots=True)
class RowMeasured:
    """A row has a new sample. `index` counts from 0 and is the row's place in BenchStarted.rows."""

    index: int
    row: BenchRow


@dataclass(frozen=True, slots=True)
class BenchActivity:
    """An event of the engine while a sample is measured: what the live panel shows for any job."""

    event: Event


@dataclass(frozen=True, slots=True)
class BenchEnded:
    """The last update, also after a stop: the run with the rows that have at least one sample."""

    run: BenchRun


BenchUpdate = BenchStarted | BenchProgressed | RowMeasured | BenchActivity | BenchEnded
