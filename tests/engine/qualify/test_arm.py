"""One arm on the embedded model with short tapes: what it writes, that it is repeatable, and how it fails."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import engine
from engine.qualify import arm
from engine.qualify.arm_process import read_result
from engine.qualify.records import Domain, ProcessSpec
from engine.qualify.retrieval import make_document
from engine.qualify.run import QualifyRequest, process_specs
from engine.qualify.tapes import load_tapes
from engine.record_json import to_plain

REQUEST = QualifyRequest(
    cap_a=96,
    cap_b=128,
    domains=(Domain.CODE,),
    dtype="float32",
    prompt_tokens=140,
    rows=3,
    greedy=4,
    retrieval_tokens=200,
)
SPECS = process_specs(REQUEST)


def _silent(what: str, done: int, of: int) -> None:
    assert 0 <= done <= of
    assert what in ("code", "keys")


@pytest.fixture(scope="module")
def model() -> engine.Model:
    return engine.load(None, dtype="float32")


@pytest.fixture(autouse=True)
def _loaded_once(model: engine.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "load", lambda *args, **options: model)


def test_rows_are_those_of_the_tape_and_the_answer_starts_at_the_prompts_end(
    model: engine.Model, tmp_path: Path
) -> None:
    result = arm.run_arm(SPECS[0], tmp_path, _silent)
    (found,) = result.domains
    tape = load_tapes(model.tokenizer)[Domain.CODE]
    session = model.session(context=200, cap=96, cut="greedy")
    expected = [session.prefill(tape.ids[:140])]
    state = arm.state_hashes(session)
    expected += [session.decode(token) for token in tape.ids[140:142]]
    rows = np.load(tmp_path / found.logits_file)
    assert rows.dtype == np.float32
    assert torch.equal(torch.from_numpy(rows), torch.stack(expected))
    assert found.state_sha256 == state
    assert (found.tape_sha256, found.tape_is_frozen) == (tape.sha256, True)
    assert found.greedy_ids[0] == int(expected[0].argmax())
    assert len(found.greedy_ids) == len(found.greedy_gaps) == 4
    top = torch.topk(expected[0], 2).values
    assert found.greedy_gaps[0] == pytest.approx(float(top[0] - top[1]))


def test_a_second_process_of_an_arm_finds_the_same_bits(tmp_path: Path) -> None:
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    first, second = (arm.run_arm(SPECS[0], folder, _silent).domains[0] for folder in folders)
    for name in ("logits_sha256", "state_sha256", "greedy_ids", "greedy_gaps"):
        assert getattr(first, name) == getattr(second, name)


def test_a_changed_state_has_another_hash(model: engine.Model) -> None:
    session = model.session(context=200)
    session.prefill(list(range(10, 150)))
    before = arm.state_hashes(session)
    session.timeline.state.layers[2].compressed[0, 0] += 1
    assert arm.state_hashes(session) != before


def test_exact_mode_runs_as_an_arm(tmp_path: Path) -> None:
    spec = replace(SPECS[5], prompt_tokens=9, rows=2, greedy=2)
    assert spec.mode == "exact"
    assert arm.run_arm(spec, tmp_path, _silent).domains[0].logits_sha256


def test_keys_are_asked_for_in_a_document_of_the_length_wanted(model: engine.Model, tmp_path: Path) -> None:
    spec = next(spec for spec in SPECS if spec.retrieval_tokens)
    result = arm.run_arm(spec, tmp_path, _silent)
    assert len(result.keys) == 5
    assert all(isinstance(key.answer, str) for key in result.keys)
    document = make_document(model, 400)
    assert len(document) == 400
    text = model.tokenizer.decode(document)
    assert text.count("The secret number of the") == 5
    assert text.index("amber box is 7318204") < text.index("violet box is 8623150")


def test_swapped_pages_are_read_from_the_kernel(tmp_path: Path) -> None:
    assert arm.swapped_in_pages(tmp_path) is None
    (tmp_path / "vmstat").write_text("nr_free_pages 3\npswpin 12\npswpout 4\n")
    assert arm.swapped_in_pages(tmp_path) == 12
    (tmp_path / "vmstat").write_text("pswpin\n")
    assert arm.swapped_in_pages(tmp_path) is None


def _start(spec: ProcessSpec, folder: Path) -> "subprocess.CompletedProcess[str]":
    (folder / "spec.json").write_text(json.dumps(to_plain(spec)))
    command = [sys.executable, "-m", "engine.qualify.arm", str(folder / "spec.json"), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3])


def test_a_real_process_leaves_its_result(tmp_path: Path) -> None:
    spec = replace(SPECS[0], prompt_tokens=20, rows=2, greedy=2)
    done = _start(spec, tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["what"] == "code"
    result = read_result(tmp_path, spec)
    assert result is not None
    assert result.peak_bytes is not None
    assert read_result(tmp_path, replace(spec, cap=64)) is None


def test_a_real_process_says_in_one_line_why_it_failed(tmp_path: Path) -> None:
    done = _start(replace(SPECS[0], model=str(tmp_path / "none.gguf")), tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert "none.gguf" in done.stderr
    assert read_result(tmp_path, SPECS[0]) is None
