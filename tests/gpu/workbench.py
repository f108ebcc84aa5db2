"""What the kernel benchmark measures with: a case, its check against float64, its replays, its time, the two ceilings.

Used by run_all.py on a GPU; the emulator tests run the same cases without timing, so that none fails on the machine for
a reason that could be found at home.
"""

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from kernels.launch import Launcher
from kernels.shapes import ModelShape

REPLAYS = 100
_CACHE_BYTES = 512 << 20  # inputs rotate over at least this much, so that no cache holds them
_COPIED_BYTES = 4 << 30
_SAMPLE_MS = 20.0
_SAMPLES = 7


@dataclass(slots=True)
class Workbench:
    """A launcher, where tensors live, the model's shape, and random numbers."""

    launcher: Launcher
    shape: ModelShape
    random: torch.Generator
    rotates: bool  # whether inputs are copied so that no cache can hold them

    @property
    def device(self) -> torch.device:
        return self.launcher.device.tensor_device

    def normal(self, *shape: int, size: float = 1.0) -> torch.Tensor:
        return torch.randn(shape, generator=self.random, device=self.device) * size

    def empty(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device=self.device)

    def position(self, value: int) -> torch.Tensor:
        return torch.tensor([value], dtype=torch.int32, device=self.device)

    def sample(self, count: int, most: int) -> list[int]:
        """Up to `most` of the numbers 0 .. count - 1, always with the first and the last."""
        if count <= most:
            return list(range(count))
        middle = torch.randperm(count - 2, generator=self.random, device=self.device)[: most - 2].tolist()
        return sorted({0, count - 1, *(number + 1 for number in middle)})

    def sets(self, nbytes: int) -> int:
        """How many copies of inputs of this size a launch should rotate over."""
        return min(64, -(-_CACHE_BYTES // max(nbytes, 1))) if self.rotates else 1


@dataclass(slots=True)
class Case:
    """One kernel (or the few that make one step) at one shape.

    `launches` do the same work on copies of the inputs; the first is the one checked, and writes `outputs`. `error`
    compares them with float64 (NMSE, or a count of wrong values) and must be at most `limit`. `nbytes` and `flops` are
    the least that must move and be computed. `before` restores inputs that a launch changes.
    """

    kernel: str
    what: str
    tokens: int
    launches: list[Callable[[], None]]
    outputs: list[torch.Tensor]
    error: Callable[[], float]
    limit: float
    nbytes: int
    flops: int
    before: Callable[[], None] | None = None
    aim: float | None = None  # fraction of the floor wanted
    may_keep_poison: list[torch.Tensor] = field(default_factory=list)  # outputs that are not written everywhere


@dataclass(frozen=True, slots=True)
class Ceilings:
    """Measured on this machine in this run: bytes a second of a device copy (read plus written), bf16 FLOP a second."""

    copy_bytes_s: float
    matrix_flop_s: float

    def floor_s(self, case: Case) -> float:
        return max(case.nbytes / self.copy_bytes_s, case.flops / self.matrix_flop_s)


@dataclass(frozen=True, slots=True)
class Result:
    """A row of the table. `seconds` is the median; `spread` the range of the samples over it."""

    kernel: str
    what: str
    tokens: int
    error: float
    limit: float
    replays_equal: bool
    seconds: float
    spread: float
    nbytes: int
    flops: int
    floor_s: float
    aim: float | None
    is_memory_bound: bool

    @property
    def fraction(self) -> float:
        return self.floor_s / self.seconds

    @property
    def is_right(self) -> bool:
        return self.error <= self.limit and self.replays_equal


def nmse(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """Squared error over squared size; NaN never passes a limit."""
    error = found.double() - wanted.double()
    return float(error.square().sum() / wanted.double().square().sum())


def poison(tensors: list[torch.Tensor]) -> None:
    for tensor in tensors:
        tensor.view(torch.uint8).fill_(0xFF)


def check(bench: Workbench, case: Case) -> float:
    """Run the case into poisoned outputs and compare. NaN left anywhere in a float output makes the error NaN."""
    poison(case.outputs)
    _run(case, case.launches[0])
    bench.launcher.device.synchronise()
    written = [o for o in case.outputs if not any(o is kept for kept in case.may_keep_poison)]
    if any(bool(output.isnan().any()) for output in written if output.is_floating_point()):
        return float("nan")
    return case.error()


def replays_equal(bench: Workbench, case: Case, count: int = REPLAYS) -> bool:
    """Whether `count` more runs on the same inputs give the same bits."""
    wanted = [output.clone() for output in case.outputs]
    equal = torch.ones((), dtype=torch.bool, device=bench.device)
    for _ in range(count):
        poison(case.outputs)
        _run(case, case.launches[0])
        for output, first in zip(case.outputs, wanted, strict=True):
            equal &= (_bits(output) == _bits(first)).all()
    bench.launcher.device.synchronise()
    return bool(equal)


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as integers, so that NaN equals NaN."""
    return tensor.view(torch.int16 if tensor.element_size() == 2 else torch.int32)


def measure(bench: Workbench, case: Case, ceilings: Ceilings) -> Result:
    """Check, replay and time one case on a GPU."""
    error = check(bench, case)
    is_stable = replays_equal(bench, case)
    samples = _time(case)
    median = statistics.median(samples)
    return Result(
        case.kernel,
        case.what,
        case.tokens,
        error,
        case.limit,
        is_stable,
        median,
        (max(samples) - min(samples)) / median,
        case.nbytes,
        case.flops,
        ceilings.floor_s(case),
        case.aim,
        case.nbytes / ceilings.copy_bytes_s >= case.flops / ceilings.matrix_flop_s,
    )


def measure_ceilings(device: torch.device) -> Ceilings:
    """A 4 GiB copy and a bf16 product of 8,192 cubed on random data, medians."""
    return Ceilings(2 * _COPIED_BYTES / _copy_s(device), 2 * 8192**3 / _product_s(device))


def _copy_s(device: torch.device) -> float:
    source = torch.randint(0, 255, (_COPIED_BYTES,), dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    return statistics.median(_events(lambda: target.copy_(source), 3) for _ in range(_SAMPLES))


def _product_s(device: torch.device) -> float:
    a, b = (torch.randn(8192, 8192, device=device, dtype=torch.bfloat16) for _ in range(2))
    return statistics.median(_events(lambda: torch.matmul(a, b), 10) for _ in range(_SAMPLES))


def _run(case: Case, launch: Callable[[], None]) -> None:
    if case.before is not None:
        case.before()
    launch()


def _events(work: Callable[[], object], repeats: int) -> float:
    """Seconds a repeat, by device events, after one run that is not counted."""
    work()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(repeats):
        work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1000 / repeats


def _time(case: Case) -> list[float]:
    """Seconds a launch: replays of a captured graph of launches that rotate over the copies of the inputs."""
    once = _events(case.launches[0], 2)
    count = max(1, min(200, int(_SAMPLE_MS / 1000 / once)))
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for number in range(count):
            case.launches[number % len(case.launches)]()
    graph.replay()
    return [_events(graph.replay, 1) / count for _ in range(_SAMPLES)]
