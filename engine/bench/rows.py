"""Builds the records of a run from what was measured: a table row from its samples, the model's facts from its info."""

from dataclasses import replace

from engine.bench.environment import ModelFacts, fingerprint_file
from engine.bench.peak import PeakWatch
from engine.bench.plans import Case
from engine.bench.records import BenchRow, Sample
from engine.ledger import MemoryReport
from engine.model_info import ModelInfo
from engine.plan import cut_prompt

_INDEXED_RATIO = 4  # the layers whose masks the public figures count


def planned_row(case: Case) -> BenchRow:
    """The row of a case before anything is measured."""
    steps = tuple(step.tokens for step in cut_prompt(case.depth, case.prompt, case.cap, case.cut))
    return BenchRow(case.variant, case.depth, case.prompt, case.answer, case.runs, (), steps)


def make_row(case: Case, samples: tuple[Sample, ...], report: MemoryReport | None, peak: PeakWatch) -> BenchRow:
    """The row of a case with the samples so far. Mask figures only where a prompt was measured."""
    layers = report.layers if report is not None and case.prompt else ()
    return replace(
        planned_row(case),
        samples=samples,
        held_bytes=report.held_bytes if report is not None else None,
        mask_bytes=sum(layer.mask_bytes for layer in layers) if layers else None,
        mask_bytes_ratio4=sum(x.mask_bytes for x in layers if x.ratio == _INDEXED_RATIO) if layers else None,
        peak_bytes=peak.resident_bytes(),
        peak_gpu_bytes=peak.gpu_bytes(),
    )


def model_facts(info: ModelInfo) -> ModelFacts:
    """What the run's record keeps of the model, with the fingerprint of its file."""
    return ModelFacts(
        name=info.name,
        fingerprint=fingerprint_file(info.path),
        architecture=info.architecture,
        parameters=info.parameters,
        file_bytes=info.file_bytes,
        quantization=info.quantization,
        layers=info.layers,
        context_length=info.context_length,
        backend=info.backend,
        device=info.device,
        native=info.native,
    )
