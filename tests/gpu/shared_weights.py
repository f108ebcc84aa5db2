"""Weights that two engines can hold as the same numbers: a synthetic model whose every weight is exact in bfloat16.

Ours keeps matrices as F16 and the rest as float32, transformers keeps everything as bfloat16. A weight that has been
rounded to bfloat16 and lies in F16's range is the same number in all three. Used by compare_transformers.py.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

import torch

from engine.names import Part
from engine.recipes import F16, uniform
from engine.synth.address import parse_address
from engine.synth.pieces import Pieces
from engine.synth.recipes import SynthRecipe
from engine.synth.source import SynthSource
from engine.tensor_source import StoredTensor

_F32, _I32 = 0, 26
_TYPES = {_F32: torch.float32, F16: torch.float16, _I32: torch.int32}
_PARTS = MappingProxyType({**uniform(F16), Part.EXACT: F16, Part.VECTOR: _F32, Part.TABLE: _I32})
_RECIPE = SynthRecipe("bf16-in-f16", _PARTS, MappingProxyType({}))


class SharedWeights(SynthSource):
    """The model of a synthetic address, in another recipe. `held` has what was made, where its engine keeps it.

    A tensor that an engine decodes further is held as it was made; the others are the memory that kernels read.
    """

    def __init__(self, address: str) -> None:
        super().__init__(replace(parse_address(address), recipe=_RECIPE))
        self._held: dict[str, torch.Tensor] = {}

    @property
    def held(self) -> Mapping[str, torch.Tensor]:
        """By canonical name, in the tensor's shape: F16, float32 or int32."""
        return self._held

    def fill(self, tensor: StoredTensor, out: torch.Tensor) -> None:
        super().fill(tensor, out)
        self._held[tensor.name] = out.view(_TYPES[tensor.type_id]).view(tensor.shape)

    def _pieces(self, tensor: StoredTensor, device: torch.device) -> Pieces:
        return _Rounded(tensor, self.request.config, self.request.seed, device)


class _Rounded(Pieces):
    """Pieces whose weights are rounded to bfloat16. The ends asked for must be borders of weights."""

    def between(self, first: int, last: int) -> Iterator[torch.Tensor]:
        dtype = _TYPES[self.tensor.type_id]
        for piece in super().between(first, last):
            if dtype.is_floating_point:
                weights = piece.view(dtype)
                weights.copy_(weights.bfloat16())
            yield piece
