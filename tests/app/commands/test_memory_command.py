"""`haloband memory`: the published figures, sums that add up, both views saying the same, and clear refusals."""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import resources
from app.commands import memory
from app.commands.memory_views import as_json, as_text
from app.plain_words import size_text
from engine.errors import ModelFileError, UserError
from tests.support.deepseek_folder import plain_entries, write_folder
from tests.support.model_files import ModelParts
from tests.support.tiny_model import write_tiny_gguf


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    memory.add_arguments(parser)
    return parser.parse_args(words)


def ledger(*words: str) -> dict[str, Any]:
    return as_json(memory.make_forecast(parse(*words)))


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert memory.run(parse(*words)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(("tokens", "ratio_4", "gib"), [(8192, 7_046_430_720, "6.562"), (9133, 8_758_035_552, "8.157")])
def test_the_published_masks(capsys: pytest.CaptureFixture[str], tokens: int, ratio_4: int, gib: str) -> None:
    found = json.loads(printed(capsys, "--config", "v4-flash", "--tokens", str(tokens), "--json"))
    assert found["mask_bytes_ratio_4"] == ratio_4
    assert f"{found['mask_gib_ratio_4']:.3f}" == gib
    assert found["session_bytes_per_token"] == 6880
    text = printed(capsys, "--config", "v4-flash", "--tokens", str(tokens))
    assert f"{ratio_4:,}" in text and f"{gib} GiB" in text and "6,880 bytes a token" in text


@pytest.mark.parametrize(
    "words",
    [
        ("--tokens", "9133"),
        ("--tokens", "20481", "--cap", "8192", "--cut", "greedy", "--context", "65536"),
        ("--tokens", "1", "--rows", "f32"),
        ("--tokens", "5000", "--model", str(resources.embedded_model())),
    ],
)
def test_every_total_is_the_sum_of_its_layers(words: tuple[str, ...]) -> None:
    found = ledger(*words)
    layers = found["layers"]
    kinds = {0: "uncompressed", 4: "ratio_4", 128: "ratio_128"}
    for ratio, kind in kinds.items():
        own = sum(layer["mask_bytes_never_allocated"] for layer in layers if layer["ratio"] == ratio)
        assert found[f"mask_bytes_{kind}"] == own
        assert found[f"mask_gib_{kind}"] == own / 2**30
    assert found["mask_bytes_total"] == sum(layer["mask_bytes_never_allocated"] for layer in layers)
    assert found["plain_attention_bytes"] == sum(layer["plain_attention_bytes"] for layer in layers)
    assert found["session_bytes_held"] == sum(layer["held_bytes"] for layer in layers)
    held = ("raw_ring_bytes", "compressed_row_bytes", "index_row_bytes", "rolling_state_bytes")
    assert all(layer["held_bytes"] == sum(layer[part] for part in held) for layer in layers)
    assert [layer["layer"] for layer in layers] == list(range(len(layers)))
    assert found["session_bytes_held"] <= found["session_bytes_at_capacity"]
    parts = (
        found["session_bytes_at_capacity"] + found["step_buffer_peak_bytes"] + found.get("weight_bytes_as_stored", 0)
    )
    assert found["forecast_peak_bytes"] == parts


def test_steps_follow_cap_and_cut() -> None:
    def steps(*words: str) -> list[tuple[int, int, int]]:
        return [(step["start"], step["tokens"], step["bands"]) for step in ledger("--tokens", "9133", *words)["steps"]]

    assert steps() == [(0, 9133, 5)]
    assert steps("--cap", "8192", "--cut", "greedy") == [(0, 8192, 4), (8192, 941, 1)]
    assert steps("--cap", "8192") == [(0, 4568, 3), (4568, 4565, 3)]


def test_a_model_in_any_form_has_the_same_ledger(tmp_path: Path) -> None:
    """One file, parts of it (any of them), and a folder with the same weights in the same type."""
    whole = tmp_path / "whole.gguf"
    write_tiny_gguf(whole)
    parts = ModelParts.read(whole).write_parts(tmp_path, 3)
    folder = write_folder(tmp_path / "folder", plain_entries())
    first, *others = [ledger("--model", str(path), "--tokens", "100") for path in (whole, *parts, folder)]
    assert first["weight_bytes_as_stored"] > 0
    for other in others:
        assert other | {"model": first["model"]} == first


def test_a_model_file_gives_its_own_shape_and_weights() -> None:
    found = ledger("--model", str(resources.embedded_model()), "--tokens", "1024")
    assert found["model"] == "DS4 nano"
    assert [layer["ratio"] for layer in found["layers"]] == [0, 0, 4, 128, 4, 128, 4, 128, 4]
    assert found["session_bytes_per_token"] == 4 * (128 + 64) // 4 + 3 * 128 // 128
    assert 0 < found["weight_bytes_as_stored"] < resources.embedded_model().stat().st_size
    assert found["forecast_includes_weights"]


def test_a_named_shape_claims_no_weights(capsys: pytest.CaptureFixture[str]) -> None:
    found = ledger("--tokens", "1024")
    assert found["model"] == "v4-flash" and len(found["layers"]) == 43
    assert "weight_bytes_as_stored" not in found and not found["forecast_includes_weights"]
    assert "and the weights" in printed(capsys, "--tokens", "1024")


def test_float32_rows_take_twice_the_room() -> None:
    half, full = ledger("--tokens", "4096"), ledger("--tokens", "4096", "--rows", "f32")
    assert full["session_bytes_per_token"] == 2 * half["session_bytes_per_token"]
    assert full["mask_bytes_total"] == half["mask_bytes_total"]
    assert (half["row_type"], full["row_type"]) == ("f16", "f32")


def test_the_text_shows_each_kind_of_layer_and_the_rule() -> None:
    text = as_text(memory.make_forecast(parse("--tokens", "20481")))
    for words in ("uncompressed", "ratio 4", "ratio 128", "all", "3 steps of 6,828 + 6,828 + 6,825", "Counted as:"):
        assert words in text
    assert max(map(len, text.splitlines())) <= 120


def test_many_steps_are_summed_up() -> None:
    text = as_text(memory.make_forecast(parse("--tokens", "100000", "--cap", "2048")))
    assert "49 steps of 2,044 + 2,044 + 2,044 + ... + 2,040" in text


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--tokens", "0"), "--tokens 0"),
        (("--tokens", "-5"), "--tokens -5"),
        (("--tokens", "1048577"), "--tokens 1048577"),
        (("--tokens", "100", "--context", "99"), "--context 99"),
        (("--tokens", "100", "--context", "9999999"), "--context 9999999"),
        (("--tokens", "100", "--cap", "0"), "--cap 0"),
        (("--tokens", "100", "--cap", "10241"), "--cap 10241"),
    ],
)
def test_impossible_numbers_are_named(words: tuple[str, ...], named: str) -> None:
    with pytest.raises(UserError, match=f"^{re.escape(named)} is outside"):
        memory.run(parse(*words))


def test_a_missing_or_foreign_file_is_named(tmp_path: Any) -> None:
    with pytest.raises(ModelFileError, match=r"nowhere\.gguf"):
        memory.run(parse("--tokens", "5", "--model", str(tmp_path / "nowhere.gguf")))
    foreign = tmp_path / "letter.gguf"
    foreign.write_text("Dear reader, this is not a model.")
    with pytest.raises(ModelFileError, match=r"letter\.gguf"):
        memory.run(parse("--tokens", "5", "--model", str(foreign)))


@pytest.mark.parametrize(
    "words", [("--config", "v4-flash", "--model", "x.gguf"), ("--config", "v5"), ("--cut", "half"), ()]
)
def test_contradictory_options_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit):
        parse(*words, *(("--tokens", "5") if words else ()))


def test_the_command_needs_no_torch() -> None:
    """A shape is integers: loading a tensor library for it would cost seconds and hundreds of megabytes."""
    program = (
        "import argparse, sys; from app.commands import memory; parser = argparse.ArgumentParser();"
        "memory.add_arguments(parser); memory.run(parser.parse_args(sys.argv[1:]));"
        "sys.exit('torch was imported' if 'torch' in sys.modules else 0)"
    )
    for words in ([], ["--model", str(resources.embedded_model())]):
        command = [sys.executable, "-c", program, "--tokens", "64", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (10_235, "10.0 KiB"),
        (102_348, "99.9 KiB"),
        (1023 << 10, "1023 KiB"),
        (1 << 20, "1.00 MiB"),
        (7_046_430_720, "6.56 GiB"),
        (5 << 50, "5120 TiB"),
    ],
)
def test_sizes_have_three_digits(size: int, text: str) -> None:
    assert size_text(size) == text


@given(size=st.integers(0, 1 << 50))
def test_a_size_is_true_to_three_digits(size: int) -> None:
    number, unit = size_text(size).split()
    scale = 1024 ** ("B", "KiB", "MiB", "GiB", "TiB").index(unit)
    assert abs(float(number) * scale - size) <= 0.0051 * size
    assert len(number.replace(".", "")) <= 4
