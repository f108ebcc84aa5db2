"""Row finishing: RMS norm, rotation and cache rounding, one wave a row (device/norm_rope.hip)."""

from dataclasses import dataclass
from enum import IntEnum

import torch

from kernels.launch import Launcher
from kernels.ops.checks import require, require_rows, require_shape
from kernels.source import KernelSource

ROWS_A_GROUP = 8
_NO_WRAP = 0xFFFFFFFF


class Rounding(IntEnum):
    """How a stored row loses precision; the values are those of device/row.h."""

    NONE = 0
    E4M3 = 1  # cache rows: blocks of 64 before the rotary channels
    E2M1 = 2  # indexer rows and queries: Hadamard transform, blocks of 32


@dataclass(frozen=True, slots=True)
class RowForm:
    """What happens to rows of `width` values, whose last `rotary` are rotated (0: none).

    `weighted`: RMS norm times a weight; otherwise no norm. `half`: stored as F16, else as float32.
    """

    width: int
    rotary: int = 0
    weighted: bool = True
    rounding: Rounding = Rounding.NONE
    half: bool = False

    def source(self) -> KernelSource:
        defines = (
            ("WIDTH", self.width),
            ("ROTARY", self.rotary),
            ("WEIGHTED", int(self.weighted)),
            ("ROUNDING", int(self.rounding)),
            ("OUTPUT", "u16" if self.half else "float"),
        )
        return KernelSource("norm_rope", "norm_rope", defines, ROWS_A_GROUP * 32)


def finish_rows(
    launcher: Launcher,
    form: RowForm,
    values: torch.Tensor,
    out: torch.Tensor,
    start: torch.Tensor,
    *,
    weight: torch.Tensor | None = None,
    rotation: tuple[torch.Tensor, torch.Tensor] | None = None,
    rows_per_position: int = 1,
    epsilon: float = 1e-6,
    ring: bool = False,
) -> None:
    """values float32 [rows, width] to out [.., width].

    `rotation` is (cos, sin), each [rows / rows_per_position, rotary / 2]. With `ring`, out is a ring whose row count is
    a power of two and row i goes to slot (start + i) mod rows of out; at most that many rows may be written.
    """
    rows = values.shape[0]
    require_rows("values", values, rows, form.width)
    require_shape("start", start, 1)
    require_rows("out", out, min(rows, out.shape[0]) if ring else rows, form.width)
    if form.weighted:
        require(weight is not None, "a weighted row form needs its weight")
    if weight is not None:
        require_shape("weight", weight, form.width)
    cosines, sines = rotation if rotation is not None else (None, None)
    if form.rotary:
        require(cosines is not None and sines is not None, "a rotated row form needs cos and sin")
    for name, table in (("cos", cosines), ("sin", sines)):
        if table is not None:
            require_rows(name, table, -(-rows // rows_per_position), form.rotary // 2)
    if ring:
        slots = out.shape[0]
        require(slots & (slots - 1) == 0 and rows <= slots, f"{rows} rows do not fit a ring of {slots}")
    launcher.kernel(form.source())(
        (-(-rows // ROWS_A_GROUP), 1, 1),
        values=values,
        weight=weight,
        cosines=cosines,
        sines=sines,
        out=out,
        start=start,
        rows=rows,
        rows_per_position=rows_per_position,
        follows_start=int(ring),
        row_mask=out.shape[0] - 1 if ring else _NO_WRAP,
        epsilon=epsilon,
    )
