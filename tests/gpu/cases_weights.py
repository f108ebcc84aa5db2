"""Benchmark cases of the prefill products with quantised weights, grouped and dense; the matrices of all products."""

from collections.abc import Iterator

import torch
from torch.nn import functional

from kernels.ops import products
from kernels.ops.formats import WeightFormat
from kernels.ops.matvec import Matrix
from kernels.ops.products import WorkList
from tests.gpu.workbench import Case, Workbench, nmse
from tests.kernels.hip.weight_blocks import CODECS, random_blocks

LIMIT = 10.0
GROUPED_AIM = 0.35
GROUPED_AIM_TOKENS = 9133
_SAMPLED = 32
# Formats measured at every size; the others at one size only.
MAIN_FORMATS = (WeightFormat.MXFP4, WeightFormat.Q2_K)
DENSE_FORMATS = (WeightFormat.Q8_0, WeightFormat.ROCMFP4_FAST)


def formats(bench: Workbench) -> tuple[WeightFormat, ...]:
    """The formats that the shape's widths divide into whole blocks and rows of whole words."""
    widths = (bench.shape.hidden, bench.shape.expert_width, bench.shape.q_rank)
    fits = []
    for kind in WeightFormat:
        if all(width % kind.value.block == 0 and kind.row_bytes(width) % 4 == 0 for width in widths):
            fits.append(kind)
    return tuple(fits)


def new_matrix(bench: Workbench, kind: WeightFormat, rows: int, width: int, experts: int = 1) -> Matrix:
    blocks = random_blocks(bench.random, kind, experts * rows * width // kind.value.block)
    return Matrix(kind, blocks.view(experts * rows, -1), rows, width, experts)


def weights_of(matrix: Matrix, rows: torch.Tensor) -> torch.Tensor:
    """Float64 weights of some rows of the whole [experts * rows] list."""
    blocks = matrix.blocks[rows].view(-1, matrix.kind.value.bytes)
    return CODECS[matrix.kind].decode(blocks).double().view(len(rows), matrix.width)


def expert_weights(matrix: Matrix, expert: int) -> torch.Tensor:
    rows = torch.arange(expert * matrix.rows, (expert + 1) * matrix.rows, device=matrix.blocks.device)
    return weights_of(matrix, rows)


def tame(x: torch.Tensor, matrix: Matrix) -> torch.Tensor:
    """Activations whose products with the matrix are about 5: some meet the clamp at 10, most do not."""
    size = expert_weights(matrix, 0).square().mean().sqrt() * matrix.width**0.5
    return x * (5 / float(size))


def grouped_cases(bench: Workbench, tokens: int, kinds: tuple[WeightFormat, ...]) -> Iterator[Case]:
    shape, used = bench.shape, bench.shape.experts_used
    lottery = torch.rand(tokens, shape.experts, generator=bench.random, device=bench.device)
    chosen = lottery.topk(used, dim=1).indices.int()
    lists = WorkList.empty(tokens, used, shape.experts, bench.device)
    products.build_lists(bench.launcher, chosen, lists)  # the products need them, whether or not `listing` is chosen
    yield listing(bench, tokens, chosen, lists)
    for kind in kinds:
        yield gate_and_up(bench, kind, tokens, chosen, lists)
        yield down(bench, kind, tokens, chosen, lists)
    yield combining(bench, tokens, lists)


def listing(bench: Workbench, tokens: int, chosen: torch.Tensor, lists: WorkList) -> Case:
    def launch() -> None:
        products.build_lists(bench.launcher, chosen, lists)

    def error() -> float:
        flat = chosen.flatten().long()
        order = flat.argsort(stable=True)
        tiles = int(((torch.bincount(flat, minlength=bench.shape.experts) + 127) // 128).sum())
        return float((lists.order.long() != order).sum()) + abs(int(lists.tile_count) - tiles)

    # Tiles beyond the count are not written.
    outputs = [lists.order, lists.place, lists.counts, lists.tile_count]
    return Case("expert_lists", "", tokens, [launch], outputs, error, 0.0, chosen.nbytes * 3, 0)


def gate_and_up(bench: Workbench, kind: WeightFormat, tokens: int, chosen: torch.Tensor, lists: WorkList) -> Case:
    shape, used = bench.shape, bench.shape.experts_used
    gate, up = (new_matrix(bench, kind, shape.expert_width, shape.hidden, shape.experts) for _ in range(2))
    x = tame(bench.normal(tokens, shape.hidden), gate).half()
    inner = bench.empty(tokens * used, gate.rows, dtype=torch.float16)

    def launch() -> None:
        products.gate_up(bench.launcher, gate, up, x, lists, inner, LIMIT)

    def error() -> float:
        errors = []
        for expert, pairs in _sampled_pairs(bench, chosen):
            g, u = (x[pairs // used].double() @ expert_weights(matrix, expert).T for matrix in (gate, up))
            wanted = functional.silu(g.clamp(max=LIMIT)) * u.clamp(-LIMIT, LIMIT)
            errors.append(nmse(inner[lists.place[pairs].long()], wanted))
        return max(errors)

    nbytes = 2 * gate.blocks.nbytes + x.nbytes + inner.nbytes
    flops = 4 * tokens * used * gate.rows * gate.width
    aim = GROUPED_AIM if tokens == GROUPED_AIM_TOKENS else None
    what = f"{kind.name}"
    return Case("product_gate_up", what, tokens, [launch], [inner], error, 1e-6, nbytes, flops, aim=aim)


def down(bench: Workbench, kind: WeightFormat, tokens: int, chosen: torch.Tensor, lists: WorkList) -> Case:
    shape, used = bench.shape, bench.shape.experts_used
    matrix = new_matrix(bench, kind, shape.hidden, shape.expert_width, shape.experts)
    inner = bench.normal(tokens * used, shape.expert_width).half()
    outputs = bench.empty(tokens * used, shape.hidden)

    def launch() -> None:
        products.down(bench.launcher, matrix, inner, lists, outputs)

    def error() -> float:
        errors = []
        for expert, pairs in _sampled_pairs(bench, chosen):
            rows = lists.place[pairs].long()
            errors.append(nmse(outputs[rows], inner[rows].double() @ expert_weights(matrix, expert).T))
        return max(errors)

    nbytes, flops = matrix.blocks.nbytes + inner.nbytes + outputs.nbytes, 2 * outputs.numel() * matrix.width
    aim = GROUPED_AIM if tokens == GROUPED_AIM_TOKENS else None
    return Case("product_down", kind.name, tokens, [launch], [outputs], error, 1e-6, nbytes, flops, aim=aim)


def _sampled_pairs(bench: Workbench, chosen: torch.Tensor) -> Iterator[tuple[int, torch.Tensor]]:
    """A few experts with some of their pairs: the first, the last, the busiest."""
    flat = chosen.flatten()
    busiest = int(torch.bincount(flat.long(), minlength=bench.shape.experts).argmax())
    for expert in sorted({int(flat[0]), int(flat[-1]), busiest}):
        pairs = (flat == expert).nonzero()[:, 0]
        yield expert, pairs[torch.tensor(bench.sample(len(pairs), _SAMPLED), device=pairs.device)]


def combining(bench: Workbench, tokens: int, lists: WorkList) -> Case:
    shape, used = bench.shape, bench.shape.experts_used
    outputs, share = bench.normal(tokens * used, shape.hidden), bench.normal(tokens, used)
    shared, out = bench.normal(tokens, shape.hidden), bench.empty(tokens, shape.hidden)

    def launch() -> None:
        products.combine(bench.launcher, outputs, lists, share, shared, out)

    def error() -> float:
        at = torch.tensor(bench.sample(tokens, _SAMPLED), device=bench.device)
        rows = outputs[lists.place.view(tokens, used)[at].long()].double()
        return nmse(out[at], shared[at].double() + torch.einsum("tk,tkd->td", share[at].double(), rows))

    nbytes = outputs.nbytes + shared.nbytes + out.nbytes
    return Case("experts_combine", "", tokens, [launch], [out], error, 1e-10, nbytes, 0)


def dense_cases(bench: Workbench, tokens: int) -> Iterator[Case]:
    shape = bench.shape
    fitting = formats(bench)
    for kind in (kind for kind in DENSE_FORMATS if kind in fitting):
        yield dense(bench, kind, tokens, "query b", shape.heads * shape.head_dim, shape.q_rank)
    yield dense(bench, WeightFormat.Q8_0, tokens, "shared gate", shape.expert_width, shape.hidden)


def dense(bench: Workbench, kind: WeightFormat, tokens: int, name: str, rows: int, width: int) -> Case:
    matrix = new_matrix(bench, kind, rows, width)
    x, y = bench.normal(tokens, width).half(), bench.empty(tokens, rows)

    def launch() -> None:
        products.multiply(bench.launcher, matrix, x, y)

    def error() -> float:
        at = bench.sample(tokens, _SAMPLED)
        every = torch.arange(rows, device=bench.device)
        return nmse(y[at], x[at].double() @ weights_of(matrix, every).T)

    nbytes, flops = matrix.blocks.nbytes + x.nbytes + y.nbytes, 2 * tokens * rows * width
    what = f"{kind.name}, {name} {rows} x {width}"
    return Case("product", what, tokens, [launch], [y], error, 1e-6, nbytes, flops)
