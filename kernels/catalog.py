"""Every kernel at every shape we ship, with its register budget and the instructions it must contain on gfx11.

`haloband kernels`, the compile tests and docs/kernels.md walk this list; tests/gpu/run_all.py walks its V4-Flash half.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from kernels.ops.attention_forms import HeadShape, matrix_form, scalar_form, split_form
from kernels.ops.compressor import CompressorShape
from kernels.ops.formats import WeightFormat
from kernels.ops.indexer import IndexerShape
from kernels.ops.matvec import down_source, gate_up_source, matvec_source
from kernels.ops.products import combine_source, counts_source, lists_source, product_source
from kernels.ops.residual import COLLAPSE_OUTPUTS, TOKENS_A_GROUP, ResidualShape
from kernels.ops.routing import RouterShape
from kernels.ops.rows import Rounding, RowForm
from kernels.shapes import EMBEDDED, V4_FLASH, ModelShape
from kernels.source import KernelSource


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel at one shape. `most_vgprs` and `most_lds_bytes` are budgets, `expects` prefixes of instructions."""

    shape: ModelShape
    source: KernelSource
    most_vgprs: int
    most_lds_bytes: int = 65536
    expects: tuple[str, ...] = ()


def catalogue(target: str) -> tuple[Entry, ...]:
    """All entries for a target (gfx1151, sm_90), V4-Flash first. The budgets are those of gfx11."""
    return tuple(entry for shape in (V4_FLASH, EMBEDDED) for entry in _entries(shape, target))


def _entries(shape: ModelShape, target: str) -> Iterator[Entry]:
    yield from _residual(shape)
    yield from _rows(shape)
    yield from _attention(shape, target)
    yield from _indexer(shape)
    yield from _routing(shape)
    yield from _matvec(shape, target)
    yield from _products(shape, target)
    if shape is V4_FLASH:  # the kernel does not depend on the shape
        yield from _unpacking(shape)


def _residual(shape: ModelShape) -> Iterator[Entry]:
    residual = ResidualShape(shape.hidden)
    wide = ("global_load_b128", "ds_load_b128")
    for expands in (False, True):
        for tokens in (1, TOKENS_A_GROUP):
            yield Entry(shape, residual.project_source(tokens=tokens, expands=expands), 192, 32768, wide)
    yield Entry(shape, residual.finish_source(), 128)
    yield Entry(shape, residual.expand_source(), 64, 0, ("global_load_b128",))
    for tokens in (1, TOKENS_A_GROUP):
        yield Entry(shape, residual.project_source(COLLAPSE_OUTPUTS, tokens), 128, 32768, wide)
    yield Entry(shape, residual.finish_source(COLLAPSE_OUTPUTS), 128)


def _rows(shape: ModelShape) -> Iterator[Entry]:
    cache = Rounding.E4M3 if shape.trained_low_precision else Rounding.NONE
    index = Rounding.E2M1 if shape.trained_low_precision else Rounding.NONE
    yield Entry(shape, RowForm(shape.q_rank).source(), 96, 0)
    yield Entry(shape, RowForm(shape.head_dim, shape.rotary, rounding=cache, half=True).source(), 96, 0)
    queries = RowForm(shape.index_dim, shape.rotary, weighted=False, rounding=index, half=True)
    yield Entry(shape, queries.source(), 48, 0)
    for compressor in (
        CompressorShape(4, shape.head_dim, shape.rotary, cache),
        CompressorShape(128, shape.head_dim, shape.rotary, cache),
        CompressorShape(4, shape.index_dim, shape.rotary, index),
    ):
        yield Entry(shape, compressor.rows_source(), 96, 2048)
        yield Entry(shape, compressor.state_source(), 32, 0)


def _attention(shape: ModelShape, target: str) -> Iterator[Entry]:
    heads = HeadShape(shape.heads, shape.head_dim, shape.rotary)
    mixed = ("global_load_b128", "v_fma_mix", "v_permlanex16")
    yield Entry(shape, scalar_form(heads).source, 96, 32768, mixed)
    matrix = ("v_wmma_f32_16x16x16_f16", "ds_load_b128", "global_load_b128")
    for queries in (1, 2):
        yield Entry(shape, matrix_form(heads, target, queries).source, 192, 65536, matrix)
    split = split_form(heads, target)
    yield Entry(shape, split.source, 160, 65536, matrix)
    yield Entry(shape, split.combine, 160, 0)


def _indexer(shape: ModelShape) -> Iterator[Entry]:
    indexer = IndexerShape(shape.index_heads, shape.index_dim, shape.index_top_k)
    matrix = ("v_wmma_f32_16x16x16_f16", "ds_load_b128", "global_load_b128")
    yield Entry(shape, indexer.scores_source(), 240, 40960, matrix)
    yield Entry(shape, indexer.single_scores_source(), 160, 40960, matrix)
    for few in (True, False):
        yield Entry(shape, indexer.select_source(few), 48, 2048)
    yield Entry(shape, indexer.order_source(), 48, 16384)


def _routing(shape: ModelShape) -> Iterator[Entry]:
    for hashed in (False, True):
        yield Entry(shape, RouterShape(shape.experts, shape.experts_used, hashed).source(), 48, 0 if hashed else 16384)


def _formats(shape: ModelShape) -> tuple[WeightFormat, ...]:
    """The formats of files of this shape."""
    return tuple(WeightFormat) if shape is V4_FLASH else (WeightFormat.F16, WeightFormat.Q8_0, WeightFormat.MXFP4)


def _matvec(shape: ModelShape, target: str) -> Iterator[Entry]:
    for kind in _formats(shape):
        dot = "v_dot2" if kind is WeightFormat.F16 else "v_dot4_i32_iu8"
        dots = (dot, "global_load_b128", "ds_store_b128", "ds_load_b128")
        yield Entry(shape, matvec_source(kind, shape.hidden, target), 160, 65536, dots)
        yield Entry(shape, gate_up_source(kind, shape.hidden, target), 160, 65536, dots)
        yield Entry(shape, down_source(kind, shape.expert_width, shape.experts_used, target), 160, 65536, dots)


def _unpacking(shape: ModelShape) -> Iterator[Entry]:
    wide = ("global_load_b128", "ds_store_b128", "ds_load_b128")
    for kind in _formats(shape):
        for half in (True, False):
            yield Entry(shape, kind.unpack_source(half), 128, 49152, wide)


def _products(shape: ModelShape, target: str) -> Iterator[Entry]:
    yield Entry(shape, counts_source(), 32, 256)
    yield Entry(shape, lists_source(), 48, 256)
    yield Entry(shape, combine_source(shape.experts_used), 64, 0, ("global_load_b128",))
    matrix = ("v_wmma_f32_16x16x16_f16", "ds_load_b128", "ds_store_b128", "global_load_b128")
    for kind in _formats(shape):
        yield Entry(shape, product_source("product", kind, shape.hidden, target), 224, 65536, matrix)
        yield Entry(shape, product_source("product_gate_up", kind, shape.hidden, target), 224, 65536, matrix)
        yield Entry(shape, product_source("product_down", kind, shape.expert_width, target), 224, 65536, matrix)
