"""Native attention against a float64 loop over explicit rows, and its bits under every way of cutting the work."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
import torch

from kernels.cpu import AttentionSpan, NativeCpu
from tests.kernels.cpu import reference

EPS = 1e-6


@dataclass(frozen=True)
class Case:
    """Random inputs of one call. `keyword` holds what attend takes by name."""

    q: torch.Tensor
    raw: torch.Tensor
    compressed: torch.Tensor | None
    span: AttentionSpan
    keyword: dict[str, Any]

    def slice(self, first: int, last: int) -> "Case":
        """The call for tokens [first, last) alone, as a step cut there would make it."""
        span = replace(self.span, start=self.span.start + first, prior=self.span.prior + first)
        per_token = {"cosine", "sine", "ids", "counts"}
        keyword = {k: v[first:last].contiguous() if k in per_token else v for k, v in self.keyword.items()}
        return Case(self.q[first:last], self.raw[: self.span.prior + last], self.compressed, span, keyword)

    def run(self, native: NativeCpu, **more: Any) -> torch.Tensor:
        return native.attend(self.q, self.raw, self.compressed, self.span, **self.keyword, **more)

    def expected(self) -> torch.Tensor:
        return reference.attend(self.q, self.raw, self.compressed, self.span, **self.keyword)


def make_case(
    tokens: int,
    start: int,
    ratio: int,
    *,
    heads: int = 16,
    width: int = 64,
    pairs: int = 8,
    window: int = 128,
    top: int | None = None,
    rows: torch.dtype = torch.float16,
    queries: torch.dtype = torch.float32,
    seed: int = 0,
) -> Case:
    g = torch.Generator().manual_seed(seed)
    span = AttentionSpan(start, min(start, window), window, ratio)
    count = (start + tokens) // ratio if ratio else 0
    angle = torch.rand(tokens, pairs, generator=g) * 6.3
    keyword: dict[str, Any] = {
        "cosine": angle.cos(), "sine": angle.sin(), "sinks": torch.randn(heads, generator=g), "eps": EPS,
    }  # fmt: skip
    if top is not None:
        keyword["ids"] = torch.full((tokens, top), -1, dtype=torch.int32)
        keyword["counts"] = torch.empty(tokens, dtype=torch.int32)
        for t in range(tokens):
            visible = reference.visible_rows(t, span, count)
            chosen = torch.randperm(visible, generator=g)[:top].sort().values.int()
            keyword["ids"][t, : len(chosen)], keyword["counts"][t] = chosen, len(chosen)
    return Case(
        torch.randn(tokens, heads, width, generator=g).to(queries),
        torch.randn(span.prior + tokens, width, generator=g).to(rows),
        torch.randn(count, width, generator=g).to(rows) if ratio else None,
        span,
        keyword,
    )


SHAPES = {
    "first token": make_case(1, 0, 4),
    "no compressed rows": make_case(37, 0, 0),
    "no compressed rows, late": make_case(37, 1000, 0),
    "ratio 4 from zero": make_case(45, 0, 4),
    "ratio 4 inside a window": make_case(33, 130, 4),
    "ratio 128 at a boundary": make_case(131, 250, 128),
    "selected rows": make_case(21, 900, 4, top=19),
    "selection larger than the history": make_case(21, 30, 4, top=64),
    "four heads": make_case(19, 200, 4, heads=4),
    "seventeen heads": make_case(9, 200, 4, heads=17),
    "wide head": make_case(7, 300, 4, heads=3, width=512, pairs=32, top=65),
    "narrow head without rotation": make_case(7, 70, 4, heads=2, width=16, pairs=0),
    "fully rotated": make_case(7, 70, 4, heads=2, width=32, pairs=16),
    "window of eight": make_case(50, 11, 8, window=8),
    "window of one": make_case(5, 3, 2, window=1),
    "float32 rows": make_case(33, 500, 4, rows=torch.float32),
    "float32 selected rows": make_case(33, 500, 4, rows=torch.float32, top=31),
    "bfloat16 queries": make_case(33, 500, 4, queries=torch.bfloat16),
    "more rows than fit in cache": make_case(3, 40000, 2, heads=2, width=64),
    "more selected rows than fit in cache": make_case(2, 20000, 2, heads=1, width=512, top=3000),
}


@pytest.mark.parametrize("name", SHAPES)
def test_equals_a_loop_over_explicit_rows(native: NativeCpu, name: str) -> None:
    got = SHAPES[name].run(native)
    expected = SHAPES[name].expected()
    assert (got.double() - expected).abs().max() <= 4e-6 * max(1.0, float(expected.abs().max()))


@pytest.mark.parametrize("name", SHAPES)
def test_bfloat16_output_is_the_rounded_float32_output(native: NativeCpu, name: str) -> None:
    case = SHAPES[name]
    assert reference.same_bits(case.run(native, out_dtype=torch.bfloat16), case.run(native).bfloat16())


@pytest.mark.parametrize("name", SHAPES)
def test_one_and_two_threads_give_the_same_bits(native: NativeCpu, native_alone: NativeCpu, name: str) -> None:
    assert reference.same_bits(SHAPES[name].run(native), SHAPES[name].run(native_alone))


@pytest.mark.parametrize(("ratio", "top"), [(0, None), (4, None), (128, None), (4, 24)])
@pytest.mark.parametrize("cuts", [(27,), (1, 2, 3, 24, 25), (16, 32), tuple(range(1, 45))], ids=len)
def test_any_split_gives_the_same_bits(native: NativeCpu, cuts: tuple[int, ...], ratio: int, top: int | None) -> None:
    case = make_case(45, 222, ratio, top=top)
    edges = [0, *cuts, 45]
    pieces = [case.slice(a, b).run(native) for a, b in pairwise(edges)]
    assert reference.same_bits(torch.cat(pieces), case.run(native))


def test_fifty_replays_give_the_same_bits(native: NativeCpu) -> None:
    case = make_case(70, 400, 4, top=40)
    first = case.run(native)
    assert all(reference.same_bits(case.run(native), first) for _ in range(50))


def test_listing_every_visible_row_equals_the_analytic_bounds_bit_for_bit(native: NativeCpu) -> None:
    listed = make_case(60, 333, 4, top=200)
    plain = replace(listed, keyword={k: v for k, v in listed.keyword.items() if k not in {"ids", "counts"}})
    assert reference.same_bits(listed.run(native), plain.run(native))


def test_ids_outside_the_visible_rows_are_dropped_and_the_rest_sorted(native: NativeCpu) -> None:
    case = make_case(4, 399, 4, top=8)
    tidy = torch.tensor([[3, 7, 50, 99, -1, -1, -1, -1]] * 4, dtype=torch.int32)
    wild = torch.tensor([[99, -5, 7, 2**31 - 1, 3, 101, 50, -(2**31)]] * 4, dtype=torch.int32)
    expected = replace(case, keyword=case.keyword | {"ids": tidy, "counts": torch.full((4,), 4, dtype=torch.int32)})
    got = replace(case, keyword=case.keyword | {"ids": wild, "counts": torch.full((4,), 2**30, dtype=torch.int32)})
    assert reference.same_bits(got.run(native), expected.run(native))


def test_writes_exactly_its_output(native: NativeCpu) -> None:
    case = make_case(21, 100, 4, heads=5)
    around = torch.full((23, 5 * 64), 7.25)
    result = case.run(native, out=around[1:-1])
    assert result.data_ptr() == around[1:].data_ptr()
    assert bool((around[0] == 7.25).all()) and bool((around[-1] == 7.25).all())
    assert reference.same_bits(result, case.run(native))


def test_a_dominant_sink_takes_the_weight_and_extreme_scores_stay_finite(native: NativeCpu) -> None:
    case = make_case(6, 300, 4)
    heavy = replace(case, keyword=case.keyword | {"sinks": torch.full((16,), 3e38)})
    assert bool((heavy.run(native) == 0).all())
    loud = replace(case, raw=case.raw * 2000, compressed=None if case.compressed is None else case.compressed * 2000)
    assert bool(loud.run(native).isfinite().all())


def test_two_python_threads_may_call_at_once(native: NativeCpu) -> None:
    from concurrent.futures import ThreadPoolExecutor

    cases = [make_case(40, 100 + i, 4, seed=i) for i in range(4)]
    expected = [case.run(native) for case in cases]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(10):
            for got, want in zip(pool.map(lambda case: case.run(native), cases), expected, strict=True):
                assert reference.same_bits(got, want)


GOOD = make_case(8, 100, 4, top=5)
REFUSED = {
    "q has type": {"q": GOOD.q.double()},
    "q has shape": {"q": GOOD.q[0]},
    "q is not contiguous": {"q": GOOD.q.transpose(0, 1).contiguous().transpose(0, 1)},
    "multiple of 16": {"q": torch.zeros(8, 16, 40)},
    "raw has shape": {"raw": GOOD.raw[1:]},
    "raw has type": {"raw": GOOD.raw.bfloat16()},
    "compressed has type": {"compressed": torch.zeros(27, 64)},
    "cosine has shape": {"cosine": torch.zeros(7, 8)},
    "sine has shape": {"sine": torch.zeros(8, 9)},
    "rotary pairs": {"cosine": torch.zeros(8, 33), "sine": torch.zeros(8, 33)},
    "sinks has shape": {"sinks": torch.zeros(15)},
    "needs its compressed rows": {"compressed": None},
    "come together": {"counts": None},
    "ids has type": {"ids": torch.zeros(8, 5, dtype=torch.int64)},
    "counts has shape": {"counts": torch.zeros(9, dtype=torch.int32)},
    "cannot write": {"out_dtype": torch.float16},
    "out has shape": {"out": torch.zeros(8, 3)},
    "out has type": {"out": torch.zeros(8, 1024, dtype=torch.bfloat16)},
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_tensor_that_does_not_fit_is_refused_by_name(native: NativeCpu, message: str) -> None:
    given = {"q": GOOD.q, "raw": GOOD.raw, "compressed": GOOD.compressed, "span": GOOD.span, **GOOD.keyword}
    with pytest.raises(ValueError, match=message):
        native.attend(**(given | REFUSED[message]))


@pytest.mark.parametrize("change", [{"start": -1}, {"prior": -1}, {"window": 0}, {"ratio": -4}])
def test_an_impossible_span_is_refused(change: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="no such span"):
        replace(GOOD.span, **change)
