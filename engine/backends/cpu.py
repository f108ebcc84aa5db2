"""The CPU backend in plain torch: every operation is the reference itself. Runs anywhere torch does."""

import torch
from torch.nn import functional

from engine.backends.base import TokenProgram
from engine.backends.cpu_buffers import cpu_step_buffers
from engine.backends.memory_need import MemoryNeed, require_room
from engine.cache_shape import CacheShape
from engine.config import ModelConfig
from engine.cpu_need import placed_bytes
from engine.host import available_bytes
from engine.layers import compressor, hyper_connection, indexer, moe, row_attention
from engine.layers.compressor import Windows
from engine.layers.hyper_connection import Mixed, Mixer
from engine.layers.matrix import Matrix, decoded
from engine.layers.moe import Experts, Router, Routing
from engine.layers.norm import rms_norm
from engine.layers.rope import rotate
from engine.layers.rounding import KvRounding, prepare_index, store_rows
from engine.layers.row_attention import QueryForm, RowSpace
from engine.placement import DecodedPlacement, Placement
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
    tensor_device = torch.device("cpu")
    singly_up_to = 32  # and nearer to float32
    works_in_bands = True  # a band's activations stay in cache

    def __init__(self, config: ModelConfig, compute_dtype: torch.dtype) -> None:
        self.config, self.compute_dtype = config, compute_dtype
        self.native_note = "plain torch"
        self.copied_bytes = 0

    def require_memory(self, stored: StoredWeights, rounding: KvRounding) -> None:
        """Raises UserError where the weights, decoded, do not fit into what is free."""
        weights = self.weight_bytes(stored)
        advice = "close other programs or choose a smaller model"
        require_room(stored.source.name, "CPU", MemoryNeed(weights), available_bytes(), advice)

    def weight_bytes(self, stored: StoredWeights) -> int:
        """What `placement` and `prepare_decode` will hold."""
        return placed_bytes(stored.source.tensors.values(), self.compute_dtype.itemsize)

    def placement(self) -> Placement:
        return DecodedPlacement(self.compute_dtype)

    def release(self) -> None:
        """Nothing is kept."""

    def step_buffers(self, shape: CacheShape, step: Step) -> tuple[Buffer, ...]:
        return cpu_step_buffers(shape, step, self.compute_dtype.itemsize, self.compiled)

    def pace(self) -> None:
        """Nothing queues."""

    def as_input(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(self.compute_dtype).contiguous()

    def norm_input(self, x: torch.Tensor, norm: torch.Tensor) -> torch.Tensor:
        return self.as_input(rms_norm(x, norm, self.config.rms_eps))

    def embed(self, token_ids: torch.Tensor, embedding: Matrix) -> torch.Tensor:
        return decoded(embedding)[token_ids].float()[:, None, :].repeat(1, self.config.streams, 1)

    def linear(self, x: torch.Tensor, weight: Matrix) -> torch.Tensor:
        tensor = decoded(weight)
        return functional.linear(x.to(tensor.dtype), tensor)

    def grouped_linear(self, o: torch.Tensor, weight: Matrix) -> torch.Tensor:
        groups, tensor = self.config.out_groups, decoded(weight)
        parts = self.as_input(o).view(-1, groups, tensor.shape[1]).transpose(0, 1)
        products = torch.bmm(parts, tensor.view(groups, -1, tensor.shape[1]).transpose(1, 2))
        return products.transpose(0, 1).reshape(-1, tensor.shape[0])

    def finish_rows(
        self, kv: torch.Tensor, norm: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, rounding: KvRounding
    ) -> torch.Tensor:
        rows = rotate(rms_norm(kv, norm, self.config.rms_eps), cos, sin)
        return store_rows(rows, rounding, self.config.rope_dim)

    def append_rows(self, values: torch.Tensor, gates: torch.Tensor, start: int, windows: Windows) -> None:
        compressor.append_rows(values, gates, start, windows, self.config)

    def index_queries(
        self, index_q: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, rounding: KvRounding
    ) -> torch.Tensor:
        queries = index_q.float().view(-1, self.config.index_heads, self.config.index_dim)
        return prepare_index(rotate(queries, cos, sin), rounding)

    def mix(self, streams: torch.Tensor, mixer: Mixer, norm: torch.Tensor) -> Mixed:
        return hyper_connection.mix(streams, mixer, norm, self.config)

    def expand(self, streams: torch.Tensor, y: torch.Tensor, mixed: Mixed) -> None:
        streams.copy_(hyper_connection.expand(streams, y, mixed))

    def expand_mix(
        self, streams: torch.Tensor, y: torch.Tensor, mixed: Mixed, mixer: Mixer, norm: torch.Tensor
    ) -> Mixed:
        self.expand(streams, y, mixed)
        return self.mix(streams, mixer, norm)

    def collapse(self, streams: torch.Tensor, head: Mixer, norm: torch.Tensor) -> torch.Tensor:
        return rms_norm(hyper_connection.collapse(streams, head, self.config), norm, self.config.rms_eps)

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
