"""The weight formats that kernels read straight from file blocks, by name and geometry (device/blocks.h)."""

from dataclasses import dataclass
from enum import Enum

import torch

from kernels.launch import Launcher
from kernels.ops.checks import require, require_shape
from kernels.source import KernelSource

UNIT = 32  # neighbouring weights that one lane handles
_UNPACK_THREADS, _UNPACK_UNITS = 256, 512  # a workgroup of device/unpack.hip: two units a thread


@dataclass(frozen=True, slots=True)
class Geometry:
    """The name of the format's structure on the device, and how many weights share how many bytes."""

    device_name: str
    block: int
    bytes: int


class WeightFormat(Enum):
    """Every block format with a decoder on the device."""

    F16 = Geometry("F16", 32, 64)
    Q8_0 = Geometry("Q8_0", 32, 34)
    Q4_K = Geometry("Q4_K", 256, 144)
    Q2_K = Geometry("Q2_K", 256, 84)
    IQ2_XXS = Geometry("Iq2Xxs", 256, 66)
    MXFP4 = Geometry("Mxfp4", 32, 17)
    ROCMFP4 = Geometry("RocmFp4", 32, 18)
    ROCMFP4_FAST = Geometry("RocmFp4Fast", 32, 17)
    ROCMFP2 = Geometry("RocmFp2", 32, 10)
    ROCMFP2_S40 = Geometry("RocmFp2S40", 32, 10)
    ROCMFP2_AFFINE = Geometry("RocmFp2Affine", 32, 10)
    ROCMFP3 = Geometry("RocmFp3", 32, 14)
    ROCMFP8 = Geometry("RocmFp8", 32, 33)

    def row_bytes(self, width: int) -> int:
        """Bytes of a row of `width` weights. Raises ValueError if it is not made of whole blocks."""
        if width % self.value.block:
            raise ValueError(f"rows of {width} weights are not made of whole {self.name} blocks")
        return width // self.value.block * self.value.bytes

    def unpack_source(self, half: bool) -> KernelSource:
        """To F16 where `half`, else to float32."""
        defines = (("FORMAT", self.value.device_name), ("OUTPUT", "u16" if half else "float"))
        return KernelSource("unpack", "unpack", defines, _UNPACK_THREADS)


def unpack(launcher: Launcher, kind: WeightFormat, blocks: torch.Tensor, out: torch.Tensor) -> None:
    """blocks uint8 [n, bytes] to out float32 or float16 [n, weights of a block]; both 16-byte aligned.

    Float16 weights are the float32 ones rounded to nearest, ties to even.
    """
    require_shape("blocks", blocks, None, kind.value.bytes)
    require_shape("out", out, blocks.shape[0], kind.value.block)
    require(blocks.data_ptr() % 16 == 0, "weights must be aligned to 16 bytes")
    require(out.data_ptr() % 16 == 0, "unpacked weights must be aligned to 16 bytes")
    units = out.numel() // UNIT
    source = kind.unpack_source(out.dtype == torch.float16)
    launcher.kernel(source)((-(-units // _UNPACK_UNITS), 1, 1), weights=blocks, out=out, units=units)
