"""A model's tensors as the engine decodes them: a source together with the format of each of its tensors.

Built once a load or conversion, on that thread; afterwards any thread may decode from it. Backends that keep weights as
they are stored take the blocks from here.
"""

import logging
import math
from collections.abc import Mapping

from torch import Tensor

from engine.errors import ModelFileError
from engine.quant.choice import NO_CHOICES, FormatChoice
from engine.quant.codecs import Codec, as_bytes, decode
from engine.tensor_source import StoredTensor, TensorSource

log = logging.getLogger(__name__)


class StoredWeights:
    """`source` with every format known. Raises ModelFileError where a type id's meaning cannot be told."""

    def __init__(self, source: TensorSource, read_as: Mapping[int, str] = NO_CHOICES) -> None:
        self.source = source
        self._formats = FormatChoice(source, read_as)
        self.reasons = self._formats.reasons
        for reason in self.reasons:
            log.info("%s: %s", source.name, reason)

    def __contains__(self, name: str) -> bool:
        return name in self.source.tensors

    def tensor(self, name: str) -> StoredTensor:
        """The tensor of a canonical name. Raises ModelFileError where it is missing."""
        try:
            return self.source.tensors[name]
        except KeyError:
            raise ModelFileError(f"{self.source.name}: tensor {self.source.called(name)} is missing") from None

    def codec(self, name: str) -> Codec:
        """The format of a tensor. Raises ModelFileError where it is missing or cannot be decoded here."""
        return self._formats.codec(self.tensor(name))

    def stored_bytes(self, name: str) -> int:
        """How many bytes the tensor's blocks take. Raises ModelFileError where the file has fewer for it."""
        tensor, codec = self.tensor(name), self.codec(name)
        needed = math.prod(tensor.shape) // codec.block * codec.bytes
        if tensor.shape[-1] % codec.block or needed > tensor.nbytes:
            raise ModelFileError(
                f"{self.source.name}: tensor {tensor.stored_as} cannot hold {codec.name} weights of shape "
                f"{list(tensor.shape)} in {tensor.nbytes:,} bytes"
            )
        return needed

    def blocks(self, name: str) -> Tensor:
        """The stored blocks, flat uint8 on the CPU: a read-only view of the mapped file where that holds them so.

        Exactly as many bytes as the shape needs; ModelFileError where the file has fewer.
        """
        needed = self.stored_bytes(name)
        return as_bytes(self.source.data(self.tensor(name)))[:needed]

    def decode(self, name: str) -> Tensor:
        """The tensor as float32 (whole numbers: int32). Raises ModelFileError as above."""
        return decode(self.codec(name), self.blocks(name), self.tensor(name).shape)

    def weights_by_format(self) -> dict[str, int]:
        """Number of weights in each format, most first; a format whose id has several meanings by the one meant."""
        found: dict[str, int] = {}
        for tensor in self.source.tensors.values():
            name = self._formats.name(tensor)
            found[name] = found.get(name, 0) + tensor.elements
        return dict(sorted(found.items(), key=lambda entry: -entry[1]))
