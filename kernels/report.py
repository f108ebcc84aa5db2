"""Compiles the whole catalogue for a target without a GPU and tabulates what each kernel needs.

Called by `haloband kernels` (through engine.backends) and by the compile tests. Compiles in parallel, seconds in all.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kernels.cache import CodeCache
from kernels.catalog import Entry, catalogue
from kernels.exec_mask import masked_exchanges
from kernels.resources import Resources, read_resources
from kernels.source import KernelSource
from kernels.zig_builder import ZigBuilder, find_zig

TARGETS = ("gfx1151", "gfx1150")
_BEGIN, _END = "<!-- resources: begin -->", "<!-- resources: end -->"


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One kernel as compiled: its catalogue entry, its figures, and what breaks a rule (nothing, in a good build)."""

    entry: Entry
    resources: Resources
    complaints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KernelReport:
    """All kernels of a target, by one compiler."""

    target: str
    compiler: str
    rows: tuple[ReportRow, ...]

    def as_json(self) -> dict[str, Any]:
        kernels = [
            {
                "kernel": row.entry.source.name,
                "shape": row.entry.shape.name,
                "defines": dict(row.entry.source.defines),
                "workgroup": row.entry.source.threads,
                **asdict(row.resources),
                "complaints": list(row.complaints),
            }
            for row in self.rows
        ]
        return {"target": self.target, "compiler": self.compiler, "kernels": kernels}

    def as_markdown(self) -> str:
        """The table of docs/kernels.md."""
        head = "| kernel | shape | VGPR | SGPR | LDS | spills | scratch | waves/SIMD | matrix and dot instructions |"
        lines = [head, "|---|---|---:|---:|---:|---:|---:|---:|---|"]
        for row in self.rows:
            r = row.resources
            figures = (r.vgprs, r.sgprs, r.lds_bytes, r.spills, r.scratch_bytes, r.occupancy_waves)
            cells = " | ".join(map(str, figures))
            lines.append(f"| {row.entry.source.label} | {row.entry.shape.name} | {cells} | {_mix(r)} |")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class AssemblyBuilder:
    """A kernels.builder.Builder whose product is the assembly text, so that a CodeCache can keep it."""

    zig: ZigBuilder

    @property
    def target(self) -> str:
        return self.zig.target

    @property
    def options(self) -> tuple[str, ...]:
        return (*self.zig.options, "-S")

    @property
    def identity(self) -> str:
        return self.zig.identity

    def build(self, source: KernelSource) -> bytes:
        return self.zig.assembly(source).encode()


def build_report(
    target: str,
    progress: Callable[[int, int], None] | None = None,
    strict: bool = False,
    cache: CodeCache | None = None,
) -> KernelReport:
    """Compile every entry for `target`. Raises KernelUnavailableError, KernelBuildError.

    `progress(done, total)` is called after each kernel, from this thread. `strict` makes compiler warnings errors.
    With a `cache`, a kernel whose source, options and compiler have not changed is not compiled again.
    """
    find_zig()
    builder, entries = AssemblyBuilder(ZigBuilder(target, strict)), catalogue(target)
    rows = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for row in pool.map(lambda entry: _examine(entry, builder, cache), entries):
            rows.append(row)
            if progress:
                progress(len(rows), len(entries))
    return KernelReport(target, builder.identity, tuple(rows))


def write_table(report: KernelReport, page: Path) -> None:
    """Replace the table between the two markers of a Markdown page. Raises ValueError if it has none."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{page} has no place for the table")
    page.write_text(f"{before}{begin}\n{report.as_markdown()}\n{end}{after}", encoding="utf-8")


def _examine(entry: Entry, builder: AssemblyBuilder, cache: CodeCache | None) -> ReportRow:
    assembly = (cache.get(entry.source, builder) if cache else builder.build(entry.source)).decode()
    resources = read_resources(assembly)
    return ReportRow(entry, resources, tuple(_complaints(entry, resources, masked_exchanges(assembly))))


def _complaints(entry: Entry, resources: Resources, masked: Sequence[str]) -> list[str]:
    found = []
    if resources.spills or resources.scratch_bytes:
        found.append(f"{resources.spills} spills and {resources.scratch_bytes} bytes of scratch")
    if resources.vgprs > entry.most_vgprs:
        found.append(f"{resources.vgprs} VGPRs exceed the budget of {entry.most_vgprs}")
    if resources.lds_bytes > entry.most_lds_bytes:
        found.append(f"{resources.lds_bytes} bytes of LDS exceed the budget of {entry.most_lds_bytes}")
    for prefix in entry.expects:
        if not any(name.startswith(prefix) for name in resources.instructions):
            found.append(f"no {prefix} instruction")
    found += [f"a wave exchange runs with lanes switched off: {text}" for text in masked]
    return found


def _mix(resources: Resources) -> str:
    arithmetic = {
        name: count
        for name, count in resources.instructions.items()
        if name.startswith(("v_wmma", "v_dot", "v_dual_dot", "v_fma_mix"))
    }
    return ", ".join(f"{count} {name}" for name, count in arithmetic.items())
