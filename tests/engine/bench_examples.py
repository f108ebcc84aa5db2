"""Benchmark runs with round figures, for the tests of exports, history and the panel."""

from dataclasses import replace

from engine.bench.environment import Load, Machine, ModelFacts
from engine.bench.plans import Plan
from engine.bench.records import BenchRow, BenchRun, Sample, Settings

_QUIET = Load(0.02, 0.4, None, None)


def prompt_sample(tokens: int, tok_s: float, cached: int = 0) -> Sample:
    return Sample(tokens, cached, tokens / tok_s, 0, None)


def answer_sample(tokens: int, tok_s: float) -> Sample:
    return Sample(0, 0, None, tokens, (tokens - 1) / tok_s, "ab" * 32)


def example_run(speed: float = 1.0, started_at: str = "2026-01-02T03:04:05+00:00") -> BenchRun:
    """A quick run: pp512 at 1,400, 1,500, 1,600 tok/s and tg64 at 250, both times `speed`."""
    prompts = tuple(prompt_sample(512, tok_s * speed) for tok_s in (1400.0, 1500.0, 1600.0))
    answers = tuple(answer_sample(64, 250.0 * speed) for _ in range(3))
    return BenchRun(
        started_at=started_at,
        settings=Settings(Plan.QUICK, 2048, "sparse", 3, "f16", "auto", False),
        model=ModelFacts(
            "DS4 nano", "sha256:" + "12" * 32, "deepseek4", 44_400_000, 39_517_824, "MXFP4 + Q8_0", 10, 65_536,
            "cpu", "2 cores", None,
        ),
        machine=Machine(
            "0.1.0", "c" * 40, "3.11.7", "2.13.0", "2.3.0", "Linux", "6.1.0", "a processor", 2, 2, 24 << 30, None,
            "balanced", "schedutil", None,
        ),
        text="real prose: Jane Austen, Persuasion (public domain)",
        text_sha256="ef" * 32,
        load_before=_QUIET,
        load_during=_QUIET,
        not_quiet=(),
        rows=(
            BenchRow("", 0, 512, 0, 3, prompts, (512,), 81_920, 1 << 20, 1 << 19, 300 << 20),
            BenchRow("", 0, 0, 64, 3, answers),
        ),
        was_stopped=False,
    )  # fmt: skip


def seed_run() -> BenchRun:
    """The seed plan with the public figures of the two-step arm as its cold row, on a machine that was not quiet."""
    run = example_run()
    decode_s = 127 / 19.0
    cold = Sample(9133, 0, 42.8 - decode_s, 128, decode_s, "ab" * 32)
    warm = replace(cold, prefill_s=36.0)
    row = BenchRow(
        "8,192 + 941, cold", 0, 9133, 128, 1, (cold,), (8192, 941), 80_700_000, 14_760_000_000, 7_046_430_720, 1 << 34
    )
    return replace(
        run,
        settings=replace(run.settings, plan=Plan.SEED, context=9261),
        load_during=Load(0.9, 1.4, 3, 61.5),
        not_quiet=("other programs kept 0.9 processor cores busy",),
        rows=(
            row,
            replace(row, variant="8,192 + 941, warm", runs_planned=2, samples=(warm, replace(warm, prefill_s=36.5))),
            replace(row, variant="9,133 in one step, warm", steps=(9133,), samples=(replace(warm, prefill_s=34.0),)),
        ),
    )
