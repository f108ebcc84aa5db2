"""The smallest DS4 model with every kind of layer, as parts of a GGUF file that a fuzzer can change one by one.

Three layers (ratios 0, 4, 128), width 16 (the least that the compiled kernels take), 262 tokens, fixed weights: about
90 KB, loaded in milliseconds.
"""

import struct
from dataclasses import dataclass

import numpy as np

from tests.engine.gguf_bytes import ARR, F32, I32, STR, U32, Gguf, Tensor, array, scalar
from tests.support.tiny_model import byte_alphabet

CONTROL = ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>", "<think>", "</think>")
VOCAB = len(CONTROL) + 256
RATIOS = (0, 4, 128)
HIDDEN, HEADS, HEAD_DIM, ROPE, Q_RANK, OUT_RANK = 16, 2, 16, 4, 4, 4
INDEX_HEADS, INDEX_DIM, EXPERTS, INNER, STREAMS = 1, 16, 2, 16, 4
_ALIGNMENT = 32

INTEGERS = {
    "block_count": len(RATIOS),
    "context_length": 4096,
    "embedding_length": HIDDEN,
    "vocab_size": VOCAB,
    "attention.head_count": HEADS,
    "attention.key_length": HEAD_DIM,
    "attention.q_lora_rank": Q_RANK,
    "attention.output_lora_rank": OUT_RANK,
    "attention.output_group_count": 1,
    "attention.sliding_window": 128,
    "attention.indexer.head_count": INDEX_HEADS,
    "attention.indexer.key_length": INDEX_DIM,
    "attention.indexer.top_k": 2,
    "rope.dimension_count": ROPE,
    "rope.scaling.original_context_length": 1024,
    "expert_count": EXPERTS,
    "expert_used_count": 1,
    "expert_feed_forward_length": INNER,
    "expert_gating_func": 4,
    "hash_layer_count": 1,
    "hyper_connection.count": STREAMS,
    "hyper_connection.sinkhorn_iterations": 3,
}
FLOATS = {
    "attention.compress_rope_freq_base": 160_000.0,
    "attention.layer_norm_rms_epsilon": 1e-6,
    "rope.freq_base": 10_000.0,
    "rope.scaling.factor": 16.0,
    "rope.scaling.yarn_beta_fast": 32.0,
    "rope.scaling.yarn_beta_slow": 1.0,
    "expert_weights_scale": 1.5,
    "hyper_connection.epsilon": 1e-6,
}


@dataclass
class Parts:
    """Everything in the file, still apart: metadata, and each tensor with its bytes."""

    keys: list[tuple[str | bytes, int, bytes]]
    tensors: list[tuple[Tensor, bytes]]

    def file(self) -> bytes:
        """The whole file; offsets follow from the order of the tensors."""
        data = bytearray()
        entries = []
        for tensor, content in self.tensors:
            entries.append(Tensor(tensor.name, tensor.ne, tensor.type_id, len(data)))
            data += content + bytes(-len(content) % _ALIGNMENT)
        return Gguf(keys=self.keys, tensors=entries, data=bytes(data)).pack()


def micro_model() -> Parts:
    """The sound model."""
    return Parts(_metadata(), [_tensor(name, shape) for name, shape in shapes().items()])


def _metadata() -> list[tuple[str | bytes, int, bytes]]:
    tokens = [*CONTROL, *byte_alphabet()]
    return [
        ("general.architecture", STR, scalar(STR, "deepseek4")),
        *((f"deepseek4.{key}", U32, scalar(U32, value)) for key, value in INTEGERS.items()),
        *((f"deepseek4.{key}", F32, scalar(F32, value)) for key, value in FLOATS.items()),
        ("deepseek4.attention.compress_ratios", ARR, array(I32, RATIOS)),
        ("deepseek4.swiglu_clamp_exp", ARR, array(F32, [10.0] * len(RATIOS))),
        ("tokenizer.ggml.model", STR, scalar(STR, "gpt2")),
        ("tokenizer.ggml.pre", STR, scalar(STR, "gpt-2")),
        ("tokenizer.ggml.tokens", ARR, array(STR, tokens)),
        ("tokenizer.ggml.token_type", ARR, array(I32, [3] * len(CONTROL) + [1] * 256)),
        ("tokenizer.ggml.merges", ARR, array(STR, [])),
        ("tokenizer.ggml.bos_token_id", U32, scalar(U32, 0)),
        ("tokenizer.ggml.eos_token_id", U32, scalar(U32, 1)),
    ]


def shapes() -> dict[str, tuple[int, ...]]:
    """Tensor name to shape in torch order."""
    mix, wide = STREAMS * (2 + STREAMS), STREAMS * HIDDEN
    found: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (VOCAB, HIDDEN),
        "output.weight": (VOCAB, HIDDEN),
        "output_norm.weight": (HIDDEN,),
        "output_hc_fn.weight": (STREAMS, wide),
        "output_hc_scale.weight": (1,),
        "output_hc_base.weight": (STREAMS,),
    }
    for layer, ratio in enumerate(RATIOS):
        for name, shape in _layer_shapes(layer, ratio, mix, wide).items():
            found[f"blk.{layer}.{name}"] = shape
    return found


def _layer_shapes(layer: int, ratio: int, mix: int, wide: int) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {"attn_norm.weight": (HIDDEN,), "ffn_norm.weight": (HIDDEN,)}
    for part in ("attn", "ffn"):
        found |= {
            f"hc_{part}_fn.weight": (mix, wide),
            f"hc_{part}_scale.weight": (3,),
            f"hc_{part}_base.weight": (mix,),
        }
    found |= {
        "attn_q_a.weight": (Q_RANK, HIDDEN),
        "attn_kv.weight": (HEAD_DIM, HIDDEN),
        "attn_q_a_norm.weight": (Q_RANK,),
        "attn_kv_a_norm.weight": (HEAD_DIM,),
        "attn_q_b.weight": (HEADS * HEAD_DIM, Q_RANK),
        "attn_sinks.weight": (HEADS,),
        "attn_output_a.weight": (OUT_RANK, HEADS * HEAD_DIM),
        "attn_output_b.weight": (HIDDEN, OUT_RANK),
        "ffn_gate_inp.weight": (EXPERTS, HIDDEN),
        "ffn_gate_exps.weight": (EXPERTS, INNER, HIDDEN),
        "ffn_up_exps.weight": (EXPERTS, INNER, HIDDEN),
        "ffn_down_exps.weight": (EXPERTS, HIDDEN, INNER),
        "ffn_gate_shexp.weight": (INNER, HIDDEN),
        "ffn_up_shexp.weight": (INNER, HIDDEN),
        "ffn_down_shexp.weight": (HIDDEN, INNER),
    }
    if ratio:
        found |= _compressor_shapes("attn_compressor", ratio, HEAD_DIM)
    if ratio == 4:
        found |= _compressor_shapes("indexer_compressor", ratio, INDEX_DIM)
        found |= {
            "indexer.proj.weight": (INDEX_HEADS, HIDDEN),
            "indexer.attn_q_b.weight": (INDEX_HEADS * INDEX_DIM, Q_RANK),
        }
    if layer == 0:
        found["ffn_gate_tid2eid.weight"] = (VOCAB, 1)
    return found


def _compressor_shapes(prefix: str, ratio: int, width: int) -> dict[str, tuple[int, ...]]:
    lanes = 2 * width if ratio == 4 else width
    return {
        f"{prefix}_kv.weight": (lanes, HIDDEN),
        f"{prefix}_gate.weight": (lanes, HIDDEN),
        f"{prefix}_ape.weight": (ratio, lanes),
        f"{prefix}_norm.weight": (width,),
    }


def _tensor(name: str, shape: tuple[int, ...]) -> tuple[Tensor, bytes]:
    """F32 with small fixed values; the table of token ids to experts is I32."""
    count = int(np.prod(shape))
    ne = tuple(reversed(shape))
    if name.endswith("tid2eid.weight"):
        return Tensor(name, ne, 26, 0), struct.pack(f"<{count}i", *(index % EXPERTS for index in range(count)))
    values = np.sin(np.arange(count, dtype=np.float32) + len(name)) / 4
    return Tensor(name, ne, 0, 0), values.astype("<f4").tobytes()
