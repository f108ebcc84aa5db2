"""Decides what a type id above 104 means in one file: by explicit choice, or by statistics of the decoded weights.

Forks give these ids different layouts and no file says which (ds4-architecture section 7.5), so a loader calls this
once per file with one expert tensor and tells the person what was chosen and why. Pure torch; any thread.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from engine.errors import ModelFileError
from engine.gguf.types import AMBIGUOUS_TYPES
from engine.quant.codecs import CODECS, Ambiguous, Codec, as_bytes

_SAMPLED_BLOCKS = 1 << 14
_LARGEST_PADDING = 1 << 16  # the largest alignment a file may have
# A reading must fit this well, and this much better than the next one. Right readings of normal and of long-tailed
# weights score 0.02 to 0.85, wrong ones 1.15 to 6 and at least 1 more than the right one of the same bytes.
_WORST_SCORE = 1.1
_LEAST_LEAD = 0.5


@dataclass(frozen=True, slots=True)
class Choice:
    """The codec to use for a type id in this file, and one sentence on why."""

    codec: Codec
    reason: str


@dataclass(frozen=True, slots=True)
class _Fit:
    """How unlike weights a reading looks: every term is near 0 for the right one."""

    bias: float  # mean over RMS
    skew: float  # third moment over RMS cubed
    block_shift: float  # spread of block means beyond what independent weights give
    half_ratio: float  # |log| of the RMS of first over second halves of blocks
    rms_ratio: float  # |log| of RMS over that of comparable tensors; 0 if none was given

    @property
    def score(self) -> float:
        return 4 * self.bias + self.skew + self.block_shift + 2 * self.half_ratio + self.rms_ratio


def choose_codec(type_id: int, name: str) -> Choice:
    """The candidate called `name`, as the person asked. Raises ModelFileError naming the candidates otherwise."""
    candidates = _ambiguous(type_id).candidates
    for codec in candidates:
        if codec.name.casefold() == name.casefold():
            return Choice(codec, f"Type {type_id} is read as {codec.name}, as chosen.")
    allowed = ", ".join(codec.name for codec in candidates) or "nothing that can be read"
    raise ModelFileError(f"Type {type_id} cannot be read as {name!r}; it can be {allowed}.")


def infer_codec(
    type_id: int,
    raw: Tensor | bytes | bytearray | memoryview,
    shape: Sequence[int],
    comparable_rms: float | None = None,
) -> Choice:
    """Find the meaning of `type_id` from one tensor of a few thousand weights or more.

    `raw` is the tensor's room in the file, padding included; `comparable_rms` the RMS of the same kind of weights
    where it is known (neighbouring layers, another copy). Raises ModelFileError when no reading, or more than one,
    looks like weights: then the choice must be explicit.
    """
    entry = _ambiguous(type_id)
    stored = as_bytes(raw)
    readable = [codec for codec in entry.candidates if _fits_size(codec, stored.numel(), shape)]
    names = ", ".join([codec.name for codec in entry.candidates] + list(entry.unreadable))
    if not readable:
        raise ModelFileError(f"Weights of type {type_id} cannot be read here; in some files they are {names}.")
    fits = {codec.name: _measure(codec, stored, shape, comparable_rms) for codec in readable}
    ranked = sorted(readable, key=lambda codec: fits[codec.name].score)
    best = fits[ranked[0].name]
    summary = "; ".join(_describe(codec.name, fits[codec.name]) for codec in ranked)
    lead = fits[ranked[1].name].score - best.score if len(ranked) > 1 else math.inf
    if not (best.score <= _WORST_SCORE and lead >= _LEAST_LEAD):
        raise ModelFileError(f"Type {type_id} could be {names}, and the weights do not tell which ({summary}).")
    return Choice(ranked[0], f"Type {type_id} is read as {ranked[0].name}, whose weights look right ({summary}).")


def _ambiguous(type_id: int) -> Ambiguous:
    entry = CODECS.get(type_id)
    if not isinstance(entry, Ambiguous):
        raise ValueError(f"type {type_id} has one meaning or none; {sorted(AMBIGUOUS_TYPES)} have several")
    return entry


def _fits_size(codec: Codec, size: int, shape: Sequence[int]) -> bool:
    if shape[-1] % codec.block:
        return False
    return 0 <= size - math.prod(shape) // codec.block * codec.bytes < _LARGEST_PADDING


def _measure(codec: Codec, stored: Tensor, shape: Sequence[int], comparable_rms: float | None) -> _Fit:
    """Decode blocks spread over the tensor and compare them with what weights look like."""
    count = math.prod(shape) // codec.block
    blocks = stored[: count * codec.bytes].view(count, codec.bytes)
    sample = codec.decode(blocks[:: -(-count // _SAMPLED_BLOCKS)]).double()
    rms = float(sample.square().mean().sqrt())
    if rms == 0:
        return _Fit(math.inf, 0, 0, 0, 0)
    unit = sample / rms
    halves = unit.view(len(unit), 2, -1).square().mean(dim=(0, 2)).sqrt()
    # Each block is compared at its own size, so that blocks of large weights do not speak for all.
    own = unit / unit.square().mean(dim=1, keepdim=True).sqrt().clamp(min=1e-6)
    block_means = float(own.mean(dim=1).square().mean().sqrt()) * math.sqrt(codec.block)
    return _Fit(
        bias=abs(float(own.mean())),
        skew=abs(float((own**3).mean())),
        block_shift=max(0.0, block_means - 1),
        half_ratio=abs(math.log(float(halves[0] / halves[1]))) if halves.min() > 0 else math.inf,
        rms_ratio=0.0 if comparable_rms is None else abs(math.log(rms / comparable_rms)),
    )


def _describe(name: str, fit: _Fit) -> str:
    ratio = f", size off by {math.exp(fit.rms_ratio):.2f}x" if fit.rms_ratio else ""
    return f"{name}: mean {fit.bias:.2f} RMS, skew {fit.skew:.2f}, halves differ {math.exp(fit.half_ratio):.2f}x{ratio}"
