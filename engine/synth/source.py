"""A synthetic model as a source of canonical tensors: nothing is stored, every tensor is made when it is asked for.

engine.model_source opens it for addresses like `synth:v4-flash?layers=43`. Looking at it needs no torch; any thread.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from engine.gguf.metadata import Metadata
from engine.gguf.writer import NewTensor, file_bytes
from engine.names import family
from engine.synth.address import SynthRequest
from engine.synth.metadata import metadata_keys
from engine.synth.recipes import block_type, meaning_of
from engine.synth.shapes import tensor_shapes
from engine.tensor_source import StoredTensor

if TYPE_CHECKING:
    import torch

    from engine.synth.pieces import Pieces


class SynthSource(Metadata):
    """Satisfies engine.tensor_source.TensorSource and GeneratesTensors. `name` and `path` are the model's address.

    A tensor's bytes follow from the seed, its name, its format and the model's shape, on every device alike.
    `file_bytes` is what a GGUF file of the model takes.
    """

    form, file_count = "synthetic", 1
    paths: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()

    def __init__(self, request: SynthRequest) -> None:
        self.request, self.path = request, Path(request.address)
        recipe, shapes = request.recipe, tensor_shapes(request.config)
        self.all_tensors = tuple(_tensor(name, shape, recipe.type_for(name)) for name, shape in shapes.items())
        self.tensors: Mapping[str, StoredTensor] = MappingProxyType({each.name: each for each in self.all_tensors})
        meanings = {family(each.name): meaning_of(each.type_id) for each in self.all_tensors}
        self.declared_formats: Mapping[str, str] = MappingProxyType(
            {kind: meaning for kind, meaning in meanings.items() if meaning is not None}
        )
        title = f"Synthetic {request.shape}, {request.config.layers} layers, {recipe.name}"
        super().__init__(request.address, metadata_keys(request.config, title, self.declared_formats))
        self.file_bytes = file_bytes(self, self.new_tensors())

    @property
    def file_metadata(self) -> Metadata:
        return self

    def new_tensors(self) -> list[NewTensor]:
        """The tensors as a file is to hold them, in the order of `all_tensors`."""
        return [NewTensor(each.name, each.shape, each.type_id, each.nbytes) for each in self.all_tensors]

    def called(self, name: str) -> str:
        return name

    def fill(self, tensor: StoredTensor, out: "torch.Tensor") -> None:
        """Make a tensor's blocks in `out`, flat uint8 of `tensor.nbytes` bytes on any device.

        Temporaries stay under 64 MiB on that device. Raises ValueError for an `out` of another type or size.
        """
        import torch

        if out.dtype != torch.uint8 or out.shape != (tensor.nbytes,):
            raise ValueError(f"{tensor.name} needs a flat uint8 tensor of {tensor.nbytes:,} bytes")
        at = 0
        for piece in self._pieces(tensor, out.device).all():
            out[at : at + len(piece)] = piece
            at += len(piece)

    def pieces(self, tensor: StoredTensor) -> "Iterator[torch.Tensor]":
        """A tensor's blocks as uint8 pieces on the CPU, so that a large one can be written without being held."""
        import torch

        return self._pieces(tensor, torch.device("cpu")).all()

    def data(self, tensor: StoredTensor) -> memoryview:
        import torch

        out = torch.empty(tensor.nbytes, dtype=torch.uint8)
        self.fill(tensor, out)
        return out.numpy().data

    def sample(self, tensor: StoredTensor, count: int) -> bytes:
        import torch

        made, size = self._pieces(tensor, torch.device("cpu")), tensor.nbytes
        ends = (made.between(0, min(count, size)), made.between(max(0, size - count), size))
        return b"".join(piece.numpy().tobytes() for end in ends for piece in end)

    def close(self) -> None:
        """Nothing is open."""

    def _pieces(self, tensor: StoredTensor, device: "torch.device") -> "Pieces":
        from engine.synth.pieces import Pieces  # here: it loads torch

        return Pieces(tensor, self.request.config, self.request.seed, device)


def _tensor(name: str, shape: tuple[int, ...], type_id: int) -> StoredTensor:
    rows = 1
    for size in shape[:-1]:
        rows *= size
    return StoredTensor(name, name, shape, type_id, rows * block_type(type_id).row_bytes(shape[-1]))
