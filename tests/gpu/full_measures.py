"""What tests/gpu/full_model.py measures of one model, and the table it prints.

Floors: linear work of a token is 2 x the weights it passes (embedding excluded); attention reads at most window + top-k
rows a head twice; a decoded token reads each of its weights' bytes once (banded-prefill 9).
"""

import gc
import statistics
import threading
import time
from dataclasses import asdict, dataclass, field

import torch

import engine
from engine.errors import Stopped
from engine.loading import Model
from engine.session import Session
from tests.gpu.kernel_shares import Share, kernel_shares
from tests.gpu.token_costs import flops_of_prompt, token_bytes
from tests.gpu.workbench import Ceilings

SEED_PROMPT, CAP = 9133, 8192
PROMPTS = {
    "2,048": (2048, None),
    "9,133 in one step": (SEED_PROMPT, None),
    "8,192 + 941": (SEED_PROMPT, CAP),
    "10,240": (10240, None),
}
_GIB = 1 << 30


@dataclass(slots=True)
class Report:
    """Figures of one recipe: seconds, bytes, tokens a second; `floor` is the fraction of the floor reached."""

    address: str
    load_s: float
    weight_bytes: int
    prefill_s: dict[str, list[float]] = field(default_factory=dict)
    prefill_floor: dict[str, float] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    decode_tok_s: list[float] = field(default_factory=list)
    decode_floor: float = 0.0
    peak_bytes: int = 0
    forecast_bytes: int = 0
    masks_avoided: int = 0
    replays: int = 0
    replays_equal: bool = True
    cancel_s: list[float] = field(default_factory=list)
    shares: dict[str, list[Share]] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    def text(self) -> str:
        lines = ["", f"{self.address}: {self.weight_bytes / _GIB:.2f} GiB of weights, made in {self.load_s:.1f} s"]
        lines.append(f"{'prompt':20} {'median s':>9} {'best':>7} {'tok/s':>8} {'of floor':>9}")
        for name, seconds in self.prefill_s.items():
            median = statistics.median(seconds)
            lines.append(
                f"{name:20} {median:9.3f} {min(seconds):7.3f} {self.tokens[name] / median:8.0f} "
                f"{self.prefill_floor[name]:9.1%}"
            )
        decode = statistics.median(self.decode_tok_s)
        lines.append(f"decode after {SEED_PROMPT:,}: {decode:.1f} tok/s, {self.decode_floor:.1%} of the floor")
        off = self.peak_bytes / self.forecast_bytes - 1
        lines.append(
            f"peak {self.peak_bytes / _GIB:.3f} GiB, ledger {self.forecast_bytes / _GIB:.3f} GiB ({off:+.2%}); "
            f"no mask held, {self.masks_avoided / _GIB:.2f} GiB of masks avoided"
        )
        lines.append(f"{self.replays} replays: {'equal bits' if self.replays_equal else 'DIFFERENT BITS'}")
        lines.append("cancelled in " + ", ".join(f"{seconds * 1e3:.0f}" for seconds in self.cancel_s) + " ms")
        for phase, shares in self.shares.items():
            lines.append(f"{phase}: " + ", ".join(f"{share.name} {share.fraction:.1%}" for share in shares[:24]))
        return "\n".join(lines)


def measure_recipe(address: str, ceilings: Ceilings, rounds: int, longest: int, replays: int, decoded: int) -> Report:
    """All measures of one model; it is gone from memory afterwards."""
    began = time.perf_counter()
    model = engine.load(address, backend="gpu")
    torch.cuda.synchronize()
    report = Report(address, time.perf_counter() - began, model.network.weights.nbytes())
    print(f"{address}: loaded in {report.load_s:.1f} s, {model.info.native}", flush=True)
    longest_ids = _ids(model, max(longest, 10240))
    _time_prompts(model, longest_ids, ceilings, rounds, longest, report)
    _measure_peak(model, longest_ids, report)
    _replay(model, longest_ids[:SEED_PROMPT], replays, report)
    _time_decode(model, longest_ids[:SEED_PROMPT], ceilings, decoded, report)
    _cancel(model, longest_ids[:SEED_PROMPT], report)
    return report


def _ids(model: Model, count: int) -> list[int]:
    generator = torch.Generator().manual_seed(9133)
    return torch.randint(model.config.vocab, (count,), generator=generator).tolist()


def _time_prompts(model: Model, ids: list[int], ceilings: Ceilings, rounds: int, longest: int, report: Report) -> None:
    prompts = dict(PROMPTS)
    _prefilled(model, ids[:SEED_PROMPT])  # builds kernels, fills the allocator
    for _ in range(rounds):
        for name, (tokens, cap) in prompts.items():
            _, seconds = _prefilled(model, ids[:tokens], cap)
            report.prefill_s.setdefault(name, []).append(seconds)
    if longest:
        prompts[f"{longest:,}"] = (longest, None)
        _, seconds = _prefilled(model, ids[:longest])
        report.prefill_s[f"{longest:,}"] = [seconds]
    for name, (tokens, _) in prompts.items():
        floor = flops_of_prompt(model.config, tokens) / ceilings.matrix_flop_s
        report.tokens[name] = tokens
        report.prefill_floor[name] = floor / statistics.median(report.prefill_s[name])


def _prefilled(model: Model, ids: list[int], cap: int | None = None) -> tuple[Session, float]:
    """A new session that has read `ids`, and the seconds it took."""
    context = len(ids) + 1024
    session = model.session(context) if cap is None else model.session(context, cap=cap, cut="greedy")
    torch.cuda.synchronize()
    began = time.perf_counter()
    session.prefill(ids)
    torch.cuda.synchronize()
    return session, time.perf_counter() - began


def _measure_peak(model: Model, ids: list[int], report: Report) -> None:
    """One step of 9,133 tokens: the allocator's peak against what the ledger says the step and its session hold."""
    gc.collect()
    torch.cuda.empty_cache()
    session = model.session(SEED_PROMPT + 1024)
    plan = session.plan(SEED_PROMPT)
    torch.cuda.reset_peak_memory_stats()
    session.prefill(ids[:SEED_PROMPT])
    torch.cuda.synchronize()
    report.peak_bytes = torch.cuda.max_memory_allocated()
    report.forecast_bytes = plan.memory.forecast_peak_bytes
    report.masks_avoided = session.memory().mask_bytes


def _replay(model: Model, ids: list[int], replays: int, report: Report) -> None:
    """The same prompt again and again in fresh sessions: every bit of the logits and of the state."""
    wanted: list[torch.Tensor] | None = None
    for _ in range(replays + 1):
        session = model.session(len(ids) + 1024)
        logits = session.prefill(ids)
        found = [logits, *_state_tensors(session)]
        if wanted is None:
            wanted = [tensor.clone() for tensor in found]
        elif not all(torch.equal(_bits(a), _bits(b)) for a, b in zip(found, wanted, strict=True)):
            report.replays_equal = False
    report.replays = replays
    if wanted is not None and not bool(wanted[0].isfinite().all()):
        raise ArithmeticError("the model's logits are not finite")


def _state_tensors(session: Session) -> list[torch.Tensor]:
    found = []
    for layer in session.timeline.state.layers:
        rows = session.position // layer.ratio if layer.ratio else 0
        found += [*layer.volatile(), layer.compressed[:rows], layer.index[:rows]]
    return found


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().view(torch.uint8)


def _time_decode(model: Model, ids: list[int], ceilings: Ceilings, decoded: int, report: Report) -> None:
    """`decoded` greedy tokens after the prompt, each read on the host before the next begins."""
    session = model.session(len(ids) + 1024)
    token = int(session.prefill(ids).argmax())
    for _ in range(8):  # the first runs unrecorded, the second records
        token = int(session.decode(token).argmax())
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(decoded):
            token = int(session.decode(token).argmax())
        report.decode_tok_s.append(decoded / (time.perf_counter() - began))
    floor = token_bytes(model) / ceilings.copy_bytes_s
    report.decode_floor = floor * statistics.median(report.decode_tok_s)
    report.shares["decode"] = kernel_shares(lambda: [session.decode(token) for _ in range(16)])
    fresh = model.session(len(ids) + 1024)
    report.shares["prefill"] = kernel_shares(lambda: fresh.prefill(ids))


def _cancel(model: Model, ids: list[int], report: Report) -> None:
    """Seconds from setting the stop event to the step's end, at three moments of a prompt."""
    whole = statistics.median(report.prefill_s["9,133 in one step"])
    for moment in (0.2, 0.5, 0.8):
        session, stop = model.session(len(ids) + 1024), threading.Event()
        asked: list[float] = []

        def ask(stop: threading.Event = stop, asked: list[float] = asked) -> None:
            asked.append(time.perf_counter())
            stop.set()

        timer = threading.Timer(moment * whole, ask)
        timer.start()
        try:
            session.prefill(ids, stop)
        except Stopped:
            torch.cuda.synchronize()
            report.cancel_s.append(time.perf_counter() - asked[0])
        timer.join()
