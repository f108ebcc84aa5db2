"""The kernels' shapes of one model: which form of each kernel the GPU backend and its decode program launch.

Integers only, derived once from the configuration.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.config import ModelConfig
from engine.layers.rounding import KvRounding
from kernels.ops.attention import AttentionForm, HeadShape, matrix_form
from kernels.ops.compressor import CompressorShape
from kernels.ops.formats import WeightFormat
from kernels.ops.indexer import IndexerShape
from kernels.ops.matvec import down_source
from kernels.ops.residual import ResidualShape
from kernels.ops.routing import RouterShape
from kernels.ops.rows import Rounding, RowForm

_TARGET, _LDS_BYTES = "gfx1151", 65536  # of a workgroup


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
    """Why the kernels cannot run a model of this shape; empty where they can. What depends on the formats of its
    matrices is found when its kernels are built.
    """
    conditions = (*_widths(config), *_counts(config), *_local_memory(config))
    return ", ".join(complaint for holds, complaint in conditions if not holds)


def _widths(c: ModelConfig) -> Iterator[tuple[bool, str]]:
    yield c.heads * c.head_dim % 256 == 0, f"{c.heads} heads of width {c.head_dim} are no multiple of 256 channels"
    yield c.head_dim % 64 == 0, f"head width {c.head_dim} is no multiple of 64"
    yield c.head_dim <= 256 or c.head_dim == 512, f"head width {c.head_dim} is more than 256 and not 512"
    yield c.hidden % 64 == 0, f"hidden width {c.hidden} is no multiple of 64"
    yield c.expert_hidden % 32 == 0, f"expert width {c.expert_hidden} is no multiple of 32"
    yield c.q_rank % 32 == 0, f"query rank {c.q_rank} is no multiple of 32"
    yield c.out_rank % 32 == 0, f"output rank {c.out_rank} is no multiple of 32"
    if any(c.ratios):
        is_width = c.index_dim % 32 == 0 and c.index_dim <= 128
        yield is_width, f"indexer width {c.index_dim} is no multiple of 32 up to 128"


def _counts(c: ModelConfig) -> Iterator[tuple[bool, str]]:
    yield c.index_top_k <= 512, f"a selection of {c.index_top_k} rows is more than 512"
    yield c.experts <= 256, f"{c.experts} experts are more than 256"
    yield c.experts_used <= 32, f"{c.experts_used} experts a token are more than 32"
    if any(c.ratios):
        yield c.index_heads <= 4 or c.index_heads % 4 == 0, f"{c.index_heads} indexer heads are no multiple of 4"


def _local_memory(c: ModelConfig) -> Iterator[tuple[bool, str]]:
    """Whether a workgroup's part of a row, a token or a list fits into its LDS."""
    yield ResidualShape(c.hidden).lds_bytes <= _LDS_BYTES, f"hidden width {c.hidden} needs more LDS than there is"
    formats = [kind for kind in WeightFormat if c.expert_hidden % kind.value.block == 0]
    down = [down_source(kind, c.expert_hidden, c.experts_used, _TARGET).pool_bytes for kind in formats]
    fits = min(down, default=0) <= _LDS_BYTES
    yield fits, f"{c.experts_used} experts a token of width {c.expert_hidden} need more LDS than there is"
    if any(c.ratios):
        fits = IndexerShape(c.index_heads, c.index_dim, c.index_top_k).lds_bytes <= _LDS_BYTES
        yield fits, f"{c.index_heads} indexer heads of width {c.index_dim} need more LDS than there is"


def _row_rounding(rounding: KvRounding, is_index: bool) -> Rounding:
    if rounding is KvRounding.E4M3:
        return Rounding.E2M1 if is_index else Rounding.E4M3
    return Rounding.NONE
