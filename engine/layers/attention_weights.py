"""The weights of one attention sublayer, as loading places them and engine.layers.attention reads them."""

from dataclasses import dataclass

import torch

from engine.layers.compressor import Compressor
from engine.layers.indexer import Indexer
from engine.layers.matrix import Matrix


@dataclass(frozen=True, slots=True)
class Attention:
    """Weights of the sublayer. Matrices as the backend keeps them, norms and sinks float32.

    entry [q_rank + d, D] is q_a above kv, q_b [H·d, q_rank], out_a [G·out_rank, H·d/G], out_b [D, G·out_rank];
    exact_entry [E, D] stacks what must stay exact: the compressor's kv and gate, then with an indexer its
    compressor's kv and gate and its head weights. frequencies float64 [rope_dim/2] of this layer.
    """

    entry: Matrix
    exact_entry: Matrix | None
    q_a_norm: torch.Tensor
    q_b: Matrix
    kv_norm: torch.Tensor
    sinks: torch.Tensor
    out_a: Matrix
    out_b: Matrix
    frequencies: torch.Tensor
    compressor: Compressor | None
    indexer: Indexer | None
