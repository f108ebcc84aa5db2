"""Small layers for tests that need exact control: random weights at the sizes the specification names."""

import torch

from engine.config import ModelConfig, YarnScaling
from engine.layers.attention import Projections, StepContext
from engine.layers.attention_weights import Attention
from engine.layers.compressor import Compressor
from engine.layers.indexer import Indexer
from engine.layers.rope import inverse_frequencies
from engine.layers.rounding import KvRounding
from engine.plan import Step

HEADS, WIDTH, INDEX_HEADS, INDEX_WIDTH, TOP_K = 4, 64, 4, 32, 16


def small_config(ratios: tuple[int, ...] = (0, 4, 128)) -> ModelConfig:
    """4 heads of 64, index 4 x 32, top 16: the window of 128 and the ratios are those of the real model."""
    return ModelConfig(
        layers=len(ratios),
        hidden=64,
        vocab=300,
        context_length=1 << 20,
        heads=HEADS,
        head_dim=WIDTH,
        rope_dim=16,
        q_rank=32,
        out_groups=2,
        out_rank=16,
        window=128,
        ratios=ratios,
        index_heads=INDEX_HEADS,
        index_dim=INDEX_WIDTH,
        index_top_k=TOP_K,
        experts=8,
        experts_used=2,
        expert_hidden=32,
        expert_scale=1.5,
        hash_layers=0,
        swiglu_limits=(10.0,) * len(ratios),
        streams=4,
        sinkhorn_iterations=20,
        hc_eps=1e-6,
        rms_eps=1e-6,
        rope_base=10000.0,
        compress_rope_base=160000.0,
        yarn=YarnScaling(16.0, 65536, 32.0, 1.0),
    )


def random_compressor(ratio: int, width: int, generator: torch.Generator) -> Compressor:
    lanes = 2 * width if ratio == 4 else width
    return Compressor(
        ape=torch.randn(ratio, lanes, generator=generator),
        norm=1 + 0.2 * torch.randn(width, generator=generator),
    )


def random_attention(config: ModelConfig, ratio: int, generator: torch.Generator) -> Attention:
    """Weights of one attention sublayer; only what `attend_step` uses carries meaning."""

    def matrix(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    index = random_compressor(4, INDEX_WIDTH, generator)
    return Attention(
        entry=matrix(32 + WIDTH, 64),
        exact_entry=None,
        q_a_norm=matrix(32),
        q_b=matrix(HEADS * WIDTH, 32),
        kv_norm=1 + 0.2 * matrix(WIDTH),
        sinks=matrix(HEADS),
        out_a=matrix(2 * 16, HEADS * WIDTH // 2),
        out_b=matrix(64, 32),
        frequencies=inverse_frequencies(config, ratio),
        compressor=random_compressor(ratio, WIDTH, generator) if ratio else None,
        indexer=Indexer(matrix(INDEX_HEADS * INDEX_WIDTH, 32), index) if ratio == 4 else None,
    )


def random_projections(ratio: int, tokens: int, generator: torch.Generator) -> Projections:
    """Projections as a sublayer would compute them, drawn at random so that every split sees equal ones."""

    def rows(width: int) -> torch.Tensor:
        return torch.randn(tokens, width, generator=generator)

    lanes = 2 * WIDTH if ratio == 4 else WIDTH
    return Projections(
        q=rows(HEADS * WIDTH),
        kv=rows(WIDTH),
        pool=(rows(lanes), rows(lanes)) if ratio else None,
        index_q=rows(INDEX_HEADS * INDEX_WIDTH) if ratio == 4 else None,
        index_weights=rows(INDEX_HEADS) if ratio == 4 else None,
        index_pool=(rows(2 * INDEX_WIDTH), rows(2 * INDEX_WIDTH)) if ratio == 4 else None,
    )


def part_of(found: Projections, first: int, last: int) -> Projections:
    """The projections of tokens [first, last)."""

    def cut(part: torch.Tensor | None) -> torch.Tensor | None:
        return None if part is None else part[first:last]

    def pair(parts: tuple[torch.Tensor, torch.Tensor] | None) -> tuple[torch.Tensor, torch.Tensor] | None:
        return None if parts is None else (parts[0][first:last], parts[1][first:last])

    return Projections(
        found.q[first:last],
        found.kv[first:last],
        pair(found.pool),
        cut(found.index_q),
        cut(found.index_weights),
        pair(found.index_pool),
    )


def context_of(
    config: ModelConfig, step: Step, rounding: KvRounding = KvRounding.F16, band_tokens: int = 2048
) -> StepContext:
    return StepContext(config, step, rounding, True, band_tokens, lambda: None)
