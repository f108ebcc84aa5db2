"""The kernels' shapes of one model: which form of each kernel the GPU backend and its decode program launch.

Integers only, derived once from the configuration.
"""

from dataclasses import dataclass

from engine.config import ModelConfig
from engine.layers.rounding import KvRounding
from kernels.ops.attention import AttentionForm, HeadShape, matrix_form
from kernels.ops.compressor import CompressorShape
from kernels.ops.indexer import IndexerShape
from kernels.ops.residual import ResidualShape
from kernels.ops.routing import RouterShape
from kernels.ops.rows import Rounding, RowForm


@dataclass(frozen=True, slots=True)
class KernelShapes:
    """See the module. `target` is the launcher's instruction set."""

    config: ModelConfig
    target: str

    @property
    def heads(self) -> HeadShape:
        c = self.config
        return HeadShape(c.heads, c.head_dim, c.rope_dim, c.window)

    @property
    def attention(self) -> AttentionForm:
        return matrix_form(self.heads, self.target)

    @property
    def residual(self) -> ResidualShape:
        return ResidualShape(self.config.hidden, self.config.sinkhorn_iterations)

    def indexer(self, top_k: int) -> IndexerShape:
        return IndexerShape(self.config.index_heads, self.config.index_dim, top_k)

    def router(self, hashed: bool) -> RouterShape:
        return RouterShape(self.config.experts, self.config.experts_used, hashed)

    def raw_rows(self, rounding: KvRounding) -> RowForm:
        c = self.config
        return RowForm(c.head_dim, c.rope_dim, rounding=_row_rounding(rounding, False), half=True)

    def index_queries(self, rounding: KvRounding) -> RowForm:
        c = self.config
        return RowForm(c.index_dim, c.rope_dim, weighted=False, rounding=_row_rounding(rounding, True), half=True)

    def compressor(self, ratio: int, rounding: KvRounding, is_index: bool) -> CompressorShape:
        c = self.config
        width = c.index_dim if is_index else c.head_dim
        return CompressorShape(ratio, width, c.rope_dim, _row_rounding(rounding, is_index))


def misfit(config: ModelConfig) -> str:
    """Why the kernels cannot run a model of this shape; empty where they can."""
    c = config
    conditions = (
        (c.heads * c.head_dim % 256 == 0, f"{c.heads} heads of width {c.head_dim} are no multiple of 256 channels"),
        (c.head_dim % 64 == 0, f"head width {c.head_dim} is no multiple of 64"),
        (c.hidden % 64 == 0, f"hidden width {c.hidden} is no multiple of 64"),
        (c.expert_hidden % 32 == 0, f"expert width {c.expert_hidden} is no multiple of 32"),
        (c.q_rank % 32 == 0, f"query rank {c.q_rank} is no multiple of 32"),
        (not any(c.ratios) or c.index_dim % 32 == 0, f"indexer width {c.index_dim} is no multiple of 32"),
        (c.index_top_k <= 512, f"a selection of {c.index_top_k} rows is more than 512"),
    )
    return ", ".join(complaint for holds, complaint in conditions if not holds)


def _row_rounding(rounding: KvRounding, is_index: bool) -> Rounding:
    if rounding is KvRounding.E4M3:
        return Rounding.E2M1 if is_index else Rounding.E4M3
    return Rounding.NONE
