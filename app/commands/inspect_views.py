"""The report on a model file as text for people and as JSON for programs. Called by `haloband inspect` only."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from app.plain_words import printable, size_text
from engine.partial_sampling import PartialSampling


@dataclass(frozen=True, slots=True)
class TypeUse:
    """One number format of a file: how many tensors and weights use it, in how many bytes."""

    type_id: int
    name: str
    tensors: int
    parameters: int
    stored_bytes: int

    @property
    def bits_per_weight(self) -> float:
        return self.stored_bytes * 8 / self.parameters


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """What running a model takes beside what this machine has. `session_bytes` is a session of `context` tokens."""

    available_bytes: int
    total_bytes: int
    stored_weight_bytes: int
    decoded_weight_bytes: int
    context: int
    session_bytes: int

    @property
    def cpu_bytes(self) -> int:
        """On the CPU, where weights are decoded while loading."""
        return self.decoded_weight_bytes + self.session_bytes

    @property
    def gpu_bytes(self) -> int:
        """On a GPU that shares this memory, where weights stay as stored."""
        return self.stored_weight_bytes + self.session_bytes

    @property
    def fits_cpu(self) -> bool:
        return self.cpu_bytes <= self.available_bytes

    @property
    def fits_gpu(self) -> bool:
        return self.gpu_bytes <= self.available_bytes


@dataclass(frozen=True, slots=True)
class FileReport:
    """What a model's files say of themselves. `problem` tells why it cannot be run; shape and memory are None then."""

    path: Path
    file_bytes: int
    form: str
    files: int
    name: str | None
    license: str | None
    architecture: str
    problem: str | None
    parameters: int
    tensors: int
    layers: int | None
    context_length: int | None
    experts: int | None
    experts_used: int | None
    vocabulary: int | None
    sampling: PartialSampling  # as the model's makers advise
    types: tuple[TypeUse, ...]
    meanings: tuple[str, ...]
    notes: tuple[str, ...]
    memory: MemoryNeed | None


def as_json(report: FileReport) -> dict[str, Any]:
    """Every number; sizes in bytes."""
    values = asdict(report) | {"schema": 1, "path": str(report.path), "runs": report.problem is None}
    for use, entry in zip(report.types, values["types"], strict=True):
        entry["bits_per_weight"] = round(use.bits_per_weight, 3)
    if need := report.memory:
        values["memory"] |= {
            "cpu_bytes": need.cpu_bytes,
            "gpu_bytes": need.gpu_bytes,
            "fits_cpu": need.fits_cpu,
            "fits_gpu": need.fits_gpu,
        }
    return values


def as_text(report: FileReport) -> str:
    """The report in lines for a terminal."""
    in_files = f" in {report.files:,} files" if report.files > 1 else ""
    facts: list[tuple[str, object]] = [
        ("name", report.name),
        ("file", f"{report.path} ({report.form}{in_files}, {size_text(report.file_bytes)})"),
        ("architecture", report.architecture),
        ("license", report.license),
        ("parameters", f"{report.parameters:,} in {report.tensors:,} tensors"),
        ("layers", report.layers),
        ("experts", report.experts and f"{report.experts}, {report.experts_used} used for each token"),
        ("vocabulary", report.vocabulary and f"{report.vocabulary:,} tokens"),
        ("context", report.context_length and f"up to {report.context_length:,} tokens"),
        ("sampling", _advice(report.sampling)),
    ]
    lines = [f"{name:<13} {printable(str(value))}" for name, value in facts if value is not None]
    lines += ["", *_type_table(report.types), *map(printable, (*report.meanings, *report.notes)), ""]
    lines.append(f"This file cannot be run: {report.problem}" if report.problem else _verdict(report.memory))
    return "\n".join(lines)


def _advice(sampling: PartialSampling) -> str | None:
    numbers = [f"{name.replace('_', '-')} {value:g}" for name, value in asdict(sampling).items() if value is not None]
    return f"{', '.join(numbers)} (the makers' advice)" if numbers else None


def _type_table(types: tuple[TypeUse, ...]) -> list[str]:
    width = max([len(use.name) for use in types] + [6])
    lines = [f"{'format':<{width}} {'tensors':>8} {'weights':>18} {'size':>10} {'bits/weight':>12}"]
    for use in types:
        lines.append(
            f"{use.name:<{width}} {use.tensors:>8,} {use.parameters:>18,} {size_text(use.stored_bytes):>10} "
            f"{use.bits_per_weight:>12.2f}"
        )
    return lines


def _verdict(need: MemoryNeed | None) -> str:
    if need is None:
        return ""
    session = f"and a session of {need.context:,} tokens"
    rows = [
        f"{'fits' if fits else 'does not fit':<13} {place}: {size_text(needed)} for weights {session}"
        for place, fits, needed in (
            ("on the CPU, weights decoded", need.fits_cpu, need.cpu_bytes),
            ("on a GPU that shares memory, weights as stored", need.fits_gpu, need.gpu_bytes),
        )
    ]
    return "\n".join(
        [*rows, f"{'memory':<13} {size_text(need.available_bytes)} available of {size_text(need.total_bytes)}"]
    )
