"""The operations a layer may ask of a machine. Layers hold the model's logic and call only these and plain torch.

One backend instance serves one loaded model; it is called from the thread that runs the session. The torch
references in engine/layers define what every answer must equal up to rounding.
"""

from typing import Protocol

import torch

from engine.cache_shape import CacheShape
from engine.config import ModelConfig
from engine.layers.compressor import Windows
from engine.layers.hyper_connection import Mixed, Mixer
from engine.layers.matrix import Matrix
from engine.layers.moe import Experts, Router, Routing
from engine.layers.rounding import KvRounding
from engine.layers.row_attention import QueryForm, RowSpace
from engine.placement import Placement
from engine.plan import Band, Step
from engine.state import SessionState
from engine.step_buffers import Buffer
from engine.stored_weights import StoredWeights
from engine.weights import ModelWeights


class TokenProgram(Protocol):
    """One compiled call that takes one token through the whole model and advances the state it was built for."""

    def run(self, token_id: int, position: int) -> torch.Tensor:
        """Logits float32 [vocab] after `token_id` at `position`; nothing is written when it raises."""


class Backend(Protocol):
    """A machine that can run layers. `name` is "cpu" or "gpu"; matrices live in `compute_dtype`."""

    name: str
    device: str
    compute_dtype: torch.dtype
    config: ModelConfig
    tensor_device: torch.device  # where weights, state and activations live
    singly_up_to: int  # tokens of a prompt that go faster one by one through `token_program` than as one step
    works_in_bands: bool  # whether work between two attentions goes band by band rather than over the whole step
    native_note: str  # which compiled kernels run, or why none
    copied_bytes: int  # of weights that prepare_decode holds besides those that were placed

    def require_memory(self, stored: StoredWeights, rounding: KvRounding) -> None:
        """Raises UserError, in one sentence, where a model of these weights would not fit this machine."""

    def placement(self) -> Placement:
        """How this machine takes a model's weights in, for one load."""

    def release(self) -> None:
        """Give back to the machine what a load that failed no longer holds."""

    def step_buffers(self, shape: CacheShape, step: Step) -> tuple[Buffer, ...]:
        """The temporaries this machine really holds during a step, for the ledger's forecast."""

    def pace(self) -> None:
        """Wait until little queued work is left, so that a stop takes effect soon. Where nothing queues, nothing."""

    def as_input(self, x: torch.Tensor) -> torch.Tensor:
        """x in the type that matrix products take, contiguous."""

    def norm_input(self, x: torch.Tensor, norm: torch.Tensor) -> torch.Tensor:
        """x [N, D] RMS-normed times `norm` [D], then as_input."""

    def embed(self, token_ids: torch.Tensor, embedding: Matrix) -> torch.Tensor:
        """Residual streams float32 [N, n, D], each starting as the token's embedding; token_ids int64 [N]."""

    def linear(self, x: torch.Tensor, weight: Matrix) -> torch.Tensor:
        """x [N, in] times weight [out, in] transposed: [N, out] in the type that this machine's products give."""

    def grouped_linear(self, o: torch.Tensor, weight: Matrix) -> torch.Tensor:
        """Attention output o [N, H·d] in G groups, each through its own [out_rank, H·d/G]: [N, G·out_rank]."""

    def finish_rows(
        self, kv: torch.Tensor, norm: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, rounding: KvRounding
    ) -> torch.Tensor:
        """Raw rows as stored, from projections kv float32 [N, d] and rotation [N, pairs] (rounding.store_rows)."""

    def append_rows(self, values: torch.Tensor, gates: torch.Tensor, start: int, windows: Windows) -> None:
        """Close a step's windows into stored rows and advance the rolling state (compressor.append_rows)."""

    def index_queries(
        self, index_q: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, rounding: KvRounding
    ) -> torch.Tensor:
        """Indexer queries [T, Hi, di] in stored precision, from projections [T, Hi·di] (rounding.prepare_index)."""

    def mix(self, streams: torch.Tensor, mixer: Mixer, norm: torch.Tensor) -> Mixed:
        """Collapse streams float32 [N, n, D] to a normed sublayer input (hyper_connection.mix)."""

    def expand(self, streams: torch.Tensor, y: torch.Tensor, mixed: Mixed) -> None:
        """Bring a sublayer's output y [N, D] into streams [N, n, D], in place (hyper_connection.expand)."""

    def expand_mix(
        self, streams: torch.Tensor, y: torch.Tensor, mixed: Mixed, mixer: Mixer, norm: torch.Tensor
    ) -> Mixed:
        """`expand`, then `mix` for the next sublayer, with the same bits; a backend may fuse the two."""

    def collapse(self, streams: torch.Tensor, head: Mixer, norm: torch.Tensor) -> torch.Tensor:
        """The final collapse (hyper_connection.collapse) and the output norm, float32 [N, D]."""

    def select(
        self, queries: torch.Tensor, weights: torch.Tensor, rows: torch.Tensor, position: int, ratio: int, top_k: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The indexer's rows for consecutive tokens from `position` on (indexer.select_rows)."""

    def new_attention_output(self, q: torch.Tensor) -> torch.Tensor:
        """A tensor for the step's attention output, shaped as q [N, H, d]; q itself where attention works in place."""

    def attend(self, q: torch.Tensor, band: Band, space: RowSpace, form: QueryForm, out: torch.Tensor) -> None:
        """Attention of a band's tokens into out [T, H, d] (row_attention.attend)."""

    def route(self, x: torch.Tensor, token_ids: torch.Tensor, router: Router) -> Routing:
        """Experts and weights of every token (moe.route)."""

    def run_experts(self, x: torch.Tensor, routing: Routing, experts: Experts) -> torch.Tensor:
        """Shared plus weighted routed experts, float32 [N, D] (moe.run_experts)."""

    def prepare_decode(self, stored: StoredWeights, weights: ModelWeights) -> None:
        """Called once after loading: build what single-token decode needs, where there is anything to build."""

    def token_program(self, state: SessionState, selects: bool) -> TokenProgram | None:
        """A compiled program for single tokens on `state`, or None where layers run one by one."""
