"""What this engine does not do: attention through an explicit float32 mask of the whole step, kept for every layer.

Lives under tests only. The mask is filled from the definition (positions and last source tokens), not from the closed
forms, and rows are read back from it; the arithmetic after that is the reference's own, so bits can be compared. Run
as a module it prints the peak resident bytes of one step, with or without masks.
"""

import sys
from pathlib import Path

import torch

from engine.backends.cpu import CpuBackend
from engine.host import peak_resident_bytes
from engine.layers.norm import rms_norm
from engine.layers.rope import rotate
from engine.layers.row_attention import QueryForm, RowSpace, _groups, _softmax_rows
from engine.model import Network
from engine.plan import Band, Step
from tests.support.running import drain, network_of, timeline_of

HIDDEN = -torch.inf


class RetainedMaskBackend(CpuBackend):
    """Answers `attend` through masks and keeps every one of them; `masks` holds one per layer, in order."""

    masks: list[torch.Tensor]
    _space: RowSpace | None = None

    def attend(self, q: torch.Tensor, band: Band, space: RowSpace, form: QueryForm, out: torch.Tensor) -> None:
        if space is not self._space:
            self._space = space
            self.masks = [*getattr(self, "masks", []), full_mask(space)]
        mask = self.masks[-1]
        cos, sin = form.cos[band.start : band.stop], form.sin[band.start : band.stop]
        queries = rotate(rms_norm(q, None, form.eps), cos, sin)
        rows = torch.cat([space.raw, space.compressed]).float()
        found = torch.empty_like(queries)
        for first, last in _groups(band, space):
            ids = (mask[first:last] == 0).nonzero()[:, 1].view(last - first, -1)
            local = slice(first - band.start, last - band.start)
            found[local] = _softmax_rows(queries[local], rows[ids], form.sinks)
        out.copy_(rotate(found, cos, sin, inverse=True))


def full_mask(space: RowSpace) -> torch.Tensor:
    """float32 [N, P + N + C]: 0 where token t may look, minus infinity elsewhere, from the definition alone."""
    view = space.view
    mask = torch.full((view.tokens, view.prior + view.tokens + view.compressed), HIDDEN)
    for t in range(view.tokens):
        position = view.start + t
        for_raw = torch.arange(view.prior + view.tokens) + view.start - view.prior
        mask[t, : view.prior + view.tokens].masked_fill_((for_raw <= position) & (for_raw > position - view.window), 0)
        if view.ratio:
            closed = torch.arange(view.compressed) * view.ratio + view.ratio - 1 <= position
            chosen = space.selection
            if chosen is not None and t >= chosen.first:
                listed = torch.zeros(view.compressed, dtype=torch.bool)
                listed[chosen.ids[t - chosen.first].long()] = True
                closed &= listed
            mask[t, view.prior + view.tokens :].masked_fill_(closed, 0)
    return mask


def masked(network: Network) -> Network:
    return Network(network.config, network.weights, RetainedMaskBackend(network.config, torch.float32))


def main() -> None:
    """`python -m tests.support.retained_mask MODEL TOKENS analytic|retained`: run one step, print the peak."""
    network = network_of(Path(sys.argv[1]))
    network = masked(network) if sys.argv[3] == "retained" else network
    tokens = int(sys.argv[2])
    timeline = timeline_of(network, context=tokens)
    ids = torch.randint(0, network.config.vocab, (tokens,), generator=torch.Generator().manual_seed(0))
    drain(network.run_step(ids, timeline.state, Step(0, tokens)))
    print(peak_resident_bytes())


if __name__ == "__main__":
    main()
