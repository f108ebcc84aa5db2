"""The operations a layer may ask of a machine. Layers hold the model's logic and call only these and plain torch.

One backend instance serves one loaded model; it is called from the thread that runs the session. The torch
references in engine/layers define what every answer must equal up to rounding.
"""

from typing import Protocol

import torch

from engine.cache_shape import CacheShape
from engine.config import ModelConfig
from engine.layers.hyper_connection import Mixed, Mixer
from engine.layers.moe import Experts, Router, Routing
from engine.layers.row_attention import QueryForm, RowSpace
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
    native_note: str  # which compiled kernels run, or why none

    def step_buffers(self, shape: CacheShape, step: Step) -> tuple[Buffer, ...]:
        """The temporaries this machine really holds during a step, for the ledger's forecast."""

    def as_input(self, x: torch.Tensor) -> torch.Tensor:
        """x in the type that matrix products take, contiguous."""

    def linear(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """x [N, in] times weight [out, in] transposed, in the weight's type."""

    def mix(self, streams: torch.Tensor, mixer: Mixer, norm: torch.Tensor) -> Mixed:
        """Collapse streams float32 [N, n, D] to a normed sublayer input (hyper_connection.mix)."""

    def expand(self, streams: torch.Tensor, y: torch.Tensor, mixed: Mixed) -> None:
        """Bring a sublayer's output y [N, D] into streams [N, n, D], in place (hyper_connection.expand)."""

    def expand_mix(
        self, streams: torch.Tensor, y: torch.Tensor, mixed: Mixed, mixer: Mixer, norm: torch.Tensor
    ) -> Mixed:
        """`expand`, then `mix` for the next sublayer, with the same bits; a backend may fuse the two."""

    def collapse(self, streams: torch.Tensor, head: Mixer) -> torch.Tensor:
        """The final collapse, float32 [N, D] (hyper_connection.collapse)."""

    def select(
        self, queries: torch.Tensor, weights: torch.Tensor, rows: torch.Tensor, position: int, ratio: int, top_k: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The indexer's rows for consecutive tokens from `position` on (indexer.select_rows)."""

    def new_attention_output(self, q: torch.Tensor) -> torch.Tensor:
        """An uninitialised tensor for the step's attention output, shaped as q [N, H, d]."""

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
