"""Dense products of a prefill step on a GPU: by the torch library from decoded weights, or by the project's kernels.

Both take activations as F16 and add in float32, and a row's bits depend neither on how many rows there are nor on its
place among them: the library always sees pieces of one height (banded-prefill 7.3; tests/gpu checks the bits).
"""

from dataclasses import dataclass, field
from typing import Protocol

import torch

from kernels.launch import Launcher
from kernels.ops import products
from kernels.ops.formats import WeightFormat, unpack
from kernels.ops.matvec import Matrix

BAND_ROWS = 2048  # rows of a grouped product of ours: enough to fill the machine
PIECE_ROWS = 1024  # rows of one library call: enough to fill the machine, little lost when the last one is padded
_SHIFT, _GROUPS = 333, 4  # of the library's trial
_MOST_ERROR = 2.0**-9  # of it: what even a result rounded to F16 keeps, and a wrong one does not


class DenseProducts(Protocol):
    """x [N, in] float32 or F16 through a matrix. Results are new tensors."""

    def multiply(self, x: torch.Tensor, matrix: Matrix) -> torch.Tensor:
        """float32 [N, out]."""

    def multiply_groups(self, x: torch.Tensor, matrix: Matrix, groups: int) -> torch.Tensor:
        """x [N, groups * in] through each group's own rows of `matrix`: F16 [N, out]."""


@dataclass(slots=True)
class LibraryProducts:
    """Weights are decoded to F16 once a step and multiplied by torch. The way where the library's products are fast."""

    launcher: Launcher
    _decoded: torch.Tensor | None = None
    _input: dict[int, torch.Tensor] = field(default_factory=dict)

    def multiply(self, x: torch.Tensor, matrix: Matrix) -> torch.Tensor:
        weights = self._weights(matrix)
        out = x.new_empty(_padded(len(x)), matrix.rows, dtype=torch.float32)
        for first in range(0, len(x), PIECE_ROWS):
            _into(self._piece(x, first), weights.T, out[first : first + PIECE_ROWS])
        return out[: len(x)]

    def multiply_groups(self, x: torch.Tensor, matrix: Matrix, groups: int) -> torch.Tensor:
        rank = matrix.rows // groups
        weights = self._weights(matrix).view(groups, rank, matrix.width).transpose(1, 2)
        out = x.new_empty(_padded(len(x)), matrix.rows, dtype=torch.float16)
        parts = x.new_empty(groups, PIECE_ROWS, rank, dtype=torch.float32)
        for first in range(0, len(x), PIECE_ROWS):
            piece = _grouped(self._piece(x, first), groups)
            _into(piece, weights, parts)
            out[first : first + PIECE_ROWS].view(PIECE_ROWS, groups, rank).copy_(parts.transpose(0, 1))
        return out[: len(x)]

    def _weights(self, matrix: Matrix) -> torch.Tensor:
        """F16 [rows, width]: the matrix itself, or the scratch that the next product overwrites."""
        if matrix.kind is WeightFormat.F16:
            return matrix.blocks.view(torch.float16)
        count = matrix.rows * matrix.width
        if self._decoded is None or self._decoded.numel() < count:
            self._decoded = torch.empty(count, dtype=torch.float16, device=matrix.blocks.device)
        geometry = matrix.kind.value
        target = self._decoded[:count].view(-1, geometry.block)
        unpack(self.launcher, matrix.kind, matrix.blocks.view(-1, geometry.bytes), target)
        return self._decoded[:count].view(matrix.rows, matrix.width)

    def _piece(self, x: torch.Tensor, first: int) -> torch.Tensor:
        """Rows first .. first + PIECE_ROWS of x as F16, with zeros past its end."""
        piece = x[first : first + PIECE_ROWS]
        if len(piece) == PIECE_ROWS and piece.dtype == torch.float16 and piece.is_contiguous():
            return piece
        width = x.shape[1]
        staged = self._input.get(width)
        if staged is None:
            staged = self._input[width] = torch.empty(PIECE_ROWS, width, dtype=torch.float16, device=x.device)
        staged[: len(piece)].copy_(piece)
        staged[len(piece) :].zero_()
        return staged


@dataclass(frozen=True, slots=True)
class KernelProducts:
    """Straight from the blocks by kernels.ops.products: no library, no decoded copy."""

    launcher: Launcher

    def multiply(self, x: torch.Tensor, matrix: Matrix) -> torch.Tensor:
        out = x.new_empty(len(x), matrix.rows, dtype=torch.float32)
        products.multiply(self.launcher, matrix, x.half().contiguous(), out)
        return out

    def multiply_groups(self, x: torch.Tensor, matrix: Matrix, groups: int) -> torch.Tensor:
        """In bands, whose copies are small beside x."""
        rank = matrix.rows // groups
        out = x.new_empty(len(x), matrix.rows, dtype=torch.float16)
        for first in range(0, len(x), BAND_ROWS):
            half = x[first : first + BAND_ROWS].half().contiguous()
            band = x.new_empty(len(half), matrix.rows, dtype=torch.float32)
            for group in range(groups):
                own = Matrix(matrix.kind, matrix.blocks[group * rank : (group + 1) * rank], rank, matrix.width)
                products.multiply(self.launcher, own, half, band, group * matrix.width, group * rank)
            out[first : first + BAND_ROWS] = band
        return out


def exact_product(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """x [N, in] times float32 weight [out, in] transposed, float32 throughout, in pieces of one height."""
    out = x.new_empty(_padded(len(x)), len(weight), dtype=torch.float32)
    for first in range(0, len(x), PIECE_ROWS):
        piece = x[first : first + PIECE_ROWS].float()
        if len(piece) < PIECE_ROWS:
            piece = torch.nn.functional.pad(piece, (0, 0, 0, PIECE_ROWS - len(piece)))
        torch.mm(piece, weight.T, out=out[first : first + PIECE_ROWS])
    return out[: len(x)]


def library_is_usable(device: torch.device) -> bool:
    """Whether torch multiplies F16 into float32 here, whole pieces and group by group: right, and with the same bits
    for a row wherever it stands in a piece. A library that refuses, at whatever, does not.
    """
    try:
        generator = torch.Generator(device).manual_seed(7)
        x = torch.randn(PIECE_ROWS, 512, generator=generator, device=device).half()
        weights = torch.randn(1536, 512, generator=generator, device=device).half()
        rolled, of_groups = x.roll(_SHIFT, 0), weights.view(_GROUPS, -1, 512 // _GROUPS)
        return _keeps_rows(x, rolled, weights.T) and _keeps_rows(
            _grouped(x, _GROUPS), _grouped(rolled, _GROUPS), of_groups.transpose(1, 2)
        )
    except (RuntimeError, NotImplementedError, TypeError):
        return False


def _keeps_rows(x: torch.Tensor, rolled: torch.Tensor, weights: torch.Tensor) -> bool:
    """x F16 [.., PIECE_ROWS, in] of unit variance, its rows moved on by _SHIFT, and weights F16 [.., in, out]."""
    first, second = (torch.empty(*x.shape[:-1], weights.shape[-1], device=x.device) for _ in range(2))
    _into(x, weights, first)
    _into(rolled, weights, second)
    wanted = torch.matmul(x.float(), weights.float())
    is_right = torch.allclose(first, wanted, rtol=_MOST_ERROR, atol=_MOST_ERROR * x.shape[-1] ** 0.5)
    return is_right and torch.equal(first.roll(_SHIFT, -2), second)


def _grouped(x: torch.Tensor, groups: int) -> torch.Tensor:
    """A piece [PIECE_ROWS, groups * in] as [groups, PIECE_ROWS, in]; a view."""
    return x.view(PIECE_ROWS, groups, -1).transpose(0, 1)


def _padded(rows: int) -> int:
    return -(-rows // PIECE_ROWS) * PIECE_ROWS


def _into(x: torch.Tensor, weights: torch.Tensor, out: torch.Tensor) -> None:
    """out = x times weights: F16 in, float32 out. On a CPU, where tests run this, by way of float32."""
    product = torch.bmm if x.dim() == 3 else torch.mm
    if x.device.type == "cpu":
        product(x.float(), weights.float(), out=out)
    else:
        product(x, weights, out_dtype=torch.float32, out=out)
