"""The mixture of experts around its matrix products, as methods on torch tensors.

Part of NativeCpu (kernels/cpu/native.py). Formulas: DS4 specification section 4, restated in experts.h.
"""

from dataclasses import dataclass

import torch

from kernels.cpu import arguments as args
from kernels.cpu.caller import Caller

_HbRoute = args.record(
    "HbRoute", "pointer: logits bias table token_ids chosen weights; integer: tokens experts used; real: scale"
)
_HbGroup = args.record("HbGroup", "pointer: chosen counts source place; integer: tokens used experts grain")
_HbSwiglu = args.record(
    "HbSwiglu", "pointer: gate_up; integer: format; pointer: out; integer: out_format rows width; real: limit"
)
_HbCombine = args.record(
    "HbCombine",
    "pointer: outputs; integer: format; pointer: place weights shared; integer: shared_format; pointer: y;"
    "integer: tokens used width",
)
_IDS = (torch.int64,)


@dataclass(frozen=True, slots=True)
class Grouping:
    """Pairs (token, slot) sorted by expert, stably, each group filled up to whole grains.

    `counts` rows per expert, `source` int64 [sum of counts] the token of each row, `place` int64 [N, used] the row of
    each pair. Rows that no pair has are padding.
    """

    counts: list[int]
    source: torch.Tensor
    place: torch.Tensor


class ExpertKernels(Caller):
    """Routing, grouping, SwiGLU and combination. Rows do not depend on each other nor on the number of threads."""

    def route(
        self, logits: torch.Tensor, bias: torch.Tensor | None, used: int, scale: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Experts int64 [N, used] by score plus `bias`, best first, equal ones to the lower expert, and their weights.

        logits float32 [N, E], bias float32 [E]; weights float32 [N, used] sum to `scale`. Raises ValueError.
        """
        args.check("logits", logits, args.FLOATS, (None, None))
        if bias is not None:
            args.check("bias", bias, args.FLOATS, (logits.shape[1],))
        return self._route(logits, bias, None, None, used, scale)

    def route_by_table(
        self, logits: torch.Tensor, table: torch.Tensor, token_ids: torch.Tensor, scale: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Experts that `table` int64 [vocab, used] names for `token_ids` int64 [N], weighted by their scores.

        The caller has checked that ids lie in the vocabulary and the table names experts below E. Raises ValueError.
        """
        args.check("logits", logits, args.FLOATS, (None, None))
        args.check("table", table, _IDS, (None, None))
        args.check("token_ids", token_ids, _IDS, (logits.shape[0],))
        return self._route(logits, None, table, token_ids, table.shape[1], scale)

    def _route(
        self,
        logits: torch.Tensor,
        bias: torch.Tensor | None,
        table: torch.Tensor | None,
        token_ids: torch.Tensor | None,
        used: int,
        scale: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        tokens, experts = logits.shape
        args.require(1 <= used <= experts, f"no choice of {used} from {experts} experts")
        chosen, weights = torch.empty(tokens, used, dtype=torch.int64), torch.empty(tokens, used)
        record = _HbRoute(
            logits.data_ptr(), args.pointer(bias), args.pointer(table), args.pointer(token_ids), chosen.data_ptr(),
            weights.data_ptr(), tokens, experts, used, scale,
        )  # fmt: skip
        self.call("hb_route", record)
        return chosen, weights

    def group(self, chosen: torch.Tensor, experts: int, grain: int = 1) -> Grouping:
        """Sort the pairs of chosen int64 [N, used] by expert, groups in whole multiples of `grain` rows.

        Raises ValueError, also for an expert outside 0..E-1.
        """
        args.check("chosen", chosen, _IDS, (None, None))
        args.require(not chosen.numel() or (int(chosen.min()) >= 0 and int(chosen.max()) < experts), "no such expert")
        args.require(grain >= 1, f"no grain of {grain} rows")
        counts = torch.empty(experts, dtype=torch.int64)
        source = torch.empty(chosen.numel() + experts * (grain - 1), dtype=torch.int64)
        place = torch.empty_like(chosen)
        record = _HbGroup(
            chosen.data_ptr(), counts.data_ptr(), source.data_ptr(), place.data_ptr(), *chosen.shape, experts, grain
        )
        self.call("hb_group", record)
        rows: list[int] = counts.tolist()
        return Grouping(rows, source[: sum(rows)], place)

    def swiglu(self, gate_up: torch.Tensor, limit: float) -> torch.Tensor:
        """silu(min(gate, limit)) * clamp(up, -limit, limit) of gate_up [rows, 2 * width], in its type.

        float32 or bfloat16, computed in float32; width is a multiple of 16. Raises ValueError.
        """
        args.check("gate_up", gate_up, args.ACTIVATIONS, (None, None))
        rows, width = gate_up.shape[0], gate_up.shape[1] // 2
        args.require(width % 16 == 0 and gate_up.shape[1] % 2 == 0, f"an expert width of {width} is no multiple of 16")
        out = torch.empty(rows, width, dtype=gate_up.dtype)
        kind = args.FORMATS[gate_up.dtype]
        self.call("hb_swiglu", _HbSwiglu(gate_up.data_ptr(), kind, out.data_ptr(), kind, rows, width, limit))
        return out

    def combine(
        self, outputs: torch.Tensor, place: torch.Tensor, weights: torch.Tensor, shared: torch.Tensor
    ) -> torch.Tensor:
        """y float32 [N, D]: for each token its weighted expert outputs in slot order, then the shared expert's.

        outputs [rows, D] and shared [N, D] float32 or bfloat16, place int64 (row of each pair) and weights float32
        [N, used]; D is a multiple of 16. Raises ValueError.
        """
        args.check("weights", weights, args.FLOATS, (None, None))
        tokens, used = weights.shape
        args.check("place", place, _IDS, (tokens, used))
        args.check("outputs", outputs, args.ACTIVATIONS, (None, None))
        args.require(not place.numel() or int(place.max()) < outputs.shape[0], "a pair lies outside the outputs")
        width = outputs.shape[1]
        args.require(width % 16 == 0, f"a width of {width} is no multiple of 16")
        args.check("shared", shared, args.ACTIVATIONS, (tokens, width))
        y = torch.empty(tokens, width)
        record = _HbCombine(
            outputs.data_ptr(), args.FORMATS[outputs.dtype], place.data_ptr(), weights.data_ptr(), shared.data_ptr(),
            args.FORMATS[shared.dtype], y.data_ptr(), tokens, used, width,
        )  # fmt: skip
        self.call("hb_combine", record)
        return y
