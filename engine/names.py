"""The one table of tensor names: what each tensor of DS4 is called in GGUF and in Hugging Face files, and its part.

GGUF names are the canonical ones; antirez/ds4, llama.cpp, ROCmFPX and lucebox agree on them (ds4-architecture 7.2), and
files with DeepSeek's own names (7.1) are mapped onto them. Names only: no torch, any thread.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class Part(Enum):
    """What a tensor is for, which decides how it may be stored."""

    EMBEDDING = "embedding"
    HEAD = "head"
    LATENTS = "latents"  # the narrow projections that all of attention reads: queries' and keys' latents
    QUERIES = "queries"
    INDEXER = "indexer"  # its queries
    ATTENTION_OUTPUT = "attention output"
    ROUTED = "routed experts"  # three axes: expert, row, column
    SHARED = "shared expert"
    EXACT = "exact"  # matrices that run in float32: mixers, routers, compressors, the indexer's head weights
    VECTOR = "vector"  # norms, biases, scales, sinks
    TABLE = "table"  # whole numbers

    @property
    def is_matrix(self) -> bool:
        """Whether products with it run in the compute type, from stored blocks."""
        return self not in (Part.EXACT, Part.VECTOR, Part.TABLE)


@dataclass(frozen=True, slots=True)
class NameRow:
    """One tensor: its GGUF name, DeepSeek's name, its part. Names in a layer leave out the layer's prefix.

    Routed experts are one stacked tensor in GGUF and one tensor an expert, `ffn.experts.E.wI.weight`, in DeepSeek's
    files; their row has {expert} there.
    """

    gguf: str
    deepseek: str
    part: Part


GLOBAL_ROWS = (
    NameRow("token_embd.weight", "embed.weight", Part.EMBEDDING),
    NameRow("output.weight", "head.weight", Part.HEAD),
    NameRow("output_norm.weight", "norm.weight", Part.VECTOR),
    NameRow("output_hc_fn.weight", "hc_head_fn", Part.EXACT),
    NameRow("output_hc_base.weight", "hc_head_base", Part.VECTOR),
    NameRow("output_hc_scale.weight", "hc_head_scale", Part.VECTOR),
)
LAYER_ROWS = (
    NameRow("hc_attn_fn.weight", "hc_attn_fn", Part.EXACT),
    NameRow("hc_attn_base.weight", "hc_attn_base", Part.VECTOR),
    NameRow("hc_attn_scale.weight", "hc_attn_scale", Part.VECTOR),
    NameRow("hc_ffn_fn.weight", "hc_ffn_fn", Part.EXACT),
    NameRow("hc_ffn_base.weight", "hc_ffn_base", Part.VECTOR),
    NameRow("hc_ffn_scale.weight", "hc_ffn_scale", Part.VECTOR),
    NameRow("attn_norm.weight", "attn_norm.weight", Part.VECTOR),
    NameRow("ffn_norm.weight", "ffn_norm.weight", Part.VECTOR),
    NameRow("attn_q_a.weight", "attn.wq_a.weight", Part.LATENTS),
    NameRow("attn_q_b.weight", "attn.wq_b.weight", Part.QUERIES),
    NameRow("attn_kv.weight", "attn.wkv.weight", Part.LATENTS),
    NameRow("attn_q_a_norm.weight", "attn.q_norm.weight", Part.VECTOR),
    NameRow("attn_kv_a_norm.weight", "attn.kv_norm.weight", Part.VECTOR),
    NameRow("attn_sinks.weight", "attn.attn_sink", Part.VECTOR),
    NameRow("attn_output_a.weight", "attn.wo_a.weight", Part.ATTENTION_OUTPUT),
    NameRow("attn_output_b.weight", "attn.wo_b.weight", Part.ATTENTION_OUTPUT),
    NameRow("attn_compressor_kv.weight", "attn.compressor.wkv.weight", Part.EXACT),
    NameRow("attn_compressor_gate.weight", "attn.compressor.wgate.weight", Part.EXACT),
    NameRow("attn_compressor_ape.weight", "attn.compressor.ape", Part.EXACT),
    NameRow("attn_compressor_norm.weight", "attn.compressor.norm.weight", Part.VECTOR),
    NameRow("indexer.attn_q_b.weight", "attn.indexer.wq_b.weight", Part.INDEXER),
    NameRow("indexer.proj.weight", "attn.indexer.weights_proj.weight", Part.EXACT),
    NameRow("indexer_compressor_kv.weight", "attn.indexer.compressor.wkv.weight", Part.EXACT),
    NameRow("indexer_compressor_gate.weight", "attn.indexer.compressor.wgate.weight", Part.EXACT),
    NameRow("indexer_compressor_ape.weight", "attn.indexer.compressor.ape", Part.EXACT),
    NameRow("indexer_compressor_norm.weight", "attn.indexer.compressor.norm.weight", Part.VECTOR),
    NameRow("ffn_gate_inp.weight", "ffn.gate.weight", Part.EXACT),
    NameRow("exp_probs_b.bias", "ffn.gate.bias", Part.VECTOR),
    NameRow("ffn_gate_tid2eid.weight", "ffn.gate.tid2eid", Part.TABLE),
    NameRow("ffn_gate_exps.weight", "ffn.experts.{expert}.w1.weight", Part.ROUTED),
    NameRow("ffn_down_exps.weight", "ffn.experts.{expert}.w2.weight", Part.ROUTED),
    NameRow("ffn_up_exps.weight", "ffn.experts.{expert}.w3.weight", Part.ROUTED),
    NameRow("ffn_gate_shexp.weight", "ffn.shared_experts.w1.weight", Part.SHARED),
    NameRow("ffn_down_shexp.weight", "ffn.shared_experts.w2.weight", Part.SHARED),
    NameRow("ffn_up_shexp.weight", "ffn.shared_experts.w3.weight", Part.SHARED),
)

_ROWS = (*GLOBAL_ROWS, *LAYER_ROWS)
_PARTS = MappingProxyType({row.gguf: row.part for row in _ROWS})
_ORDER = MappingProxyType({row.gguf: number for number, row in enumerate(_ROWS)})
_DEEPSEEK = MappingProxyType({row.gguf: row.deepseek for row in _ROWS})
_GLOBAL_GGUF = frozenset(row.gguf for row in GLOBAL_ROWS)
_GLOBAL_DEEPSEEK = MappingProxyType({row.deepseek: row.gguf for row in GLOBAL_ROWS})
_LAYER_DEEPSEEK = MappingProxyType({row.deepseek: row.gguf for row in LAYER_ROWS})
# Numbers as files write them: no sign, no leading zero, few enough digits to be a layer or an expert.
_GGUF_LAYER = re.compile(r"blk\.(0|[1-9][0-9]{0,5})\.(.+)")
_DEEPSEEK_LAYER = re.compile(r"layers\.(0|[1-9][0-9]{0,5})\.(.+)")
_DEEPSEEK_EXPERT = re.compile(r"(ffn\.experts\.)(0|[1-9][0-9]{0,5})(\.w[123]\.weight)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stored tensor belongs: the canonical name, and for one routed expert its number."""

    name: str
    expert: int | None = None


def family(name: str) -> str:
    """A canonical name without its layer: what the same tensor of every layer shares."""
    match = _GGUF_LAYER.fullmatch(name)
    return match[2] if match else name


def part_of(name: str) -> Part | None:
    """The part of a canonical name; None for a name that is not in the table."""
    return _PARTS.get(family(name))


def canonical_order(name: str) -> tuple[int, int]:
    """A sort key for canonical names: what belongs to no layer first, then layer by layer, in the table's order."""
    match = _GGUF_LAYER.fullmatch(name)
    return (int(match[1]) if match else -1), _ORDER[family(name)]


def deepseek_name(name: str) -> str:
    """What DeepSeek's files call a canonical tensor; {expert} stands for a routed expert's number."""
    match, leaf = _GGUF_LAYER.fullmatch(name), _DEEPSEEK[family(name)]
    return f"layers.{match[1]}.{leaf}" if match else leaf


def unused_notes(unused: Sequence[str], layers: int) -> tuple[str, ...]:
    """Sentences on stored tensors that a model of that many layers has no use for."""
    drafts = [name for name in unused if is_draft(name, layers)]
    others = [name for name in unused if not is_draft(name, layers)]
    notes = []
    if drafts:
        notes.append(f"Not used: {len(drafts):,} of the tensors, of draft heads, such as {drafts[0]!r}.")
    if others:
        notes.append(f"Not used: {len(others):,} of the tensors, of no known name, such as {others[0]!r}.")
    return tuple(notes)


def is_draft(stored: str, layers: int) -> bool:
    """Whether a tensor belongs to a draft head (MTP, nextn, DSpark), by its name of either family."""
    match = _GGUF_LAYER.fullmatch(stored) or _DEEPSEEK_LAYER.fullmatch(stored)
    beyond = match is not None and (int(match[1]) >= layers or match[2].startswith("nextn."))
    return beyond or stored.startswith("mtp.")


def place_gguf(stored: str, layers: int) -> Place | None:
    """Where a tensor of a GGUF file belongs; None where a model of that many layers has no use for it."""
    match = _GGUF_LAYER.fullmatch(stored)
    if match is None:
        return Place(stored) if stored in _GLOBAL_GGUF else None
    is_known = match[2] in _PARTS and match[2] not in _GLOBAL_GGUF
    return Place(stored) if is_known and int(match[1]) < layers else None


def place_deepseek(stored: str, layers: int) -> Place | None:
    """Where a tensor with DeepSeek's name belongs, or None as in `place_gguf`."""
    if stored in _GLOBAL_DEEPSEEK:
        return Place(_GLOBAL_DEEPSEEK[stored])
    match = _DEEPSEEK_LAYER.fullmatch(stored)
    if match is None or int(match[1]) >= layers:
        return None
    leaf, expert = match[2], None
    if one := _DEEPSEEK_EXPERT.fullmatch(leaf):
        leaf, expert = f"{one[1]}{{expert}}{one[3]}", int(one[2])
    found = _LAYER_DEEPSEEK.get(leaf) if "{" not in match[2] else None
    return None if found is None else Place(f"blk.{match[1]}.{found}", expert)
