"""Step buffers: the table of banded prefill 5.2, and how slicing and types change it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cache_shape import CacheShape
from engine.plan import BAND_TOKENS, Step, cut_prompt
from engine.step_buffers import Buffer, BufferStyle, Phase, largest_step_bytes, peak_bytes, step_buffers

V4 = CacheShape.v4_flash()
REFERENCE = BufferStyle()


def sizes(step: Step, style: BufferStyle = REFERENCE, shape: CacheShape = V4) -> dict[str, int]:
    return {buffer.name: buffer.bytes for buffer in step_buffers(shape, step, style)}


@pytest.mark.parametrize(
    ("name", "at_9133", "at_10240"),
    [
        ("residual streams", "1197", "1342"),
        ("queries", "1197", "1342"),
        ("expert gate and up", "898", "1007"),
        ("expert outputs", "898", "1007"),
        ("indexer scores", "65", "84"),
        ("row space", "11.7", "13.1"),
    ],
)
def test_the_reference_table(name: str, at_9133: str, at_10240: str) -> None:
    """Section 5.2 in megabytes, as printed."""
    for tokens, printed in ((9133, at_9133), (10_240, at_10240)):
        decimals = len(printed.partition(".")[2])
        assert f"{sizes(Step(0, tokens))[name] / 1e6:.{decimals}f}" == printed


def test_ids_exist_only_for_scored_tokens() -> None:
    """5.2 counts N x 512 ids; that is the case past the threshold. From 0, the first 2,051 tokens select nothing."""
    assert sizes(Step(20_000, 9133))["selected ids and counts"] == 9133 * (512 + 1) * 4
    assert sizes(Step(0, 9133))["selected ids and counts"] == (9133 - 2051) * (512 + 1) * 4
    assert not {"indexer queries", "indexer scores", "selected ids and counts"} & set(sizes(Step(0, 2051)))


@pytest.mark.parametrize("start", [0, 10_240])
def test_a_tiled_step_holds_nothing_of_the_size_of_a_mask(start: int) -> None:
    """Doubling the step may at most double a buffer beyond its fixed part; a mask would grow fourfold."""
    tiled = replace(REFERENCE, attention_tokens=BAND_TOKENS, expert_tokens=BAND_TOKENS, score_tokens=64)
    short, long = sizes(Step(start, 5120), tiled), sizes(Step(start, 10_240), tiled)
    assert {name for name in long if long[name] > 2.7 * short[name]} == set()
    mask = {tokens: 4 * tokens * (tokens + tokens // 4) for tokens in (5120, 10_240)}
    assert mask[10_240] > 2.7 * mask[5120], "the bound would catch a mask"


def test_slicing_bounds_what_exists_at_once() -> None:
    step = Step(0, 9133)
    sliced = replace(REFERENCE, attention_tokens=BAND_TOKENS, expert_tokens=1024, score_tokens=64)
    whole, parts = sizes(step), sizes(step, sliced)
    assert parts["queries"] == 2048 * 64 * 512 * 4
    assert parts["expert gate and up"] == 1024 * 6 * 2 * 2048 * 4
    assert parts["indexer scores"] == 64 * 2283 * 4
    assert {name for name in whole if parts[name] != whole[name]} == {"queries", "expert gate and up", "indexer scores"}


def test_a_slice_wider_than_the_step_is_the_whole_step() -> None:
    step = Step(0, 1000)
    wide = replace(REFERENCE, attention_tokens=BAND_TOKENS, expert_tokens=BAND_TOKENS, score_tokens=BAND_TOKENS)
    assert step_buffers(V4, step, wide) == step_buffers(V4, step, REFERENCE)


def test_half_width_activations_halve_them() -> None:
    step = Step(0, 9133)
    whole, half = sizes(step), sizes(step, replace(REFERENCE, activation_bytes=2))
    assert {name: whole[name] / half[name] for name in whole if whole[name] != half[name]} == {
        "queries": 2,
        "expert gate and up": 2,
    }


def test_optional_buffers() -> None:
    step = Step(0, 500)
    assert "attention output" not in sizes(step)
    assert sizes(step, replace(REFERENCE, output_in_place=False))["attention output"] == sizes(step)["queries"]
    assert "expert outputs" not in sizes(step, replace(REFERENCE, keeps_expert_outputs=False))
    assert (
        sizes(step, replace(REFERENCE, stream_copies=3))["residual streams"] * 2 == sizes(step)["residual streams"] * 3
    )


def test_a_step_keeps_the_way_back() -> None:
    """3.4: a copy of ring and rolling state, 5.4 MiB + 11.7 MiB, so that a stop inside the step can be undone."""
    assert sizes(Step(0, 5))["way back to the step's start"] == 43 * 131_072 + 21 * 81_920 + 20 * 524_288


def test_compressor_inputs_are_those_of_the_widest_layer() -> None:
    assert sizes(Step(0, 100))["compressor inputs"] == 100 * 2 * 2 * (512 + 128) * 4
    only_128 = replace(V4, ratios=(0, 128))
    assert sizes(Step(0, 100), shape=only_128)["compressor inputs"] == 100 * 2 * 512 * 4
    assert "compressor inputs" not in sizes(Step(0, 100), shape=replace(V4, ratios=(0, 0)))


def test_the_peak_counts_one_sublayer_at_a_time() -> None:
    buffers = [
        Buffer("a", Phase.STEP, 100),
        Buffer("b", Phase.ATTENTION, 30),
        Buffer("c", Phase.ATTENTION, 5),
        Buffer("d", Phase.EXPERTS, 20),
    ]
    assert peak_bytes(buffers) == 135
    assert peak_bytes([*buffers, Buffer("e", Phase.EXPERTS, 40)]) == 160
    assert peak_bytes([]) == 0


@given(tokens=st.integers(1, 30_000), cap=st.integers(512, 10_240))
def test_the_largest_step_bounds_every_step(tokens: int, cap: int) -> None:
    steps = cut_prompt(0, tokens, cap)
    each = [peak_bytes(step_buffers(V4, step, REFERENCE)) for step in steps]
    assert largest_step_bytes(V4, steps, REFERENCE) == max(each)


def test_no_steps_need_no_buffers() -> None:
    assert largest_step_bytes(V4, [], REFERENCE) == 0
