"""Markdown, CSV, JSON: each parses back to the same figures, and damaged input is named in one sentence."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.bench.environment import Load, Machine, ModelFacts
from engine.bench.export import CSV_HEADER, export, to_csv, to_markdown
from engine.bench.json_form import run_from_json, run_to_json
from engine.bench.plans import Plan
from engine.bench.records import BenchRow, BenchRun, Figure, Sample, Settings
from engine.errors import UserError
from tests.engine.bench_examples import example_run, seed_run
from tests.engine.bench_tables import parse_csv, parse_markdown

_COUNT = st.integers(1, 1 << 20)
_SECONDS = st.floats(1e-3, 1e5)
_MAYBE = st.none() | _SECONDS
_TEXT = st.text(max_size=20)
_MAYBE_TEXT = st.none() | _TEXT
_MAYBE_COUNT = st.none() | _COUNT
_SAMPLES = st.builds(Sample, _COUNT, st.integers(0, 1 << 20), _MAYBE, st.integers(0, 512), _MAYBE, _TEXT)
_ROWS = st.builds(
    BenchRow,
    variant=st.sampled_from(["", "8,192 + 941, cold"]),
    depth=st.integers(0, 1 << 20),
    prompt_tokens=st.integers(0, 1 << 20),
    generated_tokens=st.integers(0, 512),
    runs_planned=_COUNT,
    samples=st.lists(_SAMPLES, max_size=4).map(tuple),
    steps=st.lists(_COUNT, max_size=3).map(tuple),
    held_bytes=_MAYBE_COUNT,
    mask_bytes=_MAYBE_COUNT,
    mask_bytes_ratio4=_MAYBE_COUNT,
    peak_bytes=_MAYBE_COUNT,
    peak_gpu_bytes=_MAYBE_COUNT,
)
_LOADS = st.builds(Load, _MAYBE, _MAYBE, st.none() | st.integers(0, 100), _MAYBE)
_RUNS = st.builds(
    BenchRun,
    started_at=_TEXT,
    settings=st.builds(Settings, st.sampled_from(Plan), _COUNT, _TEXT, _MAYBE_COUNT, _TEXT, _TEXT, st.booleans()),
    model=st.builds(
        ModelFacts,
        _TEXT, _MAYBE_TEXT, _TEXT, _COUNT, _COUNT, _TEXT, _COUNT, _COUNT, _TEXT, _TEXT, _MAYBE_TEXT,
    ),
    machine=st.builds(
        Machine,
        _MAYBE_TEXT, _MAYBE_TEXT, _TEXT, _MAYBE_TEXT, _MAYBE_TEXT, _TEXT, _TEXT, _MAYBE_TEXT, _COUNT, _COUNT,
        _MAYBE_COUNT, _MAYBE_TEXT, _MAYBE_TEXT, _MAYBE_TEXT, st.none() | st.booleans(),
    ),
    text=_TEXT,
    text_sha256=_TEXT,
    load_before=_LOADS,
    load_during=_LOADS,
    not_quiet=st.lists(_TEXT, max_size=2).map(tuple),
    rows=st.lists(_ROWS, max_size=4).map(tuple),
    was_stopped=st.booleans(),
    failure=_MAYBE_TEXT,
)  # fmt: skip


@given(_RUNS)
def test_json_keeps_every_field_and_sample(run: BenchRun) -> None:
    assert run_from_json(run_to_json(run)) == run


@pytest.mark.parametrize("run", [example_run(), seed_run()])
def test_markdown_csv_and_json_parse_back_to_the_same_figures(run: BenchRun) -> None:
    markdown, table = parse_markdown(to_markdown(run)), parse_csv(to_csv(run))
    again = run_from_json(run_to_json(run))
    told = json.loads(run_to_json(run))
    for row, line, same, extra in zip(run.rows, table, again.rows, told["rows"], strict=True):
        for figure, speed in ((Figure.PREFILL, line.prefill_tps), (Figure.DECODE, line.gen_tps)):
            stats = row.stats(figure)
            if stats is None:
                assert speed is None
                assert row.name(figure) not in markdown
                assert figure.value not in extra["statistics"]
                continue
            mean, deviation = markdown[row.name(figure)]
            assert mean == speed == round(stats.mean, 2)
            assert deviation == (None if stats.stdev is None else round(stats.stdev, 2))
            assert same.stats(figure) == stats
            assert extra["statistics"][figure.value]["mean"] == stats.mean
        assert (line.ctx_tokens, line.prefill_tokens, line.gen_tokens, line.kvcache_bytes) == (
            row.context, row.prompt_tokens, row.generated_tokens, row.held_bytes,
        )  # fmt: skip


def test_markdown_has_the_columns_of_llama_bench() -> None:
    lines = to_markdown(example_run()).splitlines()
    assert lines[0] == "| model | size | params | backend | test | t/s |"
    assert lines[2] == "| DS4 nano | 37.69 MiB | 44.40 M | cpu | pp512 | 1500.00 ± 100.00 |"


def test_markdown_tells_what_the_columns_cannot() -> None:
    text = to_markdown(seed_run())
    assert "8,192 + 941, cold: wall for prompt and 128 tokens, median 42.800 s" in text
    assert "mask bytes never allocated 14,760,000,000 (ratio-4 layers 7,046,430,720)" in text
    assert "pp9133, one step against two: 251.96 ± 2.46 -> 268.62 tok/s, 1.066x" in text
    assert "the machine was not quiet: other programs kept 0.9 processor cores busy" in text


def test_csv_has_the_header_of_ds4_bench_and_leaves_out_what_was_not_measured() -> None:
    lines = to_csv(example_run()).splitlines()
    assert lines[0] == "ctx_tokens,prefill_tokens,prefill_tps,gen_tokens,gen_tps,kvcache_bytes"
    assert lines[1] == "512,512,1500.00,0,,81920"
    assert lines[2] == "0,0,,64,250.00,"
    assert lines[0] == ",".join(CSV_HEADER)


def test_a_bar_in_a_name_does_not_break_the_table() -> None:
    run = example_run()
    named = replace(run, model=replace(run.model, name="a|b"))
    assert parse_markdown(to_markdown(named)) == parse_markdown(to_markdown(run))


@pytest.mark.parametrize("suffix", [".md", ".csv", ".json"])
def test_the_suffix_chooses_the_format(suffix: str) -> None:
    run = example_run()
    text = export(run, Path(f"bench{suffix.upper()}"))
    assert text == {".md": to_markdown, ".csv": to_csv, ".json": run_to_json}[suffix](run)


@pytest.mark.parametrize("name", ["bench", "bench.txt"])
def test_another_suffix_is_refused_with_the_three_that_are_known(name: str) -> None:
    with pytest.raises(UserError, match=r"\.json, \.csv or \.md"):
        export(example_run(), Path(name))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "schema version"),
        ("3", "schema version"),
        ('{"schema_version": 99}', "says 99"),
        ('{"schema_version": 1}', "has no field"),
    ],
)
def test_what_is_no_benchmark_is_refused_by_name(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        run_from_json(text, "old.json")
    assert str(caught.value).startswith("old.json")


def _damage(data: object, path: tuple[object, ...], value: object) -> str:
    place = data
    for step in path[:-1]:
        place = place[step]  # type: ignore[index]  # JSON
    place[path[-1]] = value  # type: ignore[index]
    return json.dumps(data)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("rows",), {}, r"run\.rows is not a list"),
        (("rows", 0), 7, r"run\.rows\[0\] is not an object"),
        (("rows", 0, "depth"), "deep", r"run\.rows\[0\]\.depth is str, not int"),
        (("rows", 0, "depth"), True, r"depth is bool, not int"),
        (("rows", 0, "samples", 1, "prefill_s"), "1", r"samples\[1\]\.prefill_s is str, not float"),
        (("settings", "plan"), "fast", "'fast' is not a valid Plan"),
        (("was_stopped",), 1, "was_stopped is int, not bool"),
        (("model", "name"), None, "name is NoneType, not str"),
    ],
)
def test_a_damaged_field_is_named(path: tuple[object, ...], value: object, words: str) -> None:
    with pytest.raises(UserError, match=words):
        run_from_json(_damage(json.loads(run_to_json(example_run())), path, value))
