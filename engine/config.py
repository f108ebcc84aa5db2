"""The shape of a DS4 model, read once from GGUF metadata and checked here so that no later code has to.

Frozen and free of tensors; every part of the engine receives the same instance, on any thread.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import ModelFileError
from engine.plan import RAW_WINDOW

if TYPE_CHECKING:
    from engine.gguf.metadata import Metadata

ARCHITECTURE = "deepseek4"
_SQRT_SOFTPLUS = 4  # llama.cpp's number for the only gating function of DS4
_LARGEST = 1 << 20  # no dimension of a published or planned model comes near
_MOST_SINKHORN = 256  # published models have 20; each costs time on every token of every layer
_MOST_SELECTED = 1 << 14  # published models select 512 rows; buffers hold that many of them


@dataclass(frozen=True, slots=True)
class YarnScaling:
    """YaRN constants of the compressed layers' RoPE (ds4-architecture 3.1)."""

    factor: float
    original_context: int
    beta_fast: float
    beta_slow: float

    def __post_init__(self) -> None:
        for name in ("factor", "original_context", "beta_fast", "beta_slow"):
            if not 1 / _LARGEST <= getattr(self, name) <= _LARGEST:
                raise ModelFileError(f"the model's YaRN {name} is {getattr(self, name)}, outside any sensible range")


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Sizes and constants of one model. Raises ModelFileError naming the field when they do not fit together."""

    layers: int
    hidden: int
    vocab: int
    context_length: int
    heads: int
    head_dim: int
    rope_dim: int
    q_rank: int
    out_groups: int
    out_rank: int
    window: int
    ratios: tuple[int, ...]  # compression ratio per layer: 0 (none), 4 (overlapping, indexed) or larger
    index_heads: int
    index_dim: int
    index_top_k: int
    experts: int
    experts_used: int
    expert_hidden: int
    expert_scale: float
    hash_layers: int
    swiglu_limits: tuple[float, ...]  # one a layer
    streams: int
    sinkhorn_iterations: int
    hc_eps: float
    rms_eps: float
    rope_base: float
    compress_rope_base: float
    yarn: YarnScaling

    def __post_init__(self) -> None:
        sizes = ("layers", "hidden", "vocab", "heads", "head_dim", "rope_dim", "q_rank", "out_groups", "out_rank")
        limits = dict.fromkeys((*sizes, "experts", "experts_used", "expert_hidden", "streams"), _LARGEST)
        for name, limit in {**limits, "sinkhorn_iterations": _MOST_SINKHORN}.items():
            if not 1 <= getattr(self, name) <= limit:
                raise ModelFileError(f"the model's {name} is {getattr(self, name)}, outside 1 to {limit}")
        for name in ("hc_eps", "rms_eps", "expert_scale"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ModelFileError(f"the model's {name} is {getattr(self, name)}, not a positive number")
        for name in ("rope_base", "compress_rope_base"):
            if not 1 < getattr(self, name) < float("inf"):
                raise ModelFileError(f"the model's {name} is {getattr(self, name)}, not a number above 1")
        for holds, complaint in self._relations():
            if not holds:
                raise ModelFileError(f"the model's shape does not fit together: {complaint}")

    def _relations(self) -> tuple[tuple[bool, str], ...]:
        compressed = any(self.ratios)
        return (
            (len(self.ratios) == self.layers, f"{len(self.ratios)} compression ratios for {self.layers} layers"),
            (len(self.swiglu_limits) == self.layers, "SwiGLU limits and layers differ in number"),
            (all(r in (0, 4, 128) for r in self.ratios), f"compression ratios {sorted(set(self.ratios))}"),
            (self.rope_dim % 2 == 0 and self.rope_dim <= self.head_dim, f"rotary width {self.rope_dim}"),
            (self.heads % self.out_groups == 0, f"{self.heads} heads in {self.out_groups} output groups"),
            (self.experts_used <= self.experts, f"{self.experts_used} of {self.experts} experts"),
            (0 <= self.hash_layers <= self.layers, f"{self.hash_layers} hash layers"),
            (self.window == RAW_WINDOW, f"a window of {self.window}, where {RAW_WINDOW} is the only one built"),
            (self.streams == 4, f"{self.streams} residual streams, where 4 is the only count built"),
            (min(self.index_heads, self.index_dim) >= 0, f"{self.index_heads} indexer heads of {self.index_dim}"),
            (self.index_heads * self.index_dim <= _LARGEST, f"{self.index_heads} indexer heads of {self.index_dim}"),
            (0 <= self.index_top_k <= _MOST_SELECTED, f"a selection of {self.index_top_k} rows"),
            (not compressed or self.index_dim >= self.rope_dim, f"indexer width {self.index_dim}"),
            (not compressed or min(self.index_heads, self.index_top_k) >= 1, "an indexer without heads or top-k"),
            (not compressed or self.index_dim & (self.index_dim - 1) == 0, f"indexer width {self.index_dim}"),
        )

    @property
    def mix_width(self) -> int:
        """Outputs of a mixer: pre, post and the square mixing matrix."""
        return self.streams * (2 + self.streams)

    @property
    def default_kv_rounding(self) -> str:
        """V4-Flash weights were trained with E4M3 rows; smaller heads were not (product.md section 3)."""
        return "e4m3" if self.head_dim == 512 else "f16"

    @classmethod
    def from_gguf(cls, file: "Metadata") -> "ModelConfig":
        """Read the metadata of an architecture-`deepseek4` file. Raises ModelFileError naming file and field."""
        architecture = file.get_str("general.architecture")
        if architecture != ARCHITECTURE:
            raise ModelFileError(f"{file.name}: architecture {architecture!r} is not {ARCHITECTURE!r}, the one we run")
        gating = file.get_int("deepseek4.expert_gating_func", _SQRT_SOFTPLUS)
        if gating != _SQRT_SOFTPLUS:
            raise ModelFileError(f"{file.name}: expert_gating_func is {gating}, not {_SQRT_SOFTPLUS} (sqrt-softplus)")
        try:
            return _read_config(file)
        except ModelFileError as error:
            raise ModelFileError(f"{file.name}: {error}") from None


def _read_config(file: "Metadata") -> ModelConfig:
    keys = _Keys(file)
    layers = keys.integer("block_count")
    if not 1 <= layers <= _LARGEST:
        raise ModelFileError(f"block_count is {layers}")
    return ModelConfig(
        layers=layers,
        hidden=keys.integer("embedding_length"),
        vocab=keys.integer("vocab_size"),
        context_length=keys.integer("context_length"),
        heads=keys.integer("attention.head_count"),
        head_dim=keys.integer("attention.key_length"),
        rope_dim=keys.integer("rope.dimension_count"),
        q_rank=keys.integer("attention.q_lora_rank"),
        out_groups=keys.integer("attention.output_group_count"),
        out_rank=keys.integer("attention.output_lora_rank"),
        window=keys.integer("attention.sliding_window", RAW_WINDOW),
        ratios=tuple(file.get_ints("deepseek4.attention.compress_ratios")[:layers]),
        index_heads=keys.integer("attention.indexer.head_count", 0),
        index_dim=keys.integer("attention.indexer.key_length", 0),
        index_top_k=keys.integer("attention.indexer.top_k", 0),
        experts=keys.integer("expert_count"),
        experts_used=keys.integer("expert_used_count"),
        expert_hidden=keys.integer("expert_feed_forward_length"),
        expert_scale=keys.number("expert_weights_scale", 1.0),
        hash_layers=keys.integer("hash_layer_count", 0),
        swiglu_limits=_swiglu_limits(file, layers),
        streams=keys.integer("hyper_connection.count"),
        sinkhorn_iterations=keys.integer("hyper_connection.sinkhorn_iterations"),
        hc_eps=keys.number("hyper_connection.epsilon"),
        rms_eps=keys.number("attention.layer_norm_rms_epsilon"),
        rope_base=keys.number("rope.freq_base"),
        compress_rope_base=keys.number("attention.compress_rope_freq_base"),
        yarn=YarnScaling(
            factor=keys.number("rope.scaling.factor"),
            original_context=keys.integer("rope.scaling.original_context_length"),
            beta_fast=keys.number("rope.scaling.yarn_beta_fast", 32.0),
            beta_slow=keys.number("rope.scaling.yarn_beta_slow", 1.0),
        ),
    )


@dataclass(frozen=True, slots=True)
class _Keys:
    """Metadata below the architecture's prefix."""

    file: "Metadata"

    def integer(self, key: str, default: int | None = None) -> int:
        name = f"{ARCHITECTURE}.{key}"
        return self.file.get_int(name) if default is None else self.file.get_int(name, default)

    def number(self, key: str, default: float | None = None) -> float:
        name = f"{ARCHITECTURE}.{key}"
        return self.file.get_float(name) if default is None else self.file.get_float(name, default)


def _swiglu_limits(file: "Metadata", layers: int) -> tuple[float, ...]:
    """One clamp a layer; some files store a single number for all."""
    key = "deepseek4.swiglu_clamp_exp"
    if key in file and not file.is_array(key):
        return (file.get_float(key),) * layers
    return tuple(file.get_floats(key)[:layers])
