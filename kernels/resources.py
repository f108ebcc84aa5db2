"""Reads what a kernel needs out of gfx assembly text: the figures of `haloband kernels` and of docs/kernels.md.

Pure text work, no compiler and no device. kernels.exec_mask reads the same text for what must not happen in it.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

# What a table shows of the instruction mix: matrix and dot products, mixed F16/F32 arithmetic, wide memory accesses.
NOTABLE = re.compile(
    r"^(v_wmma_\w+|v_(?:dual_)?dot\d\w*|v_fma_mix\w*|v_perm_b32|v_permlanex16_b32|"
    r"ds_(?:load|store)_b(?:64|128)|global_load_b128)"
)
_METADATA = re.compile(r"^\s+\.(\w+):\s+(\d+)\s*$", re.MULTILINE)
_COMMENT = re.compile(r"^; (Occupancy|codeLenInByte)\s*[:=]\s*(\d+)", re.MULTILINE)
_INSTRUCTION = re.compile(r"^\t([a-z]\w+)(?:\s+(.*?))?\s*(?:;.*)?$")


@dataclass(frozen=True, slots=True)
class Resources:
    """One compiled kernel. Registers are per lane, LDS per workgroup, scratch per lane; occupancy is waves a SIMD."""

    vgprs: int
    sgprs: int
    lds_bytes: int
    scratch_bytes: int
    vgpr_spills: int
    sgpr_spills: int
    occupancy_waves: int
    code_bytes: int
    instructions: dict[str, int] = field(default_factory=dict)

    @property
    def spills(self) -> int:
        return self.vgpr_spills + self.sgpr_spills


def read_resources(assembly: str) -> Resources:
    """The figures of the one kernel in `assembly`. Raises ValueError if its metadata is missing."""
    metadata = {name: int(value) for name, value in _METADATA.findall(assembly)}
    comments = {name: int(value) for name, value in _COMMENT.findall(assembly)}
    try:
        return Resources(
            vgprs=metadata["vgpr_count"],
            sgprs=metadata["sgpr_count"],
            lds_bytes=metadata["group_segment_fixed_size"],
            scratch_bytes=metadata["private_segment_fixed_size"],
            vgpr_spills=metadata["vgpr_spill_count"],
            sgpr_spills=metadata["sgpr_spill_count"],
            occupancy_waves=comments["Occupancy"],
            code_bytes=comments["codeLenInByte"],
            instructions=count_notable(assembly),
        )
    except KeyError as missing:
        raise ValueError(f"the assembly text has no {missing}") from missing


def count_notable(assembly: str) -> dict[str, int]:
    """How often each notable instruction stands in the text, most frequent first (encoding suffixes dropped)."""
    counts: Counter[str] = Counter()
    for name, _ in instructions(assembly):
        notable = NOTABLE.match(name)
        if notable:
            counts[re.sub(r"_(e32|e64|dpp|e64_dpp)$", "", notable.group(1))] += 1
    return dict(counts.most_common())


def instructions(assembly: str, labels: bool = False) -> list[tuple[str, str]]:
    """Mnemonic and operands of every instruction in order; with `labels` also each label, as (".LBB0_1:", "")."""
    found = []
    for line in assembly.splitlines():
        match = _INSTRUCTION.match(line)
        if match:
            found.append((match.group(1), match.group(2) or ""))
        elif labels and line.startswith(".LBB"):
            found.append((line.split()[0], ""))
    return found
