"""The ledger's integers: against the published figures, and against counting entry by entry."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cache_shape import CacheShape
from engine.ledger import all_layers, capacity_bytes, layer_memory, mask_bytes, memory_report, plain_bytes_per_token
from engine.plan import Step, Visibility, cut_prompt

V4 = CacheShape.v4_flash()
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def masks(ratio: int, steps: Sequence[Step]) -> int:
    report = memory_report(V4, steps[-1].stop, steps, steps[-1].stop, weight_bytes=0, step_buffer_bytes=0)
    return report.mask_bytes_of(ratio)


def test_v4_flash_has_its_layers() -> None:
    assert len(V4.ratios) == 43
    assert [layer for layer, ratio in enumerate(V4.ratios) if ratio == 0] == [0, 1]
    assert [layer for layer, ratio in enumerate(V4.ratios) if ratio == 4] == list(range(2, 43, 2))
    assert [layer for layer, ratio in enumerate(V4.ratios) if ratio == 128] == list(range(3, 42, 2))


@pytest.mark.parametrize(("tokens", "expected"), [(8192, 7_046_430_720), (9133, 8_758_035_552)])
def test_the_two_published_mask_figures(tokens: int, expected: int) -> None:
    """6.562 and 8.157 GiB: the masks of the 21 ratio-4 layers, retained for one step."""
    assert masks(4, [Step(0, tokens)]) == expected


@pytest.mark.parametrize(
    ("tokens", "ratio_4_bytes", "ratio_4", "ratio_128", "plain", "total"),
    [
        (2048, 440_401_920, "0.4102", "0.315", "0.031", "0.756"),
        (4096, 1_761_607_680, "1.6406", "1.260", "0.125", "3.025"),
        (8192, 7_046_430_720, "6.5625", "5.039", "0.500", "12.10"),
        (9133, 8_758_035_552, "8.1566", "6.263", "0.621", "15.04"),
        (10240, 11_010_048_000, "10.2539", "7.874", "0.781", "18.91"),
    ],
)
def test_the_mask_table(tokens: int, ratio_4_bytes: int, ratio_4: str, ratio_128: str, plain: str, total: str) -> None:
    """Section 5.1: bytes, and GiB to as many digits as the table prints.

    One cell differs: it prints 0.622 for the plain layers at 9,133, which hold 2 x 4 x 9,133^2 = 667,293,512 bytes.
    """
    step = [Step(0, tokens)]
    assert masks(4, step) == ratio_4_bytes
    everything = sum(layer.mask_bytes for layer in all_layers(V4, tokens, step))
    for printed, counted in (
        (ratio_4, masks(4, step)),
        (ratio_128, masks(128, step)),
        (plain, masks(0, step)),
        (total, everything),
    ):
        assert f"{counted / GIB:.{len(printed.partition('.')[2])}f}" == printed, counted


def test_a_full_step_deep_in_a_prompt() -> None:
    """Section 5.1: a step of 10,240 at 10,240 would need 12.41 GiB in the ratio-4 layers alone (P 128, C 5,120)."""
    assert masks(4, [Step(10_240, 10_240)]) == 21 * 4 * 10_240 * (128 + 10_240 + 5_120)
    assert f"{masks(4, [Step(10_240, 10_240)]) / GIB:.2f}" == "12.41"


@given(
    start=st.integers(0, 400),
    tokens=st.integers(1, 200),
    ratio=st.sampled_from([0, 2, 4, 8, 128]),
    window=st.sampled_from([8, 128]),
)
def test_mask_bytes_count_one_float_a_query_and_row(start: int, tokens: int, ratio: int, window: int) -> None:
    """Counted entry by entry: the rows that exist before, in and after the step, for each of its queries."""
    prior = len(range(max(0, start - window), start))
    compressed = sum(1 for position in range(start + tokens) if ratio and (position + 1) % ratio == 0)
    entries = sum(prior + tokens + compressed for _ in range(tokens))
    assert mask_bytes(Visibility(start, tokens, ratio, window)) == 4 * entries


@given(tokens=st.integers(1, 40_000), cap=st.integers(64, 10_240))
def test_mask_bytes_are_those_of_the_largest_step(tokens: int, cap: int) -> None:
    steps = cut_prompt(0, tokens, cap)
    for layer in all_layers(V4, tokens, steps):
        assert layer.mask_bytes == max(mask_bytes(Visibility(s.start, s.tokens, layer.ratio)) for s in steps)


def test_session_bytes_per_token() -> None:
    """Section 5.3: 5,376 + 1,344 + 160 bytes, and twice as many when rows are float32."""
    assert V4.bytes_per_token == 5376 + 1344 + 160 == 6880
    assert CacheShape.v4_flash(row_value_bytes=4).bytes_per_token == 2 * 6880


@given(position=st.integers(0, 1 << 20))
def test_rows_in_use_grow_by_whole_windows(position: int) -> None:
    for layer in all_layers(V4, position):
        rows = len(range(layer.ratio - 1, position, layer.ratio)) if layer.ratio else 0  # last tokens of windows
        assert layer.compressed_bytes == rows * KIB
        assert layer.index_bytes == (rows * 256 if layer.ratio == 4 else 0)


def test_bytes_per_token_is_the_growth_over_a_common_window() -> None:
    grown = [sum(layer.held_bytes for layer in all_layers(V4, position)) for position in (12_800, 12_928)]
    assert Fraction(grown[1] - grown[0], 128) == V4.bytes_per_token


def test_fixed_state() -> None:
    """Section 5.3: ring 43 x 128 KiB = 5.375 MiB, rolling state 11.64 MiB; both there from the first token on."""
    layers = all_layers(V4, 0)
    assert sum(layer.raw_bytes for layer in layers) == 43 * 128 * KIB
    rolling = {layer.ratio: layer.rolling_bytes for layer in layers}
    assert rolling == {0: 0, 4: 80 * KIB, 128: 512 * KIB}
    assert f"{sum(layer.rolling_bytes for layer in layers) / MIB:.2f}" == "11.64"
    assert V4.volatile_bytes == sum(layer.held_bytes for layer in layers)


@pytest.mark.parametrize(("tokens", "printed"), [(9133, "80.7 MB"), (131_072, "0.92 GB")])
def test_session_totals(tokens: int, printed: str) -> None:
    """Section 5.3. The first figure counts rows and fixed state, the second likewise."""
    held = sum(layer.held_bytes for layer in all_layers(V4, tokens))
    number, unit = printed.split()
    assert f"{held / {'MB': 1e6, 'GB': 1e9}[unit]:.{len(number.partition('.')[2])}f}" == number


def test_a_million_tokens() -> None:
    rows = sum(layer.compressed_bytes + layer.index_bytes for layer in all_layers(V4, 1 << 20))
    assert f"{rows / GIB:.2f}" == "6.72"


@pytest.mark.parametrize("context", [1, 3, 4, 127, 128, 9133, 16_384])
def test_capacity_is_rows_of_the_context_and_sixteen_more(context: int) -> None:
    rows = 21 * (context // 4 + 16) * (1024 + 256) + 20 * (context // 128 + 16) * 1024
    assert capacity_bytes(V4, context) == V4.volatile_bytes + rows
    held = sum(layer.held_bytes for layer in all_layers(V4, context))
    assert held <= capacity_bytes(V4, context)


def test_plain_attention_keeps_a_key_and_a_value_for_every_head() -> None:
    keys_and_values = ("key", "value")
    counted = sum(2 for _ in keys_and_values for _ in range(64) for _ in range(512))
    assert plain_bytes_per_token(V4) == counted == 131_072
    assert all(layer.plain_bytes == 9133 * 131_072 for layer in all_layers(V4, 9133))
    assert all(layer.plain_bytes == 9133 * 131_072 for layer in all_layers(replace(V4, row_value_bytes=4), 9133))


def test_a_report_adds_up() -> None:
    steps = cut_prompt(0, 9133)
    report = memory_report(V4, 9133, steps, context=16_384, weight_bytes=10**9, step_buffer_bytes=10**6, checkpoints=3)
    assert [layer.layer for layer in report.layers] == list(range(43))
    assert [layer.ratio for layer in report.layers] == list(V4.ratios)
    assert report.layers == tuple(layer_memory(V4, layer, 9133, steps) for layer in range(43))
    assert report.mask_bytes == sum(report.mask_bytes_of(ratio) for ratio in (0, 4, 128))
    assert report.forecast_peak_bytes == 10**9 + 10**6 + capacity_bytes(V4, 16_384) + 3 * V4.volatile_bytes
    assert (report.position, report.weight_bytes, report.step_buffer_bytes) == (9133, 10**9, 10**6)


def test_without_steps_no_mask_is_claimed() -> None:
    """A session restored from a snapshot computed nothing: it must not claim to have saved masks."""
    assert all(layer.mask_bytes == 0 for layer in all_layers(V4, 9133))


@pytest.mark.parametrize(
    "change",
    [{"ratios": ()}, {"ratios": (0, -4)}, {"heads": 0}, {"head_dim": -1}, {"index_dim": 0}, {"row_value_bytes": 0}],
)
def test_impossible_shapes_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="cache shape"):
        replace(V4, **change)


def test_a_shape_without_an_indexer_needs_no_index_sizes() -> None:
    plain = replace(V4, ratios=(0, 128), index_heads=0, index_dim=0, index_top_k=0)
    assert all(layer.index_bytes == 0 for layer in all_layers(plain, 1000))
    assert plain.bytes_per_token == 8


def test_impossible_positions_are_refused() -> None:
    with pytest.raises(ValueError, match="position"):
        layer_memory(V4, 0, -1)
    with pytest.raises(ValueError, match="context"):
        capacity_bytes(V4, 0)
