"""The CPU backend with compiled kernels: attention, selection and stream mixing leave torch; matrix products stay.

Built where the kernels load (kernels/cpu says why not otherwise). Every operation equals the torch reference up to
rounding and gives the same bits for any split of the tokens and any number of threads.
"""

import torch
from torch.nn import functional

import kernels.cpu as native_cpu
from engine.backends.base import TokenProgram
from engine.backends.cpu import CpuBackend
from engine.backends.cpu_decode import SessionProgram, build_program
from engine.config import ModelConfig
from engine.cpu_need import copied_bytes
from engine.layers.hyper_connection import Mixed, Mixer
from engine.layers.matrix import decoded
from engine.layers.moe import Experts, Router, Routing
from engine.layers.norm import rms_norm
from engine.layers.row_attention import QueryForm, RowSpace
from engine.plan import AttentionPlan, Band
from engine.state import SessionState
from engine.stored_weights import StoredWeights
from engine.weights import ModelWeights
from kernels.cpu.decode import DecodeProgram

_GROUP_GRAIN = 64  # oneDNN builds code for every row count it meets; 64 leaves it a few dozen


class NativeCpuBackend(CpuBackend):
    """`native` holds the opened kernels; the rest is as in CpuBackend."""

    compiled = True

    def __init__(self, config: ModelConfig, compute_dtype: torch.dtype, native: native_cpu.NativeCpu) -> None:
        super().__init__(config, compute_dtype)
        self.native = native
        self._program: DecodeProgram | None = None
        threads = "1 thread" if native.threads == 1 else f"{native.threads} threads"
        self.native_note = f"{native.variant}, {threads}"

    def mix(self, streams: torch.Tensor, mixer: Mixer, norm: torch.Tensor) -> Mixed:
        found = self.native.hc_mix(streams, self._mixer(mixer, norm))
        return Mixed(found.x, found.post, found.comb)

    def expand(self, streams: torch.Tensor, y: torch.Tensor, mixed: Mixed) -> None:
        self.native.hc_expand(streams, y, _tokens(mixed))

    def expand_mix(
        self, streams: torch.Tensor, y: torch.Tensor, mixed: Mixed, mixer: Mixer, norm: torch.Tensor
    ) -> Mixed:
        found = self.native.hc_expand_mix(streams, y, _tokens(mixed), self._mixer(mixer, norm))
        return Mixed(found.x, found.post, found.comb)

    def collapse(self, streams: torch.Tensor, head: Mixer, norm: torch.Tensor) -> torch.Tensor:
        return rms_norm(self.native.hc_head(streams, self._mixer(head, None)), norm, self.config.rms_eps)

    def select(
        self, queries: torch.Tensor, weights: torch.Tensor, rows: torch.Tensor, position: int, ratio: int, top_k: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return self.native.select(
            queries.contiguous(), weights.contiguous(), rows, start=position, ratio=ratio, top=top_k
        )

    def attend(self, q: torch.Tensor, band: Band, space: RowSpace, form: QueryForm, out: torch.Tensor) -> None:
        """The band's queries see raw rows from their own window on, so the rows before it stay out of the call."""
        selection = space.selection if space.plan is AttentionPlan.INDEXED else None
        split = band.stop if selection is None else min(max(selection.first, band.start), band.stop)
        if split > band.start:
            self._attend_part(q, band, Band(band.start, split), space, form, out, None)
        if split < band.stop and selection is not None:
            first = split - selection.first
            last = band.stop - selection.first
            chosen = selection.ids[first:last], selection.counts[first:last]
            self._attend_part(q, band, Band(split, band.stop), space, form, out, chosen)

    def _attend_part(
        self,
        q: torch.Tensor,
        band: Band,
        part: Band,
        space: RowSpace,
        form: QueryForm,
        out: torch.Tensor,
        chosen: tuple[torch.Tensor, torch.Tensor] | None,
    ) -> None:
        view = space.view
        first_row = view.raw_first(part.start)
        local = slice(part.start - band.start, part.stop - band.start)
        result = out[local].flatten(1)
        self.native.attend(
            q[local],
            space.raw[first_row : view.raw_last(part.stop - 1) + 1],
            space.compressed if view.ratio else None,
            native_cpu.AttentionSpan(
                view.start + part.start, view.raw_last(part.start) - first_row, view.window, view.ratio
            ),
            cosine=form.cos[part.start : part.stop],
            sine=form.sin[part.start : part.stop],
            sinks=form.sinks,
            eps=form.eps,
            ids=None if chosen is None else chosen[0],
            counts=None if chosen is None else chosen[1],
            out=result,
            out_dtype=result.dtype,
        )

    def route(self, x: torch.Tensor, token_ids: torch.Tensor, router: Router) -> Routing:
        logits = self.linear(x, router.gate)
        if router.table is not None:
            return Routing(*self.native.route_by_table(logits, router.table, token_ids, self.config.expert_scale))
        config = self.config
        return Routing(*self.native.route(logits, router.bias, config.experts_used, config.expert_scale))

    def run_experts(self, x: torch.Tensor, routing: Routing, experts: Experts) -> torch.Tensor:
        """Tokens are gathered by expert, each expert's two products run over its group, results combined in order."""
        x = self.as_input(x)
        gate_up, down = decoded(experts.gate_up), decoded(experts.down)
        groups = self.native.group(routing.experts, gate_up.shape[0], _GROUP_GRAIN)
        rows = x.index_select(0, groups.source)
        inner = rows.new_empty(rows.shape[0], gate_up.shape[1])
        _grouped_product(rows, gate_up, groups.counts, inner)
        _grouped_product(self.native.swiglu(inner, experts.limit), down, groups.counts, rows)
        shared = self.native.swiglu(functional.linear(x, decoded(experts.shared_gate_up)), experts.limit)
        shared = functional.linear(shared, decoded(experts.shared_down))
        return self.native.combine(rows, groups.place, routing.weights, shared)

    def weight_bytes(self, stored: StoredWeights) -> int:
        return super().weight_bytes(stored) + copied_bytes(stored.source.tensors.values())

    def prepare_decode(self, stored: StoredWeights, weights: ModelWeights) -> None:
        try:
            self._program, self.copied_bytes = build_program(self.native.library, stored, self.config, weights)
        except ValueError as misfit:  # widths or types that the compiled call does not take: layer by layer then
            self.native_note = f"{self.native_note}; decodes layer by layer: {misfit}"

    def token_program(self, state: SessionState, selects: bool) -> TokenProgram | None:
        return None if self._program is None else SessionProgram(self._program, state, selects)

    def _mixer(self, mixer: Mixer, norm: torch.Tensor | None) -> native_cpu.MixerWeights:
        config = self.config
        return native_cpu.MixerWeights(
            mixer.fn, mixer.scale, mixer.base, norm, config.rms_eps, config.hc_eps, config.sinkhorn_iterations
        )


def _grouped_product(rows: torch.Tensor, weights: torch.Tensor, counts: list[int], out: torch.Tensor) -> None:
    """out = rows times each expert's weights [E, out, in] transposed, for consecutive groups of `counts` rows."""
    first = 0
    for expert, count in enumerate(counts):
        if count:
            torch.mm(rows[first : first + count], weights[expert].T, out=out[first : first + count])
        first += count


def _tokens(mixed: Mixed) -> native_cpu.MixedTokens:
    return native_cpu.MixedTokens(mixed.x, mixed.post, mixed.comb)
