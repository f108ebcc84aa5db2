"""Haloband beside transformers on the GPU of this machine: four layers of V4-Flash shape, the same weights and ids.

    python3 tests/gpu/compare_transformers.py [--rounds 5] [--tokens 9133] [--decode 32] [--chunks 0,2048] [--out FILE]

Layers of ratios 0, 0, 4 and 128, the first three routed by token id, in bfloat16; ours holds the same numbers as F16.
Every setting of transformers takes its turn with ours (tests/gpu/engine_rounds.py); its best counts. --small runs a
tiny model on the CPU, so that all of it can be tried without a GPU. Needs transformers (a peer, no dependency).
"""

import argparse
import importlib.util
import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import torch

from engine.divergence import Divergence, divergence
from engine.errors import UserError
from engine.loading import Model, load_source
from tests.gpu.engine_rounds import Haloband, Measured, Peer, Setting, Transformers, alternate
from tests.gpu.shared_weights import SharedWeights
from tests.gpu.token_costs import flops_of_prompt, token_bytes
from tests.gpu.transformers_model import GROUPED, other_attentions, same_model
from tests.gpu.workbench import Ceilings, measure_ceilings

OURS = "haloband, one step"
PREFILL_AIM, DECODE_AIM = 3.0, 10.0
_GATHERED = "batched_mm"  # copies the chosen experts' weights and multiplies those: for a single token only


@dataclass(frozen=True, slots=True)
class Scale:
    """A model and how it is run: `tokens` of prompt, `decoded` after it, the prompt chunks of transformers."""

    address: str
    backend: str
    tokens: int
    decoded: int
    chunks: tuple[int | None, ...]


FULL = Scale("synth:v4-flash?ratios=0,0,4,128", "gpu", 9133, 32, (None, 4096, 2048, 1024))
SMALL = Scale("synth:small?ratios=0,0,4,128", "cpu", 300, 4, (None, 128))


@dataclass(frozen=True, slots=True)
class Comparison:
    """What one run found. `prompt_flops` and `token_bytes` are what must at least be computed and read by ours."""

    model: str
    equal_tensors: int
    weight_bytes: int
    prompt_flops: int
    token_bytes: int
    engines: list[Measured]
    agreement: Divergence
    own_agreement: Divergence | None

    @property
    def ours(self) -> Measured:
        return next(engine for engine in self.engines if engine.name == OURS)

    @property
    def theirs(self) -> list[Measured]:
        return [engine for engine in self.engines if engine.name != OURS and engine.samples]

    @property
    def best_prefill(self) -> Measured:
        return min(self.theirs, key=lambda engine: engine.prefill_s)

    @property
    def best_decode(self) -> Measured:
        return min(self.theirs, key=lambda engine: engine.token_s)

    @property
    def prefill_ratio(self) -> float:
        return self.best_prefill.prefill_s / self.ours.prefill_s

    @property
    def decode_ratio(self) -> float:
        return self.best_decode.token_s / self.ours.token_s


def compare(scale: Scale, rounds: int) -> Comparison:
    """Load both, check that they hold the same numbers, time them in alternation, compare their answers."""
    source = SharedWeights(scale.address)
    model = load_source(source, scale.backend, kv_rounding="f16", dtype="float32")
    config, device = model.config, model.network.backend.tensor_device
    print(f"{source.name}: {model.info.device}, {model.info.native}", flush=True)
    theirs = same_model(source, config, device, torch.bfloat16)
    print(_sameness(source, theirs.config), flush=True)
    ids = random_ids(model, scale.tokens + scale.decoded)
    prompt, following = ids[: scale.tokens], ids[scale.tokens :]
    settings = [Setting(name, chunk) for name in ("eager", *other_attentions(theirs)) for chunk in scale.chunks]
    settings.append(Setting("eager", scale.chunks[-1], _GATHERED))
    ours = Haloband(model, len(ids))
    peers = {setting.name: Transformers(theirs, setting) for setting in settings}
    engines = alternate({OURS: ours, **peers}, prompt, scale.decoded, rounds)
    agreement, own = _agreement(ours, peers, engines, prompt, following)
    sizes = model.network.weights.nbytes(), flops_of_prompt(config, scale.tokens), token_bytes(model)
    return Comparison(source.name, len(source.held), *sizes, engines, agreement, own)


def _sameness(source: SharedWeights, settings: Any) -> str:
    """What both engines have in common, from the memory of ours and the settings of theirs."""
    hashed = sum(name.endswith("tid2eid.weight") for name in source.held)
    return (
        f"{len(source.held)} tensors hold equal numbers in both; {hashed} layers routed by token id, window "
        f"{settings.sliding_window}, top-k {settings.index_topk}, rotation {settings.rope_parameters['compress']}"
    )


def random_ids(model: Model, count: int) -> list[int]:
    """The prompt and what follows it: evenly spread ids, the same in every run."""
    generator = torch.Generator().manual_seed(9133)
    return torch.randint(model.config.vocab, (count,), generator=generator).tolist()


def _agreement(
    ours: Haloband,
    peers: dict[str, Transformers],
    engines: Sequence[Measured],
    prompt: list[int],
    following: list[int],
) -> tuple[Divergence, Divergence | None]:
    """Ours from transformers, and transformers from itself with other chunks, which shows its own rounding."""
    able = sorted((e for e in engines if e.name in peers and e.samples), key=lambda engine: engine.prefill_s)
    best, *others = (peers[engine.name] for engine in able)
    other = next((peer for peer in others if peer.setting.chunk != best.setting.chunk), None)

    def answers(peer: Peer) -> list[torch.Tensor]:
        return [peer.rows(prompt, following).log_softmax(dim=1)]

    theirs = answers(best)
    own = divergence(theirs, answers(other)) if other is not None else None
    return divergence(theirs, answers(ours)), own


def text(comparison: Comparison, tokens: int) -> str:
    """The table, the two ratios and the agreement."""
    lines = [
        "",
        f"| {'engine':55} | prefill ms | +-% | tok/s | decode ms a token | +-% | tok/s |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for engine in comparison.engines:
        if not engine.samples:
            lines.append(f"| {engine.name:55} | too little memory | | | | | |")
            continue
        lines.append(
            f"| {engine.name:55} | {engine.prefill_s * 1e3:.1f} | {engine.prefill_spread * 100:.0f} | "
            f"{tokens / engine.prefill_s:,.0f} | {engine.token_s * 1e3:.2f} | {engine.token_spread * 100:.0f} | "
            f"{1 / engine.token_s:,.1f} |"
        )
    lines += [
        f"prefill {comparison.prefill_ratio:.2f} times as fast as {comparison.best_prefill.name} (aim {PREFILL_AIM:g})",
        f"decode {comparison.decode_ratio:.2f} times as fast as {comparison.best_decode.name} (aim {DECODE_AIM:g})",
        f"{sum(engine.retries for engine in comparison.engines)} allocations in counted runs had to free memory first",
        _agreement_line("ours from transformers", comparison.agreement),
    ]
    if comparison.own_agreement is not None:
        lines.append(_agreement_line("transformers from itself in another setting", comparison.own_agreement))
    return "\n".join(lines)


def _agreement_line(what: str, found: Divergence) -> str:
    return (
        f"{what}: KL {found.mean:.2e} on average, {found.largest:.2e} at most, "
        f"same first choice in {found.same_top:.0%} of {found.tokens} rows"
    )


def as_json(comparison: Comparison, facts: dict[str, object]) -> dict[str, object]:
    """`facts` of the machine and everything in the table."""
    medians = {
        engine.name: {
            "prefill_s": engine.prefill_s,
            "prefill_spread": engine.prefill_spread,
            "token_s": engine.token_s,
            "token_spread": engine.token_spread,
        }
        for engine in comparison.engines
        if engine.samples
    }
    ratios = {"prefill_ratio": comparison.prefill_ratio, "decode_ratio": comparison.decode_ratio}
    return facts | asdict(comparison) | {"medians": medians} | ratios


def _facts(ceilings: Ceilings | None) -> dict[str, object]:
    import transformers

    device = torch.cuda.get_device_name() if ceilings is not None else f"{platform.machine()} CPU"
    found: dict[str, object] = {
        "device": device,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "transformers_experts": GROUPED,
    }
    return found | (asdict(ceilings) if ceilings is not None else {})


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=_positive, default=5, help="counted rounds; medians are reported")
    parser.add_argument("--tokens", type=_positive, help="tokens of the prompt (9133)")
    parser.add_argument("--decode", type=_positive, help="tokens decoded after it (32)")
    parser.add_argument("--chunks", type=_chunks, help="prompt chunks of transformers, 0 for whole (0,4096,2048,1024)")
    parser.add_argument("--out", type=Path, help="write everything to this file as JSON")
    parser.add_argument("--small", action="store_true", help="a tiny model on the CPU: a trial of this script")
    return parser.parse_args(argv)


def _positive(word: str) -> int:
    if (number := int(word)) < 1:
        raise argparse.ArgumentTypeError(f"{number} is below one")
    return number


def _chunks(words: str) -> tuple[int | None, ...]:
    return tuple(None if word == "0" else _positive(word) for word in words.split(","))


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _arguments(argv)
    if importlib.util.find_spec("transformers") is None:
        raise SystemExit("transformers is not installed here: pip install transformers==5.17.0, then run this again")
    if not (arguments.small or torch.cuda.is_available()):
        raise SystemExit("no GPU: this torch sees none (--small tries the script on the CPU)")
    scale = SMALL if arguments.small else FULL
    scale = replace(
        scale,
        tokens=arguments.tokens or scale.tokens,
        decoded=arguments.decode or scale.decoded,
        chunks=arguments.chunks or scale.chunks,
    )
    ceilings = None if arguments.small else measure_ceilings(torch.device("cuda"))
    facts = _facts(ceilings)
    print(", ".join(f"{name} {value}" for name, value in facts.items()), flush=True)
    try:
        comparison = compare(scale, arguments.rounds)
    except UserError as refused:
        raise SystemExit(str(refused)) from None
    print(text(comparison, scale.tokens))
    if ceilings is not None:
        prompt_s = comparison.prompt_flops / ceilings.matrix_flop_s
        token_s = comparison.token_bytes / ceilings.copy_bytes_s
        print(f"our floors: prompt {prompt_s * 1e3:.1f} ms of products, token {token_s * 1e3:.2f} ms of weights read")
    if arguments.out:
        arguments.out.write_text(json.dumps(as_json(comparison, facts), indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
