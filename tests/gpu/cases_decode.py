"""Benchmark cases of the decode products with quantised weights, and of unpacking them."""

from collections.abc import Iterator

import torch
from torch.nn import functional

from kernels.ops import matvec
from kernels.ops.attention import is_amd_layout
from kernels.ops.formats import WeightFormat, unpack
from kernels.ops.matvec import Tiling
from kernels.shapes import V4_FLASH
from tests.gpu.cases_weights import DENSE_FORMATS, LIMIT, expert_weights, formats, new_matrix, tame, weights_of
from tests.gpu.workbench import Case, Workbench, nmse
from tests.kernels.hip.weight_blocks import CODECS

MATVEC_AIM, UNPACK_AIM = 0.70, 0.70
OUTPUT_GROUPS = 8  # of the output projection


def decode_cases(bench: Workbench) -> Iterator[Case]:
    shape = bench.shape
    is_flash = shape is V4_FLASH
    head_rows = 129280 if is_flash else 1024
    for kind in formats(bench):
        yield vector_product(bench, kind, "query b", shape.heads * shape.head_dim, shape.q_rank)
        yield vector_product(bench, kind, "head", head_rows, shape.hidden)
        yield expert_vectors(bench, kind)
        yield expert_sums(bench, kind)
        yield unpacking(bench, kind, half=True)
        yield unpacking(bench, kind, half=False)
        if kind in DENSE_FORMATS:
            yield from small_dense_cases(bench, kind)


def tiling_cases(bench: Workbench) -> Iterator[Case]:
    """The experts with other numbers of rows a wave and chunks ahead than the ones chosen."""
    if is_amd_layout(bench.launcher.device.target):
        return
    for kind in (WeightFormat.Q8_0, WeightFormat.MXFP4, WeightFormat.ROCMFP2, WeightFormat.IQ2_XXS, WeightFormat.Q2_K):
        for rows, ahead in ((2, 2), (2, 4), (4, 1), (4, 2), (4, 3), (8, 2)):
            yield expert_vectors(bench, kind, Tiling(rows, ahead))
        for rows, ahead in ((1, 4), (2, 2), (2, 4), (4, 2)):
            yield expert_sums(bench, kind, Tiling(rows, ahead))


def _name(tiling: Tiling | None) -> str:
    return f", R {tiling.rows}, A {tiling.ahead}" if tiling else ""


def small_dense_cases(bench: Workbench, kind: WeightFormat) -> Iterator[Case]:
    """The projections beside the experts that are too small to fill a large GPU: their time is mostly latency."""
    shape = bench.shape
    group_width = shape.heads * shape.head_dim // OUTPUT_GROUPS
    yield vector_product(bench, kind, "out a", OUTPUT_GROUPS * shape.q_rank, group_width, OUTPUT_GROUPS)
    yield shared_vectors(bench, kind)
    if shape is V4_FLASH:  # elsewhere as small as the head
        yield vector_product(bench, kind, "query a, kv", shape.q_rank + shape.head_dim, shape.hidden)
        yield vector_product(bench, kind, "out b", shape.hidden, OUTPUT_GROUPS * shape.q_rank)
        yield vector_product(bench, kind, "shared down", shape.hidden, shape.expert_width)


def vector_product(bench: Workbench, kind: WeightFormat, name: str, rows: int, width: int, inputs: int = 1) -> Case:
    nbytes = rows * kind.row_bytes(width) + (rows + inputs * width) * 4
    copies = [new_matrix(bench, kind, rows, width) for _ in range(bench.sets(nbytes))]
    x, y = bench.normal(1, inputs, width), bench.empty(1, rows)

    def error() -> float:
        at = torch.tensor(bench.sample(rows, 4096), device=bench.device)
        vectors = x[0, at // (rows // inputs)].double()
        return nmse(y[0, at], (weights_of(copies[0], at) * vectors).sum(1))

    launches = [lambda matrix=matrix: matvec.multiply(bench.launcher, matrix, x, y) for matrix in copies]
    what = f"{kind.name}, {name} {rows} x {width}"
    return Case("matvec", what, 1, launches, [y], error, 1e-6, nbytes, 2 * rows * width, aim=MATVEC_AIM)


def expert_vectors(bench: Workbench, kind: WeightFormat, tiling: Tiling | None = None) -> Case:
    """Gate and up of the experts of one token; copies of the choice rotate over all experts."""
    shape, used = bench.shape, bench.shape.experts_used
    gate, up = (new_matrix(bench, kind, shape.expert_width, shape.hidden, shape.experts) for _ in range(2))
    x, inner = tame(bench.normal(1, shape.hidden), gate), bench.empty(1, used, shape.expert_width)
    choices = _choices(bench, used)

    def error() -> float:
        wanted = []
        for expert in choices[0][0].tolist():
            g, u = (expert_weights(matrix, expert) @ x[0].double() for matrix in (gate, up))
            wanted.append(functional.silu(g.clamp(max=LIMIT)) * u.clamp(-LIMIT, LIMIT))
        return nmse(inner[0], torch.stack(wanted))

    launches = [
        lambda chosen=chosen: matvec.gate_up(bench.launcher, gate, up, x, chosen, inner, LIMIT, tiling)
        for chosen in choices
    ]
    weights = used * 2 * gate.rows * gate.row_bytes
    flops = 4 * used * gate.rows * gate.width
    what = f"{kind.name}, {used} x 2 x {gate.rows} x {gate.width}{_name(tiling)}"
    nbytes = weights + inner.nbytes
    return Case("matvec_gate_up", what, 1, launches, [inner], error, 1e-6, nbytes, flops, aim=MATVEC_AIM)


def expert_sums(bench: Workbench, kind: WeightFormat, tiling: Tiling | None = None) -> Case:
    shape, used = bench.shape, bench.shape.experts_used
    matrix = new_matrix(bench, kind, shape.hidden, shape.expert_width, shape.experts)
    inner, share = bench.normal(1, used, shape.expert_width), bench.normal(1, used).abs()
    shared, out = bench.normal(1, shape.hidden), bench.empty(1, shape.hidden)
    choices = _choices(bench, used)

    def error() -> float:
        wanted = shared[0].double()
        for k, expert in enumerate(choices[0][0].tolist()):
            wanted = wanted + share[0, k].double() * (expert_weights(matrix, expert) @ inner[0, k].double())
        return nmse(out[0], wanted)

    launches = [
        lambda chosen=chosen: matvec.down(bench.launcher, matrix, inner, chosen, share, shared, out, tiling)
        for chosen in choices
    ]
    nbytes, flops = used * matrix.rows * matrix.row_bytes + inner.nbytes, 2 * used * matrix.rows * matrix.width
    what = f"{kind.name}, {used} x {matrix.rows} x {matrix.width}{_name(tiling)}"
    return Case("matvec_down", what, 1, launches, [out], error, 1e-6, nbytes, flops, aim=MATVEC_AIM)


def shared_vectors(bench: Workbench, kind: WeightFormat) -> Case:
    """Gate and up of the shared expert."""
    shape = bench.shape
    rows, width = shape.expert_width, shape.hidden
    nbytes = 2 * rows * kind.row_bytes(width) + (rows + width) * 4
    copies = [[new_matrix(bench, kind, rows, width) for _ in range(2)] for _ in range(bench.sets(nbytes))]
    x, inner = tame(bench.normal(1, width), copies[0][0]), bench.empty(1, 1, rows)
    only = torch.zeros(1, 1, dtype=torch.int32, device=bench.device)

    def error() -> float:
        g, u = (expert_weights(matrix, 0) @ x[0].double() for matrix in copies[0])
        return nmse(inner[0, 0], functional.silu(g.clamp(max=LIMIT)) * u.clamp(-LIMIT, LIMIT))

    launches = [
        lambda pair=pair: matvec.gate_up(bench.launcher, *pair, x, only, inner, LIMIT)  # type: ignore[misc]
        for pair in copies
    ]
    what = f"{kind.name}, shared 2 x {rows} x {width}"
    flops = 4 * rows * width
    return Case("matvec_gate_up", what, 1, launches, [inner], error, 1e-6, nbytes, flops, aim=MATVEC_AIM)


def unpacking(bench: Workbench, kind: WeightFormat, half: bool) -> Case:
    """The query matrix to F16 for a library's product, or to float32."""
    rows, width = bench.shape.heads * bench.shape.head_dim, bench.shape.q_rank
    count = rows * width // kind.value.block
    out = bench.empty(count, kind.value.block, dtype=torch.float16 if half else torch.float32)
    nbytes = count * kind.value.bytes + out.nbytes
    copies = [new_matrix(bench, kind, rows, width).blocks.view(count, -1) for _ in range(bench.sets(nbytes))]

    def error() -> float:
        wanted = CODECS[kind].decode(copies[0])
        return nmse(out, wanted.half() if half else wanted)

    launches = [lambda blocks=blocks: unpack(bench.launcher, kind, blocks, out) for blocks in copies]
    what = f"{kind.name} to {'F16' if half else 'F32'}, {rows} x {width}"
    aim = UNPACK_AIM if half else None
    # The codecs decode in another order of roundings, so that a few halves fall to the other side of a tie.
    return Case("unpack", what, 1, launches, [out], error, 1e-8 if half else 1e-12, nbytes, 0, aim=aim)


def _choices(bench: Workbench, used: int) -> list[torch.Tensor]:
    """Disjoint sets of experts, so that a rotation over them meets no weight twice before all were read."""
    order = torch.randperm(bench.shape.experts, generator=bench.random, device=bench.device).int()
    count = bench.shape.experts // used if bench.rotates else 1
    return [order[i * used : (i + 1) * used].view(1, used).contiguous() for i in range(count)]
