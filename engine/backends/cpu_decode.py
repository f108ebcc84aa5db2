"""One compiled call for one token: a model's weights, and a session's state, as the decode program wants them.

Matrices are read straight from the mapped file where the program knows their blocks, and decoded once otherwise;
vectors are those of the loaded weights. Built once a model, bound once a session, run on the engine's thread.
"""

import torch

from engine.config import ModelConfig
from engine.layers.hyper_connection import Mixer
from engine.layers.rope import inverse_frequencies
from engine.layers.rounding import KvRounding
from engine.state import LayerState, SessionState
from engine.stored_weights import StoredWeights
from engine.weights import LayerWeights, ModelWeights
from kernels.cpu import decode_weights as native
from kernels.cpu.decode import DecodeProgram, DecodeSession
from kernels.cpu.library import Library

_ROUNDING = {
    KvRounding.NONE: native.RowRounding.NONE,
    KvRounding.F16: native.RowRounding.F16,
    KvRounding.E4M3: native.RowRounding.E4M3,
}


def build_program(
    library: Library, stored: StoredWeights, config: ModelConfig, weights: ModelWeights
) -> tuple[DecodeProgram, int]:
    """The program of one model, and the bytes of the copies it holds of weights that it cannot read in place.

    Raises ValueError naming the tensor that does not fit the compiled kernels.
    """
    matrices = _Matrices(stored)
    head = weights.head_mixer
    model = native.DecodeModel(
        heads=config.heads,
        rotary_width=config.rope_dim,
        out_groups=config.out_groups,
        window=config.window,
        index_heads=config.index_heads,
        top_k=config.index_top_k,
        experts=config.experts,
        experts_used=config.experts_used,
        expert_scale=config.expert_scale,
        sinkhorn_iterations=config.sinkhorn_iterations,
        rms_eps=config.rms_eps,
        mixer_eps=config.hc_eps,
        plain_frequencies=inverse_frequencies(config, 0),
        compressed_frequencies=inverse_frequencies(config, 4),
        embedding=matrices.stored("token_embd.weight"),
        layers=tuple(_layer(matrices, config, index, layer) for index, layer in enumerate(weights.layers)),
        output_mixer=_mixer(matrices, "output_hc", head),
        output_norm=weights.output_norm,
        output=matrices.stored("output.weight"),
    )
    return DecodeProgram(library, model), matrices.copied_bytes


class SessionProgram:
    """A program bound to one session's state."""

    def __init__(self, program: DecodeProgram, state: SessionState, selects: bool) -> None:
        self._session: DecodeSession = program.session(
            [_rows(layer) for layer in state.layers], _ROUNDING[state.rounding]
        )
        self._selects = selects

    def run(self, token_id: int, position: int) -> torch.Tensor:
        """Logits float32 [vocab] after `token_id` at `position`; nothing is written when it raises."""
        return self._session.run(token_id, position, self._selects)


class _Matrices:
    """Matrices of one model as the program reads them, and how many bytes of them are copies."""

    def __init__(self, stored: StoredWeights) -> None:
        self._stored = stored
        self.copied_bytes = 0

    def stored(self, name: str) -> native.Matrix:
        """The tensor's own blocks; a float32 copy where the program does not know their format."""
        tensor = self._stored.tensor(name)
        rows, cols = tensor.elements // tensor.shape[-1], tensor.shape[-1]
        if tensor.type_id in {int(codec) for codec in native.Codec}:
            return native.Matrix(self._stored.blocks(name), rows, cols, native.Codec(tensor.type_id))
        return native.Matrix.dense(self._copy(self._stored.decode(name).view(rows, cols)))

    def integers(self, name: str) -> torch.Tensor:
        return self._copy(self._stored.decode(name).int().contiguous())

    def _copy(self, tensor: torch.Tensor) -> torch.Tensor:
        self.copied_bytes += tensor.nbytes
        return tensor


def _mixer(matrices: _Matrices, prefix: str, mixer: Mixer) -> native.MixerWeights:
    return native.MixerWeights(matrices.stored(f"{prefix}_fn.weight"), mixer.scale, mixer.base)


def _layer(matrices: _Matrices, config: ModelConfig, index: int, layer: LayerWeights) -> native.DecodeLayer:
    prefix = f"blk.{index}."
    return native.DecodeLayer(
        attention_mixer=_mixer(matrices, prefix + "hc_attn", layer.attn_mixer),
        attention_norm=layer.attn_norm,
        attention=_attention(matrices, prefix, config.ratios[index], layer),
        experts_mixer=_mixer(matrices, prefix + "hc_ffn", layer.ffn_mixer),
        experts_norm=layer.ffn_norm,
        experts=_experts(matrices, prefix, layer),
    )


def _attention(matrices: _Matrices, prefix: str, ratio: int, layer: LayerWeights) -> native.AttentionWeights:
    weights = layer.attention
    compressor = indexer = None
    if weights.compressor is not None:
        compressor = native.CompressorWeights(
            matrices.stored(prefix + "attn_compressor_kv.weight"),
            matrices.stored(prefix + "attn_compressor_gate.weight"),
            weights.compressor.ape,
            weights.compressor.norm,
        )
    if weights.indexer is not None:
        indexer = native.IndexerWeights(
            matrices.stored(prefix + "indexer.attn_q_b.weight"),
            matrices.stored(prefix + "indexer.proj.weight"),
            native.CompressorWeights(
                matrices.stored(prefix + "indexer_compressor_kv.weight"),
                matrices.stored(prefix + "indexer_compressor_gate.weight"),
                weights.indexer.compressor.ape,
                weights.indexer.compressor.norm,
            ),
        )
    return native.AttentionWeights(
        ratio=ratio,
        q_a=matrices.stored(prefix + "attn_q_a.weight"),
        q_a_norm=weights.q_a_norm,
        q_b=matrices.stored(prefix + "attn_q_b.weight"),
        kv=matrices.stored(prefix + "attn_kv.weight"),
        kv_norm=weights.kv_norm,
        sinks=weights.sinks,
        out_a=matrices.stored(prefix + "attn_output_a.weight"),
        out_b=matrices.stored(prefix + "attn_output_b.weight"),
        compressor=compressor,
        indexer=indexer,
    )


def _experts(matrices: _Matrices, prefix: str, layer: LayerWeights) -> native.ExpertWeights:
    hashed = layer.router.table is not None
    return native.ExpertWeights(
        router=matrices.stored(prefix + "ffn_gate_inp.weight"),
        gate=matrices.stored(prefix + "ffn_gate_exps.weight"),
        up=matrices.stored(prefix + "ffn_up_exps.weight"),
        down=matrices.stored(prefix + "ffn_down_exps.weight"),
        shared_gate=matrices.stored(prefix + "ffn_gate_shexp.weight"),
        shared_up=matrices.stored(prefix + "ffn_up_shexp.weight"),
        shared_down=matrices.stored(prefix + "ffn_down_shexp.weight"),
        limit=layer.experts.limit,
        bias=layer.router.bias,
        table=matrices.integers(prefix + "ffn_gate_tid2eid.weight") if hashed else None,
    )


def _rows(layer: LayerState) -> native.LayerRows:
    rolling, index_rolling = layer.rolling, layer.index_rolling
    return native.LayerRows(
        ring=layer.ring,
        rows=layer.compressed if layer.ratio else None,
        index_rows=layer.index if index_rolling is not None else None,
        values=rolling.values if rolling is not None else None,
        scores=rolling.scores if rolling is not None else None,
        index_values=index_rolling.values if index_rolling is not None else None,
        index_scores=index_rolling.scores if index_rolling is not None else None,
    )
