"""Whole-token decode in one native call: a model's program, and a session's state bound to it.

engine/backends builds one DecodeProgram a model and one DecodeSession a session state, and calls run() on the engine's
thread. Shapes and memory are checked here and in decode_check.cpp before anything is written; the GIL is released.
"""

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any

import torch

from kernels.cpu import arguments as args
from kernels.cpu import decode_layout as layout
from kernels.cpu.decode_weights import (
    AttentionWeights,
    CompressorWeights,
    DecodeLayer,
    DecodeModel,
    ExpertWeights,
    LayerRows,
    Matrix,
    MixerWeights,
    RowRounding,
)
from kernels.cpu.library import Library

_COMPLAINT_BYTES = 256
_REFUSALS = {
    1: "token {token} is outside the vocabulary of {vocab}",
    2: "position {position} is out of range",
    3: "the selection or rounding mode is unknown",
    4: "the logits buffer does not fit the vocabulary",
    5: "the state's tensors do not fit the model",
    6: "position {position} needs more compressed rows than the state has room for",
}
_FAILURES = {
    7: "the token-id table names an expert that does not exist, for token {token}",
    8: "there is not enough memory to decode position {position}",
    9: "the decode program is already running in another thread",
}


class DecodeProgram:
    """One model compiled for token-by-token decode on a library's workers. Results do not depend on their number.

    The weights are read where they lie and kept alive. Not for concurrent calls: a second one raises RuntimeError.
    """

    def __init__(self, library: Library, model: DecodeModel) -> None:
        """Raises ValueError, naming the tensor, if sizes or types do not fit together."""
        self.library, self.model, self.vocab = library, model, model.output.rows
        _check_layout(library)
        create = library.function(
            "hb_decode_create", [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64], ctypes.c_void_p
        )
        record, kept = _model_record(model)
        complaint = ctypes.create_string_buffer(_COMPLAINT_BYTES)
        self._handle: int = create(library.pool, ctypes.addressof(record), complaint, _COMPLAINT_BYTES) or 0
        del kept
        if not self._handle:
            raise ValueError(complaint.value.decode())
        self._decode = library.function("hb_decode_token", [ctypes.c_void_p, ctypes.c_void_p], ctypes.c_int64)
        destroy = library.function("hb_decode_destroy", [ctypes.c_void_p], None)
        weakref.finalize(self, _destroy, destroy, self._handle, library)

    def session(self, layers: Sequence[LayerRows], rounding: RowRounding) -> "DecodeSession":
        """Bind a state, one LayerRows a layer. Bind again when a tensor is replaced. Raises ValueError."""
        return DecodeSession(self, layers, rounding)

    def run(self, record: ctypes.Structure) -> int:
        """Compute one HbToken; returns its status (decode.h)."""
        status: int = self._decode(self._handle, ctypes.addressof(record))
        return status


class DecodeSession:
    """One session's state bound to a program. The caller owns the position and passes it with every token."""

    def __init__(self, program: DecodeProgram, layers: Sequence[LayerRows], rounding: RowRounding) -> None:
        if len(layers) != len(program.model.layers):
            raise ValueError(f"a state of {len(layers)} layers for a model of {len(program.model.layers)}")
        self._program, self._layers = program, tuple(layers)
        records = [
            _state_record(f"layer {i}'s", rows, layer.attention, program.model.window, rounding)
            for i, (rows, layer) in enumerate(zip(layers, program.model.layers, strict=True))
        ]
        self._states = (layout.HbLayerState * len(layers))(*records)
        self._token = layout.HbToken(
            rounding=int(rounding),
            layers=len(layers),
            state=ctypes.addressof(self._states),
            logits_count=program.vocab,
        )

    def run(self, token_id: int, position: int, selects: bool = True) -> torch.Tensor:
        """Advance the state by `token_id` at `position` (tokens 0 .. position - 1 are in the state already).

        Returns new logits float32 [vocab]. `selects` False attends to all visible compressed rows instead of the
        indexer's choice. Raises ValueError (token, position or state do not fit) or RuntimeError (memory, a call in
        progress, a broken token-id table); neither state nor logits were then touched.
        """
        logits = torch.empty(self._program.vocab)
        token = self._token
        token.token, token.position, token.selects, token.logits = token_id, position, int(selects), logits.data_ptr()
        status = self._program.run(token)
        if status == layout.STATUS_DECODED:
            return logits
        details = {"token": token_id, "position": position, "vocab": self._program.vocab}
        if status in _REFUSALS:
            raise ValueError(_REFUSALS[status].format(**details))
        raise RuntimeError(_FAILURES.get(status, f"decode failed with status {status}").format(**details))


def _destroy(destroy: Any, handle: int, library: Library) -> None:
    """`library` is named so that its worker pool outlives the program."""
    del library
    destroy(handle)


def _check_layout(library: Library) -> None:
    size = library.function("hb_decode_sizeof", [ctypes.c_int64], ctypes.c_int64)
    for index, record in enumerate(layout.RECORDS):
        if size(index) != ctypes.sizeof(record):
            raise RuntimeError(f"{record.__name__} differs between decode.h and decode_layout.py: rebuild the kernels")


# --- records from tensors ----------------------------------------------------------------------------------------


def matrix_record(matrix: Matrix) -> ctypes.Structure:
    """The HbMatrix of a matrix. Raises ValueError if its memory is not contiguous or not on the CPU."""
    data = matrix.data
    if isinstance(data, torch.Tensor):
        if data.device.type != "cpu" or not data.is_contiguous():
            raise ValueError("a matrix must be contiguous CPU memory")
        address = data.data_ptr()
    else:
        if not data.flags.c_contiguous:
            raise ValueError("a matrix must be contiguous CPU memory")
        address = data.ctypes.data
    return layout.HbMatrix(address, data.nbytes, matrix.rows, matrix.cols, int(matrix.codec))


def _vector(tensor: torch.Tensor | None, name: str) -> ctypes.Structure:
    if tensor is None:
        return layout.HbVector()
    args.check(name, tensor, args.FLOATS, (None,) * tensor.dim())
    return layout.HbVector(tensor.data_ptr(), tensor.numel())


def _mixer(mixer: MixerWeights, name: str) -> ctypes.Structure:
    return layout.HbMixer(matrix_record(mixer.weight), _vector(mixer.scale, name), _vector(mixer.base, name))


def _compressor(compressor: CompressorWeights | None, name: str) -> ctypes.Structure:
    if compressor is None:
        return layout.HbCompressor()
    return layout.HbCompressor(
        matrix_record(compressor.values),
        matrix_record(compressor.scores),
        _vector(compressor.position_bias, name),
        _vector(compressor.norm, name),
    )


def _fill_attention(record: Any, weights: AttentionWeights) -> None:
    record.ratio = weights.ratio
    for name in ("q_a", "q_b", "kv", "out_a", "out_b"):
        setattr(record, name, matrix_record(getattr(weights, name)))
    for name in ("q_a_norm", "kv_norm", "sinks"):
        setattr(record, name, _vector(getattr(weights, name), name))
    record.compressor = _compressor(weights.compressor, "compressor")
    if weights.indexer is not None:
        record.index_query = matrix_record(weights.indexer.query)
        record.index_weight = matrix_record(weights.indexer.weight)
        record.index_compressor = _compressor(weights.indexer.compressor, "index compressor")


def _fill_experts(record: Any, weights: ExpertWeights) -> None:
    record.router = matrix_record(weights.router)
    record.router_bias = _vector(weights.bias, "router bias")
    for name in ("gate", "up", "down"):
        setattr(record, f"expert_{name}", matrix_record(getattr(weights, name)))
        setattr(record, f"shared_{name}", matrix_record(getattr(weights, f"shared_{name}")))
    record.swiglu_limit = weights.limit
    if weights.table is not None:
        args.check("token-id table", weights.table, (torch.int32,), (None, None))
        record.router_table = layout.HbIntegers(weights.table.data_ptr(), weights.table.numel())


def _layer_record(layer: DecodeLayer) -> ctypes.Structure:
    record = layout.HbLayer()
    record.attention_mixer = _mixer(layer.attention_mixer, "attention mixer")
    record.attention_norm = _vector(layer.attention_norm, "attention norm")
    _fill_attention(record, layer.attention)
    record.experts_mixer = _mixer(layer.experts_mixer, "experts mixer")
    record.experts_norm = _vector(layer.experts_norm, "experts norm")
    _fill_experts(record, layer.experts)
    return record


def _model_record(model: DecodeModel) -> tuple[ctypes.Structure, ctypes.Array[Any]]:
    """The HbModel of a model, and the layer records that it points at."""
    if not model.layers:
        raise ValueError("a model without layers cannot be decoded")
    layers = (layout.HbLayer * len(model.layers))(*[_layer_record(layer) for layer in model.layers])
    first = model.layers[0]
    indexers = [layer.attention.indexer for layer in model.layers if layer.attention.indexer is not None]
    for name in ("plain_frequencies", "compressed_frequencies"):
        args.check(name, getattr(model, name), (torch.float64,), (model.rotary_width // 2,))
    record = layout.HbModel(
        layers=len(model.layers),
        vocab=model.output.rows,
        hidden=model.output.cols,
        head_width=first.attention.kv.rows,
        q_rank=first.attention.q_a.rows,
        out_rank=first.attention.out_a.rows // max(model.out_groups, 1),
        index_width=indexers[0].query.rows // max(model.index_heads, 1) if indexers else 0,
        expert_width=first.experts.gate.rows // max(model.experts, 1),
        shared_width=first.experts.shared_gate.rows,
        plain_frequencies=model.plain_frequencies.data_ptr(),
        compressed_frequencies=model.compressed_frequencies.data_ptr(),
        embedding=matrix_record(model.embedding),
        output_mixer=_mixer(model.output_mixer, "output mixer"),
        output_norm=_vector(model.output_norm, "output norm"),
        output=matrix_record(model.output),
        layer=ctypes.addressof(layers),
    )
    for name in (
        "heads", "rotary_width", "out_groups", "window", "index_heads", "top_k", "experts", "experts_used",
        "expert_scale", "sinkhorn_iterations", "rms_eps", "mixer_eps",
    ):  # fmt: skip
        setattr(record, name, getattr(model, name))
    return record, layers


def _state_shapes(attention: AttentionWeights, window: int) -> dict[str, tuple[int | None, int]]:
    """The tensors that a layer's state consists of; None is the caller's choice, its capacity."""
    ratio, compressor, indexer = attention.ratio, attention.compressor, attention.indexer
    shapes: dict[str, tuple[int | None, int]] = {"ring": (window, attention.kv.rows)}
    if compressor is None:
        return shapes
    lanes = compressor.values.rows
    entries = ratio if lanes == attention.kv.rows else 2 * ratio
    shapes |= {"rows": (None, attention.kv.rows), "values": (entries, lanes), "scores": (entries, lanes)}
    if indexer is not None:
        lanes = indexer.compressor.values.rows
        shapes |= {"index_rows": (None, lanes // 2), "index_values": (entries, lanes), "index_scores": (entries, lanes)}
    return shapes


def _state_record(layer: str, rows: LayerRows, attention: AttentionWeights, window: int, rounding: RowRounding) -> Any:
    record = layout.HbLayerState()
    for field, shape in _state_shapes(attention, window).items():
        tensor: torch.Tensor | None = getattr(rows, field)
        if tensor is None:
            raise ValueError(f"{layer} {field} is missing")
        is_row_table = field in ("ring", "rows", "index_rows")
        args.check(f"{layer} {field}", tensor, (rounding.dtype if is_row_table else torch.float32,), shape)
        setattr(record, field, tensor.data_ptr())
        if is_row_table:
            setattr(record, f"{field}_bytes", tensor.nbytes)
        elif field == "values":
            record.rolling_count = tensor.numel()
        elif field == "index_values":
            record.index_rolling_count = tensor.numel()
    return record
