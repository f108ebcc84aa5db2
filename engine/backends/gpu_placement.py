"""Takes a model's weights onto a GPU: blocks as the file has them, copied in pieces through a staging buffer.

Used once a load, on the loading thread. A format without a decoder on the device is held as F16, and `notes` says so.
There is never a second copy of a tensor in host memory: pieces go from the mapped file straight to the device.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType

import torch

from engine.backends.gpu_matrix import BlockMatrix, GateUp, device_format
from engine.errors import ModelFileError
from engine.names import family
from engine.placement import Advance
from engine.quant.codecs import Codec, decode
from engine.stored_weights import StoredWeights
from engine.tensor_source import GeneratesTensors
from kernels.ops.formats import WeightFormat
from kernels.ops.matvec import Matrix as StoredMatrix

_PIECE_BYTES = 64 << 20
_TOGETHER = (
    ("attn_q_a.weight", "attn_kv.weight"),
    ("ffn_gate_exps.weight", "ffn_up_exps.weight"),
    ("ffn_gate_shexp.weight", "ffn_up_shexp.weight"),
    (
        "attn_compressor_kv.weight",
        "attn_compressor_gate.weight",
        "indexer_compressor_kv.weight",
        "indexer_compressor_gate.weight",
        "indexer.proj.weight",
    ),
)
_GROUP_OF = MappingProxyType({leaf: group[0] for group in _TOGETHER for leaf in group})


def held_together(names: Iterable[str]) -> list[list[str]]:
    """Canonical names in the groups that one call of a placement takes in (engine.weights), and that share a form."""
    groups = defaultdict[tuple[str, str], list[str]](list)
    for name in names:
        leaf = family(name)
        groups[name.removesuffix(leaf), _GROUP_OF.get(leaf, leaf)].append(name)
    return list(groups.values())


def format_held(stored: StoredWeights, names: Sequence[str]) -> WeightFormat:
    """Matrices of one width: as stored, if all of them are in one format and the device reads it, else as F16."""
    codecs = {stored.codec(name).name for name in names}
    kind = device_format(codecs.pop(), stored.tensor(names[0]).shape[-1]) if len(codecs) == 1 else None
    return kind or WeightFormat.F16


def is_exact_in_f16(stored: StoredWeights, names: Sequence[str]) -> bool:
    """Whether exact matrices keep their precision in F16: only where all of them are stored so."""
    return all(stored.codec(name).name == "F16" for name in names)


class BlockPlacement:
    """See engine.placement.Placement. `device` is where torch keeps the tensors of a launch."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._copies = _StagedCopies(device)
        self._held_as_f16: dict[str, int] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not held as stored, a sentence each."""
        found = sorted(self._held_as_f16.items())
        return tuple(f"{count} {name} matrices are held as F16: the GPU reads no {name}." for name, count in found)

    def stack(self, stored: StoredWeights, names: Sequence[str], advance: Advance) -> BlockMatrix:
        return BlockMatrix(self._place(stored, names, advance))

    def gate_up(self, stored: StoredWeights, gate: str, up: str, advance: Advance) -> GateUp:
        kind = format_held(stored, (gate, up))
        return GateUp(self._place(stored, [gate], advance, kind), self._place(stored, [up], advance, kind))

    def exact(self, stored: StoredWeights, names: Sequence[str], advance: Advance) -> BlockMatrix | torch.Tensor:
        """F16 as it is stored; float32 where any of them is stored finer or in fewer bits."""
        if is_exact_in_f16(stored, names):
            return BlockMatrix(self._place(stored, names, advance))
        parts = []
        for name in names:
            parts.append(self.values(stored.decode(name).float()))
            advance(stored.tensor(name).nbytes)
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def head(self, stored: StoredWeights, name: str, advance: Advance) -> BlockMatrix:
        return self.stack(stored, [name], advance)

    def values(self, decoded: torch.Tensor) -> torch.Tensor:
        whole = decoded.dtype == torch.int64  # tables of experts
        return (decoded.int() if whole else decoded).to(self._device)

    def _place(
        self, stored: StoredWeights, names: Sequence[str], advance: Advance, kind: WeightFormat | None = None
    ) -> StoredMatrix:
        shapes = [stored.tensor(name).shape for name in names]
        width, experts = shapes[0][-1], math.prod(shapes[0][:-2])
        rows = sum(shape[-2] for shape in shapes)
        kind = kind or format_held(stored, names)
        blocks = torch.empty(experts * rows, kind.row_bytes(width), dtype=torch.uint8, device=self._device)
        at = 0
        for name, shape in zip(names, shapes, strict=True):
            count = math.prod(shape[:-1])
            self._fill(stored, name, kind, blocks[at : at + count].view(-1), advance)
            at += count
        return StoredMatrix(kind, blocks, rows, width, experts)

    def _fill(self, stored: StoredWeights, name: str, kind: WeightFormat, out: torch.Tensor, advance: Advance) -> None:
        """One tensor's blocks into `out`, flat uint8 on the device."""
        tensor, codec, source = stored.tensor(name), stored.codec(name), stored.source
        if device_format(codec.name, tensor.shape[-1]) is not kind:
            self._held_as_f16[codec.name] = self._held_as_f16.get(codec.name, 0) + 1
            self._fill_decoded(stored, name, codec, out, advance)
        elif isinstance(source, GeneratesTensors):
            source.fill(tensor, out)
            advance(tensor.nbytes)
        else:
            self._fill_copied(stored.blocks(name), tensor.nbytes, out, advance)

    def _fill_copied(self, blocks: torch.Tensor, stored_bytes: int, out: torch.Tensor, advance: Advance) -> None:
        for first, last in _pieces(len(blocks), _PIECE_BYTES):
            self._copies.copy(blocks[first:last], out[first:last])
            advance(last - first)
        advance(stored_bytes - len(blocks))  # padding of the file

    def _fill_decoded(
        self, stored: StoredWeights, name: str, codec: Codec, out: torch.Tensor, advance: Advance
    ) -> None:
        tensor, blocks = stored.tensor(name), stored.blocks(name)
        for first, last in _pieces(tensor.elements // codec.block, _PIECE_BYTES // (4 * codec.block)):
            piece = decode(codec, blocks[first * codec.bytes : last * codec.bytes], ((last - first) * codec.block,))
            half = piece.half()
            if not bool(half.isfinite().all()):
                raise ModelFileError(
                    f"{stored.source.name}: tensor {tensor.stored_as} has weights beyond F16, in which this GPU's "
                    f"kernels hold {codec.name}."
                )
            self._copies.copy(half.view(torch.uint8), out[first * codec.block * 2 : last * codec.block * 2])
            advance((last - first) * codec.bytes)
        advance(tensor.nbytes - len(blocks))


class _StagedCopies:
    """Host to device through two pinned buffers in turn: one is filled while the other travels."""

    def __init__(self, device: torch.device) -> None:
        self._is_gpu = device.type == "cuda"
        self._buffers: list[torch.Tensor] = []
        self._events: list[torch.cuda.Event] = []
        self._turn = 0

    def copy(self, source: torch.Tensor, target: torch.Tensor) -> None:
        """Flat uint8 of at most one piece; `source` may be overwritten once this returns."""
        if not self._is_gpu:
            target.copy_(source)
            return
        if not self._buffers:
            self._buffers = [torch.empty(_PIECE_BYTES, dtype=torch.uint8, pin_memory=True) for _ in range(2)]
            self._events = [torch.cuda.Event() for _ in range(2)]  # type: ignore[no-untyped-call]  # torch has no stub for it
        buffer, event = self._buffers[self._turn], self._events[self._turn]
        event.synchronize()
        buffer[: len(source)].copy_(source)
        target.copy_(buffer[: len(source)], non_blocking=True)
        event.record()
        self._turn = 1 - self._turn


def _pieces(count: int, size: int) -> Iterator[tuple[int, int]]:
    for first in range(0, count, size):
        yield first, min(first + size, count)
