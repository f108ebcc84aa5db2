"""One tensor of a synthetic model, made piece by piece: whole, or some of its blocks. Any thread.

Called by engine.synth.source. The bytes follow from the seed, the tensor's name and the model's shape alone, whatever
the device and the size of the pieces.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.config import ModelConfig
from engine.names import Part, part_of
from engine.synth.blocks import BlockMaker, block_maker, table_maker
from engine.synth.values import spread_of
from engine.synth.words import WordSequence, key_of
from engine.tensor_source import StoredTensor

# A GPU wants few large operations: 8 MiB of words, with which all temporaries stay under 64 MiB. A processor wants what
# its cache holds.
_WORDS_ON_GPU = 1 << 20
_WORDS_ON_CPU = 1 << 15


@dataclass(frozen=True, slots=True)
class Pieces:
    """The blocks of `tensor` on `device`."""

    tensor: StoredTensor
    config: ModelConfig
    seed: int
    device: torch.device

    def all(self) -> Iterator[Tensor]:
        """Every byte in order, uint8, in pieces of whole blocks."""
        return self.between(0, self.tensor.nbytes)

    def between(self, first: int, last: int) -> Iterator[Tensor]:
        """The bytes from `first` on and before `last`, which need not be borders of blocks."""
        maker = self._maker()
        most = _WORDS_ON_CPU if self.device.type == "cpu" else _WORDS_ON_GPU
        blocks = max(1, most // maker.words)
        begin, end = first // maker.bytes, -(-last // maker.bytes)
        words = WordSequence(key_of(self.seed, self.tensor.name), min(blocks, end - begin) * maker.words, self.device)
        for start in range(begin, end, blocks):
            count = min(blocks, end - start)
            made = maker.make(words.take(start * maker.words, count * maker.words).view(count, maker.words))
            offset = start * maker.bytes
            yield made.view(-1)[max(0, first - offset) : last - offset]

    def _maker(self) -> BlockMaker:
        if part_of(self.tensor.name) is Part.TABLE:
            return table_maker(self.config.experts, self.config.experts_used)
        spread = spread_of(self.tensor.name, self.tensor.shape[-1], self.config)
        return block_maker(self.tensor.type_id, spread, self.device)
