"""The CPU backend in plain torch: every operation is the reference itself. Runs anywhere torch does."""

import torch
from torch.nn import functional

from engine.backends.base import TokenProgram
from engine.backends.cpu_buffers import cpu_step_buffers
from engine.cache_shape import CacheShape
from engine.config import ModelConfig
from engine.layers import hyper_connection, indexer, moe, row_attention
from engine.layers.hyper_connection import Mixed, Mixer
from engine.layers.moe import Experts, Router, Routing
from engine.layers.row_attention import QueryForm, RowSpace
from engine.plan import Band, Step
from engine.state import SessionState
from engine.step_buffers import Buffer
from engine.stored_weights import StoredWeights
from engine.weights import ModelWeights


class CpuBackend:
    """Matrix products in `compute_dtype` (float32 or bfloat16), everything else in float32."""

    name = "cpu"
    compiled = False
    device = "cpu"

    def __init__(self, config: ModelConfig, compute_dtype: torch.dtype) -> None:
        self.config, self.compute_dtype = config, compute_dtype
        self.native_note = "plain torch"

    def step_buffers(self, shape: CacheShape, step: Step) -> tuple[Buffer, ...]:
        return cpu_step_buffers(shape, step, self.compute_dtype.itemsize, self.compiled)

    def as_input(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(self.compute_dtype).contiguous()

    def linear(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return functional.linear(x.to(weight.dtype), weight)

    def mix(self, streams: torch.Tensor, mixer: Mixer, norm: torch.Tensor) -> Mixed:
        return hyper_connection.mix(streams, mixer, norm, self.config)

    def expand(self, streams: torch.Tensor, y: torch.Tensor, mixed: Mixed) -> None:
        streams.copy_(hyper_connection.expand(streams, y, mixed))

    def expand_mix(
        self, streams: torch.Tensor, y: torch.Tensor, mixed: Mixed, mixer: Mixer, norm: torch.Tensor
    ) -> Mixed:
        self.expand(streams, y, mixed)
        return self.mix(streams, mixer, norm)

    def collapse(self, streams: torch.Tensor, head: Mixer) -> torch.Tensor:
        return hyper_connection.collapse(streams, head, self.config)

    def select(
        self, queries: torch.Tensor, weights: torch.Tensor, rows: torch.Tensor, position: int, ratio: int, top_k: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return indexer.select_rows(queries, weights, rows, position, ratio, top_k)

    def new_attention_output(self, q: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(q)

    def attend(self, q: torch.Tensor, band: Band, space: RowSpace, form: QueryForm, out: torch.Tensor) -> None:
        out.copy_(row_attention.attend(q, band, space, form))

    def route(self, x: torch.Tensor, token_ids: torch.Tensor, router: Router) -> Routing:
        return moe.route(x, token_ids, router, self.config)

    def run_experts(self, x: torch.Tensor, routing: Routing, experts: Experts) -> torch.Tensor:
        return moe.run_experts(self.as_input(x), routing, experts)

    def prepare_decode(self, stored: StoredWeights, weights: ModelWeights) -> None:
        """Layers run one by one: nothing to build."""

    def token_program(self, state: SessionState, selects: bool) -> TokenProgram | None:
        return None
