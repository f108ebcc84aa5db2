"""Window compressors: close windows into stored rows, then advance the rolling state (device/compress_*.hip)."""

from dataclasses import dataclass

import torch

from kernels.launch import Argument, Launcher
from kernels.ops.checks import require, require_rows, require_shape
from kernels.ops.rows import Rounding
from kernels.source import KernelSource

OVERLAP_RATIO = 4


@dataclass(frozen=True, slots=True)
class CompressorShape:
    """Tokens a window (4 overlapping, or 128), channels of a row, rotated channels, and how rows are stored."""

    ratio: int
    width: int
    rotary: int
    rounding: Rounding = Rounding.NONE

    @property
    def token_width(self) -> int:
        return self.width * (2 if self.ratio == OVERLAP_RATIO else 1)

    @property
    def state_rows(self) -> int:
        return 2 * self.ratio if self.ratio == OVERLAP_RATIO else self.ratio

    def rows_source(self) -> KernelSource:
        defines = (
            ("RATIO", self.ratio),
            ("WIDTH", self.width),
            ("ROTARY", self.rotary),
            ("ROUNDING", int(self.rounding)),
            ("OUTPUT", "u16"),
        )
        return KernelSource("compress_rows", "compress_rows", defines, self.width)

    def state_source(self) -> KernelSource:
        return KernelSource("compress_state", "compress_state", (("RATIO", self.ratio), ("WIDTH", self.width)), 128)


@dataclass(frozen=True, slots=True)
class Rolling:
    """The rolling state, float32 [state_rows, token_width] each; gates include the position bias (-1e30: empty)."""

    values: torch.Tensor
    gates: torch.Tensor


def close_windows(
    launcher: Launcher,
    shape: CompressorShape,
    values: torch.Tensor,
    gates: torch.Tensor,
    bias: torch.Tensor,
    norm: torch.Tensor,
    rotation: tuple[torch.Tensor, torch.Tensor],
    rolling: Rolling,
    out: torch.Tensor,
    start: torch.Tensor,
    position: int,
    epsilon: float = 1e-6,
) -> None:
    """Append the rows of every window that a step closes, and advance `rolling` in place.

    values, gates float32 [N, token_width] are the step's projections from `position` on (gates without bias [ratio,
    token_width]); rotation is (cos, sin) of each closed row's first token, [closed, rotary / 2]; out F16
    [capacity, width] receives row w of window w.
    """
    tokens = values.shape[0]
    require_shape("values", values, tokens, shape.token_width)
    require_shape("gates", gates, tokens, shape.token_width)
    require_shape("bias", bias, shape.ratio, shape.token_width)
    require_shape("norm", norm, shape.width)
    require_shape("state values", rolling.values, shape.state_rows, shape.token_width)
    require_shape("state gates", rolling.gates, shape.state_rows, shape.token_width)
    closed = (position + tokens) // shape.ratio - position // shape.ratio
    for table in rotation:
        require_rows("rotation", table, closed, shape.rotary // 2)
    require_rows("out", out, (position + tokens) // shape.ratio, shape.width)
    require(shape.ratio in (OVERLAP_RATIO, 128), f"no compressor of ratio {shape.ratio}")
    inputs: dict[str, Argument] = {"values": values, "gates": gates, "bias": bias, "start": start, "tokens": tokens}
    state: dict[str, Argument] = {"state_values": rolling.values, "state_gates": rolling.gates}
    launcher.kernel(shape.rows_source())(
        (tokens // shape.ratio + 1, 1, 1),
        **inputs,
        **state,
        norm=norm,
        cosines=rotation[0],
        sines=rotation[1],
        out=out,
        epsilon=epsilon,
    )
    slots = shape.ratio
    launcher.kernel(shape.state_source())((-(-shape.token_width // 128), slots, 1), **inputs, **state)
