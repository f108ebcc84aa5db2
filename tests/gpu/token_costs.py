"""What a token must cost at least: operations of a prompt, bytes of a decoded token. The floors of full_model.py.

Counted from shapes and stored formats (banded-prefill 9.2 and 9.3); integers, no device.
"""

from engine.config import ModelConfig
from engine.loading import Model
from engine.plan import Visibility
from engine.weights import tensors_of


def flops_of_prompt(config: ModelConfig, tokens: int) -> int:
    """Operations of reading `tokens` from an empty session: linear work, attention and indexer, one head product."""
    linear = 2 * tokens * sum(_layer_weights(config, ratio) for ratio in config.ratios)
    return linear + sum(_attention(config, ratio, tokens) for ratio in config.ratios) + 2 * config.vocab * config.hidden


def token_bytes(model: Model) -> int:
    """Bytes of weights that one token reads: everything but the embedding and the experts it does not use."""
    config, weights = model.config, model.network.weights
    layers = sum(tensor.nbytes for tensor in tensors_of(weights.layers))
    routed = sum(
        tensor.nbytes
        for layer in weights.layers
        for tensor in tensors_of((layer.experts.gate_up, layer.experts.down))  # type: ignore[arg-type]  # a tree
    )
    tables = sum(layer.router.table.nbytes for layer in weights.layers if layer.router.table is not None)
    head = sum(tensor.nbytes for tensor in tensors_of((weights.output,)))
    return layers - routed - tables + routed * config.experts_used // config.experts + head


def _layer_weights(config: ModelConfig, ratio: int) -> int:
    """Weights that a token passes in one layer."""
    c, queries = config, config.heads * config.head_dim
    attention = c.hidden * (c.q_rank + c.head_dim) + c.q_rank * queries + c.out_rank * queries
    attention += c.hidden * c.out_groups * c.out_rank
    lanes = {0: 0, 4: 4 * (c.head_dim + c.index_dim) + c.index_heads}.get(ratio, 2 * c.head_dim)
    indexer = c.q_rank * c.index_heads * c.index_dim if ratio == 4 else 0
    experts = 3 * c.hidden * c.expert_hidden * (c.experts_used + 1) + c.hidden * c.experts
    mixers = 2 * c.streams * c.hidden * c.mix_width
    return attention + lanes * c.hidden + indexer + experts + mixers


def _attention(config: ModelConfig, ratio: int, tokens: int) -> int:
    """Two products over the rows that each token sees, and the indexer's scores where rows must be chosen."""
    view = Visibility(0, tokens, ratio, config.window)
    rows = scored = 0
    for t in range(tokens):
        visible = view.visible(t)
        if ratio == 4 and visible > config.index_top_k:
            scored += visible
            visible = config.index_top_k
        rows += min(t + 1, config.window) + visible
    return 4 * rows * config.heads * config.head_dim + 2 * scored * config.index_heads * config.index_dim
