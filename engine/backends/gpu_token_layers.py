"""The launches of one token, layer by layer, into buffers that every layer reuses. Queues work only: never waits.

`TokenLayers.run` is what a graph records, so nothing in it may depend on the position on the host; `span` bounds the
context and so the grids. Order of work as in a prefill step (banded-prefill 3.4).
"""

import torch

from engine.backends.gpu_machine import GpuMachine
from engine.backends.gpu_matrix import pair_of, stored_of
from engine.backends.gpu_side_stream import SideStream
from engine.backends.gpu_token import Rotation, TokenInputs
from engine.backends.gpu_token_buffers import TokenBuffers
from engine.layers.attention_weights import Attention
from engine.layers.compressor import Compressor, RollingState
from engine.layers.hyper_connection import Mixer
from engine.layers.matrix import Matrix
from engine.layers.moe import Experts, Router
from engine.state import LayerState, SessionState
from engine.weights import ModelWeights
from kernels.ops import attention, compressor, indexer, matvec, residual, routing, rows
from kernels.ops.attention_forms import split_form
from kernels.ops.formats import unpack


class TokenLayers:
    """`logits` float32 [1, vocab] hold the result of the last run."""

    def __init__(
        self, machine: GpuMachine, weights: ModelWeights, state: SessionState, selects: bool, inputs: TokenInputs
    ) -> None:
        self._config, self._launcher, self._shapes = machine.config, machine.launcher, machine.shapes
        self._weights, self._state, self._selects, self._inputs = weights, state, selects, inputs
        self._split = split_form(self._shapes.heads, self._launcher.device.target)
        self._side = SideStream(machine.tensor_device)
        self._buffers = TokenBuffers(machine.config, self._shapes.residual, machine.tensor_device)
        self.logits = self._buffers.new(1, machine.config.vocab)

    def run(self, span: int) -> None:
        """One token, in a context of at most `span`; the state advances."""
        b, weights = self._buffers, self._weights
        self._embed(weights.embedding)
        self._mix(weights.layers[0].attn_mixer, weights.layers[0].attn_norm)
        following = (*weights.layers[1:], None)
        for layer, state, after in zip(weights.layers, self._state.layers, following, strict=True):
            self._attention(layer.attention, state, span)
            self._expand_mix(layer.ffn_mixer, layer.ffn_norm)
            self._experts(layer.router, layer.experts)
            if after is None:
                self._expand()
            else:
                self._expand_mix(after.attn_mixer, after.attn_norm)
        self._collapse(weights.head_mixer, weights.output_norm)
        self._multiply(weights.output, b.x, self.logits)

    def settle(self) -> None:
        """After a run that failed half way: what is queued from now on comes after all that it queued."""
        self._side.join()

    def _embed(self, embedding: Matrix) -> None:
        stored = stored_of(embedding)
        geometry = stored.kind.value
        chosen = stored.blocks.index_select(0, self._inputs.token_id).view(-1, geometry.bytes)
        unpack(self._launcher, stored.kind, chosen, self._buffers.embedded.view(-1, geometry.block))
        self._buffers.streams.copy_(self._buffers.embedded.expand_as(self._buffers.streams))

    def _mix(self, mixer: Mixer, norm: torch.Tensor) -> None:
        b, c = self._buffers, self._config
        weights = residual.MixerWeights(mixer.fn, mixer.scale, mixer.base, norm)
        outputs = residual.MixOutputs(b.x, b.post, b.comb)
        residual.mix(self._launcher, self._shapes.residual, b.streams, weights, b.partial, outputs, c.rms_eps, c.hc_eps)

    def _expand_mix(self, mixer: Mixer, norm: torch.Tensor) -> None:
        b, c = self._buffers, self._config
        back = residual.WayBack(b.y, b.post, b.comb)
        weights = residual.MixerWeights(mixer.fn, mixer.scale, mixer.base, norm)
        outputs = residual.MixOutputs(b.x, b.post, b.comb)
        residual.expand_mix(
            self._launcher, self._shapes.residual, b.streams, back, weights, b.partial, outputs, c.rms_eps, c.hc_eps
        )

    def _expand(self) -> None:
        b = self._buffers
        residual.expand(self._launcher, self._shapes.residual, b.streams, b.y, b.post, b.comb, b.streams)

    def _collapse(self, head: Mixer, norm: torch.Tensor) -> None:
        b, c = self._buffers, self._config
        weights = residual.MixerWeights(head.fn, head.scale, head.base, norm)
        partial = b.new(*self._shapes.residual.partial_shape(1, residual.COLLAPSE_OUTPUTS))
        residual.collapse(self._launcher, self._shapes.residual, b.streams, weights, partial, b.x, c.rms_eps, c.hc_eps)

    def _attention(self, weights: Attention, state: LayerState, span: int) -> None:
        c, b = self._config, self._buffers
        rotation = self._inputs.rotations[state.ratio]
        with self._side.beside():
            self._close_windows(weights, state)
        self._multiply(weights.entry, b.x, b.entry)
        norm = rows.RowForm(c.q_rank)
        self._finish(norm, b.entry[:, : c.q_rank], b.latent, weight=weights.q_a_norm)
        with self._side.beside():
            attended = self._rows(weights, state, span)
            raw = self._shapes.raw_rows(self._state.rounding)
            self._finish(raw, b.entry[:, c.q_rank :], state.ring, weight=weights.kv_norm, rotation=rotation, ring=True)
        self._multiply(weights.q_b, b.latent, b.q)
        self._side.join()
        work = b.new(*attention.split_work_shape(self._split, attended))
        q = b.q.view(1, c.heads, c.head_dim)
        angles = attention.QueryRotation(*rotation, weights.sinks, c.rms_eps)
        attention.attend_split(self._launcher, self._split, q, attended, angles, q, self._inputs.position, work)
        out_a = stored_of(weights.out_a)
        matvec.multiply(self._launcher, out_a, b.q.view(1, c.out_groups, out_a.width), b.grouped)
        self._multiply(weights.out_b, b.grouped, b.y)

    def _close_windows(self, weights: Attention, state: LayerState) -> None:
        """The token joins its windows; a window that it completes becomes a row."""
        if weights.compressor is None or weights.exact_entry is None or state.rolling is None:
            return
        b, lanes = self._buffers, weights.compressor.kv_lanes
        exact = b.exact[:, : weights.exact_entry.shape[0]]
        self._multiply(weights.exact_entry, b.x, exact)
        self._close(exact[:, :lanes], exact[:, lanes : 2 * lanes], weights.compressor, state.rolling, state.compressed)
        if weights.indexer is None or state.index_rolling is None:
            return
        own = weights.indexer.compressor
        first, second, last = 2 * lanes, 2 * lanes + own.kv_lanes, 2 * lanes + 2 * own.kv_lanes
        self._close(exact[:, first:second], exact[:, second:last], own, state.index_rolling, state.index, is_index=True)

    def _close(
        self,
        values: torch.Tensor,
        gates: torch.Tensor,
        weights: Compressor,
        rolling: RollingState,
        store: torch.Tensor,
        is_index: bool = False,
    ) -> None:
        compressor.close_windows(
            self._launcher,
            self._shapes.compressor(weights.ratio, self._state.rounding, is_index),
            values,
            gates,
            weights.ape,
            weights.norm,
            self._inputs.window_rotations[weights.ratio],
            compressor.Rolling(rolling.values, rolling.scores),
            store,
            self._inputs.position,
            0,
            self._config.rms_eps,
        )

    def _rows(self, weights: Attention, state: LayerState, span: int) -> attention.AttentionRows:
        """What the token attends to: room for `span` tokens' rows, of which the device knows how many there are."""
        ratio = state.ratio
        room = min(span // ratio + 1, len(state.compressed)) if ratio else 0
        compressed = state.compressed[:room]
        if weights.indexer is None or not self._selects:
            plan = attention.Plan.CONTIGUOUS if ratio else attention.Plan.WINDOW
            return attention.AttentionRows(plan, state.ring, compressed, ratio, is_ring=True)
        self._select(weights, state, room)
        b = self._buffers
        return attention.AttentionRows(
            attention.Plan.INDEXED, state.ring, compressed, ratio, b.ids, b.counts, is_ring=True
        )

    def _select(self, weights: Attention, state: LayerState, room: int) -> None:
        if weights.indexer is None or weights.exact_entry is None:
            return
        c, b = self._config, self._buffers
        self._multiply(weights.indexer.q_b, b.latent, b.index_q)
        form = self._shapes.index_queries(self._state.rounding)
        self._finish(
            form,
            b.index_q.view(c.index_heads, c.index_dim),
            b.index_queries.view(c.index_heads, c.index_dim),
            rotation=self._inputs.rotations[state.ratio],
            rows_per_position=c.index_heads,
        )
        end = weights.exact_entry.shape[0]
        torch.mul(b.exact[:, end - c.index_heads : end], (c.index_dim * c.index_heads) ** -0.5, out=b.index_weights)
        shape = self._shapes.indexer(c.index_top_k)
        span = indexer.TokenRange(self._inputs.position, 0, 0, 1, room, state.ratio)
        scores = b.new(1, room)
        indexer.score(self._launcher, shape, b.index_queries, b.index_weights, state.index[:room], scores, span)
        indexer.select(self._launcher, shape, scores, b.ids, b.counts, span)

    def _experts(self, router: Router, experts: Experts) -> None:
        c, b = self._config, self._buffers
        shared, routed = pair_of(experts.shared_gate_up), pair_of(experts.gate_up)
        with self._side.beside():
            matvec.gate_up(self._launcher, shared.gate, shared.up, b.x, b.only_expert, b.shared_inner, experts.limit)
            self._multiply(experts.shared_down, b.shared_inner[0], b.y)
        self._multiply(router.gate, b.x, b.expert_logits)
        hashed = router.table is not None
        routing.route(
            self._launcher,
            self._shapes.router(hashed),
            b.expert_logits,
            b.experts,
            b.expert_weights,
            c.expert_scale,
            router.bias,
            router.table,
            self._inputs.token_id if hashed else None,
        )
        matvec.gate_up(self._launcher, routed.gate, routed.up, b.x, b.experts, b.inner, experts.limit)
        self._side.join()
        down = stored_of(experts.down)
        matvec.down(self._launcher, down, b.inner, b.experts, b.expert_weights, b.y, b.y)

    def _multiply(self, weight: Matrix, x: torch.Tensor, out: torch.Tensor) -> None:
        """x float32 [1, in] to out float32 [1, out]."""
        if isinstance(weight, torch.Tensor):
            torch.mm(x, weight.T, out=out)
        else:
            matvec.multiply(self._launcher, stored_of(weight), x[:, None, :], out)

    def _finish(
        self,
        form: rows.RowForm,
        values: torch.Tensor,
        out: torch.Tensor,
        *,
        weight: torch.Tensor | None = None,
        rotation: Rotation | None = None,
        rows_per_position: int = 1,
        ring: bool = False,
    ) -> None:
        rows.finish_rows(
            self._launcher,
            form,
            values,
            out,
            self._inputs.position,
            weight=weight,
            rotation=rotation,
            rows_per_position=rows_per_position,
            epsilon=self._config.rms_eps,
            ring=ring,
        )
