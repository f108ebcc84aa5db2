"""The whole recipe at toy size, by its command: every stage, and the same model when it is stopped on the way."""

import json
import math
import runpy
import shutil
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from recipe import sampler, sampling, stages, training
from recipe.averaging import average
from recipe.conversations import Conversation, Kind, read_conversations, write_conversations
from recipe.examination import examined_conversations
from recipe.export import export
from recipe.settings import TOY
from recipe.student import Student
from recipe.student_shape import initial_parameters
from recipe.vocabulary import Vocabulary
from recipe.work import Work

import engine
from engine.errors import UserError
from engine.model_source import open_model
from tests.packaging.model.toy_teacher import write_toy_teacher

MAIN = Path(__file__).resolve().parents[3] / "packaging" / "model" / "__main__.py"


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy_teacher(tmp_path_factory.mktemp("teacher") / "teacher.gguf")


def command(stage: str, out: Path, teacher: Path, *options: str) -> None:
    arguments = [str(MAIN), stage, "--toy", "--out", str(out), "--teacher", str(teacher), *options]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", arguments)
        runpy.run_path(str(MAIN), run_name="__main__")


@pytest.fixture(scope="module")
def finished(teacher: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    command("all", out, teacher, "--compare")
    return out


def test_all_stages_leave_a_model_that_the_program_loads(finished: Path) -> None:
    model = engine.load(finished / "ds4-nano.gguf")
    session = model.session()
    assert torch.isfinite(session.prefill(model.tokenizer.encode("hello"))).all()
    figures = json.loads((finished / "figures.json").read_text())
    assert [one["name"] for one in figures["models"]] == ["new", "teacher"]
    assert 0 <= figures["kl"] < 0.1
    assert all(0 < one["bits_per_byte"] < 20 for one in figures["models"])


def test_other_models_are_measured_under_the_names_of_their_files(
    finished: Path, teacher: Path, tmp_path: Path
) -> None:
    shutil.copy(finished / "ds4-nano.gguf", tmp_path / "same.gguf")
    command("evaluate", tmp_path, teacher, "--compare", str(tmp_path / "same.gguf"), str(finished / "master.gguf"))
    stored = json.loads((tmp_path / "figures.json").read_text())
    models = {one["name"]: one for one in stored["models"]}
    assert list(models) == ["same", "master", "teacher"] and stored["kl"] is None
    (new,) = (one for one in json.loads((finished / "figures.json").read_text())["models"] if one["name"] == "new")
    assert models["same"] | {"name": ""} == new | {"name": ""} != models["master"] | {"name": ""}
    command("page", tmp_path, teacher)
    assert "| same |" in (page := (tmp_path / "page.md").read_text()) and "KL of" not in page


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (["missing.gguf"], "missing.gguf: there is no such file to compare with."),
        (["ds4-nano.gguf", "ds4-nano.gguf"], "two models would be called 'ds4-nano'"),
    ],
)
def test_models_to_compare_with_must_exist_under_names_of_their_own(
    finished: Path, teacher: Path, files: list[str], said: str
) -> None:
    with pytest.raises(SystemExit, match=said):
        command("evaluate", finished, teacher, "--compare", *(str(finished / name) for name in files))


def test_where_there_is_no_model_nothing_is_measured(teacher: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="has no model yet, and none to compare with was named"):
        command("evaluate", tmp_path, teacher, "--compare")


def test_the_page_shows_the_figures_once(finished: Path, teacher: Path) -> None:
    command("page", finished, teacher)
    page = (finished / "page.md").read_text()
    assert page.count("| model | size | bits a byte |") == 1 and page.count("What is the capital of France?") == 1


def test_held_out_conversations_are_not_trained_on(finished: Path) -> None:
    held_out = set(read_conversations(finished / "held-out.jsonl"))
    everything = [one for path in (finished / "text").glob("*.jsonl") for one in read_conversations(path)]
    assert 0 < len(held_out) < len(set(everything))
    assert {one.kind for one in everything} == {Kind.CHAT, Kind.ARTICLE}


def test_the_examination_is_neither_trained_on_nor_held_out(finished: Path, teacher: Path, tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    shutil.copy(finished / "vocabulary.json", tmp_path)
    examined = examined_conversations()
    other = [Conversation(Kind.CHAT, (f"What is number {n}?", "A number.")) for n in range(20)]
    article = Conversation(Kind.ARTICLE, ("It is about bees. " * 9, "What is it about?", "It is about bees."))
    write_conversations(tmp_path / "text" / "window.jsonl", [*examined[:400], *other, article])
    command("build", tmp_path, teacher)
    used = {*read_conversations(tmp_path / "training.jsonl"), *read_conversations(tmp_path / "held-out.jsonl")}
    assert used.isdisjoint(examined) and article in used


def test_what_is_written_is_not_learned_from_the_teacher_too(finished: Path, teacher: Path, tmp_path: Path) -> None:
    """It would be two answers to one question, and the teacher's is often wrong."""
    (tmp_path / "text").mkdir()
    shutil.copy(finished / "vocabulary.json", tmp_path)
    asked = "what is the capital of france"
    wrong = [Conversation(Kind.CHAT, ("Hello.", f"Hi {n}.", asked, f"It is Lyon {n}.")) for n in range(20)]
    other = [Conversation(Kind.CHAT, (f"What is number {n}?", "A number.")) for n in range(20)]
    article = Conversation(Kind.ARTICLE, ("It is about bees. " * 9, "What is it about?", "It is about bees."))
    write_conversations(tmp_path / "text" / "window.jsonl", [*wrong, *other, article])
    command("build", tmp_path, teacher)
    trained_on = {one.texts[-1] for one in read_conversations(tmp_path / "training.jsonl")}
    held_out = {one.texts[-1] for one in read_conversations(tmp_path / "held-out.jsonl")}
    assert not any("Lyon" in text for text in trained_on) and any("Lyon" in text for text in held_out)
    assert "A number." in trained_on


def test_router_biases_follow_the_load_and_hash_tables_stay(finished: Path) -> None:
    trained, fresh = state_of(finished)["parameters"], initial_parameters(TOY.shape, TOY.seed)
    step, steps = TOY.training.bias_step, TOY.training.most_steps
    assert 0 < trained["blk.1.exp_probs_b.bias"].abs().max() <= step * steps * 1.001
    assert torch.equal(trained["blk.0.ffn_gate_tid2eid.weight"], fresh["blk.0.ffn_gate_tid2eid.weight"])


def test_the_log_tells_the_loss_against_tokens(finished: Path) -> None:
    lines = [json.loads(line) for line in (finished / "log.jsonl").read_text().splitlines()]
    assert [line["steps"] for line in lines] == [3, 6, 6] and lines[-1]["tokens"] == 3 * 2 * 256 + 3 * 512
    assert [line["length"] for line in lines] == [256, 512, 512]
    assert all(0 < line["held_out_bits_per_byte"] < 20 for line in lines)
    assert lines[1]["rate"] < lines[0]["rate"], "the rate does not fall at the end"


def test_a_run_in_pieces_gives_the_same_weights(
    finished: Path, teacher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    for done in ("checkpoint.pt", "trained.json"):
        (tmp_path / done).unlink()
    steps = []
    while not steps or steps[-1] < TOY.training.most_steps:
        monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=count().__next__))  # a second a look
        work = Work(tmp_path, TOY, teacher, (torch.device("cpu"),), 0.0, 0.0, stop_at=2.0)
        assert stages.train(work) == (state_of(tmp_path)["progress"]["steps"] == TOY.training.most_steps)
        steps.append(state_of(tmp_path)["progress"]["steps"])
    assert len(steps) > 2, "it was not stopped on the way"
    whole, pieces = state_of(finished)["parameters"], state_of(tmp_path)["parameters"]
    assert all(torch.equal(whole[name], pieces[name]) for name in whole)


def test_training_goes_on_from_a_finished_model(finished: Path, teacher: Path, tmp_path: Path) -> None:
    """With that model's vocabulary, from its weights, at the lower rate."""
    shutil.copytree(finished / "text", tmp_path / "text")
    shutil.copy(finished / "sampled.json", tmp_path)
    (tmp_path / "middle.pt").write_bytes(b"of another training")
    start, vocabulary = tmp_path / "start.gguf", Vocabulary.read(finished / "vocabulary.json")
    export(start, TOY.shape, initial_parameters(TOY.shape, TOY.seed + 1), vocabulary, "start", exact=True)
    for stage in ("build", "train"):
        command(stage, tmp_path, teacher, "--start", str(start))
    assert Vocabulary.read(tmp_path / "vocabulary.json") == Vocabulary.from_gguf(open_model(start))
    begun = Student.load(start, torch.device("cpu"), torch.float32).parameters
    fresh, further = initial_parameters(TOY.shape, TOY.seed), state_of(tmp_path)["parameters"]
    for name in ("token_embd.weight", "blk.1.attn_q_a.weight", "blk.2.attn_compressor_kv.weight"):
        assert (further[name] - begun[name]).norm() < 0.5 * (further[name] - fresh[name]).norm(), name
    command("export", tmp_path, teacher, "--start", str(start))
    assert_is_mean(tmp_path, (0.12, begun))
    first = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[0])
    assert first["rate"] <= TOY.training.further_rate < TOY.training.rate


def test_the_file_is_the_mean_of_the_middle_and_the_end(finished: Path) -> None:
    last, middle = state_of(finished)["parameters"], torch.load(finished / "middle.pt", weights_only=True)
    assert not torch.equal(last["output.weight"], middle["output.weight"])
    assert_is_mean(finished)


def assert_is_mean(out: Path, *others: tuple[float, dict[str, torch.Tensor]]) -> None:
    """The master against the states beside it and the others with their shares, to half-precision rounding."""
    shares = [(0.2, torch.load(out / "middle.pt", weights_only=True)), *others]
    shares.append((1 - sum(share for share, _ in shares), state_of(out)["parameters"]))
    master = Student.load(out / "master.gguf", torch.device("cpu"), torch.float32).parameters
    for name, tensor in master.items():
        mean = sum(share * state[name].double() for share, state in shares)
        torch.testing.assert_close(tensor.double(), mean, atol=1e-4, rtol=1e-3, msg=name)


def test_states_are_averaged_by_their_shares() -> None:
    table = torch.tensor([1, 2], dtype=torch.int32)
    one, other = {"w": torch.tensor([1.0]), "t": table}, {"w": torch.tensor([5.0]), "t": table}
    assert average([(0.75, one), (0.25, other)])["w"] == 2 and torch.equal(average([(1, one)])["t"], table)
    with pytest.raises(ValueError, match="do not add up"):
        average([(0.75, one), (0.75, other)])
    with pytest.raises(ValueError, match="t differs"):
        average([(0.5, one), (0.5, other | {"t": table + 1})])


def test_a_model_of_another_shape_is_not_trained_further(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"ds4-nano\.gguf: this model does not have the shape that the recipe trains"):
        other = replace(TOY, shape=replace(TOY.shape, experts=5))
        stages.train(Work(tmp_path, other, finished, (torch.device("cpu"),), 0, 0, 0, finished / "ds4-nano.gguf"))


def test_two_devices_train_as_one_with_twice_the_batch(finished: Path, teacher: Path, tmp_path: Path) -> None:
    together = trained(finished, tmp_path / "together", teacher, batch=1, devices=2)
    alone = trained(finished, tmp_path / "alone", teacher, batch=2, devices=1)
    assert together["progress"]["tokens"] == alone["progress"]["tokens"] == TOY.training.most_steps * 2 * 384
    fresh = initial_parameters(TOY.shape, TOY.seed)
    for name, tensor in alone["parameters"].items():
        moved = (tensor.float() - fresh[name]).norm()
        assert (together["parameters"][name].float() - tensor).norm() <= 1e-3 * moved, name


def test_a_member_that_fails_ends_the_training_with_its_error(finished: Path, teacher: Path, tmp_path: Path) -> None:
    """The other waits for this one, and must not wait for ever."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    for done in ("checkpoint.pt", "trained.json"):
        (tmp_path / done).unlink()
    devices = torch.device("cpu"), torch.device("cuda", 99)
    with pytest.raises(torch.multiprocessing.ProcessRaisedException, match="Process 1 terminated"):
        stages.train(Work(tmp_path, TOY, teacher, devices, 0.0, 0.0, math.inf))


def trained(finished: Path, out: Path, teacher: Path, batch: int, devices: int) -> dict[str, dict[str, Any]]:
    """The checkpoint of a new training on the finished run's data."""
    shutil.copytree(finished, out)
    for done in ("checkpoint.pt", "trained.json", "log.jsonl"):
        (out / done).unlink()
    phases = tuple(replace(phase, batch=batch) for phase in TOY.training.phases)
    settings = replace(TOY, training=replace(TOY.training, phases=phases))
    assert stages.train(Work(out, settings, teacher, (torch.device("cpu"),) * devices, 0.0, 0.0, math.inf))
    return state_of(out)


def test_sampling_goes_on_where_a_call_stopped_with_other_words(
    teacher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(TOY, sampling=replace(TOY.sampling, rows=4, most_windows=None))

    def call(seconds: float) -> bool:
        for module, step in ((sampling, 1.0), (sampler, 0.5)):  # so long a look: time for one window
            monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=count(step=step).__next__))
        return sampling.sample(Work(tmp_path, settings, teacher, (torch.device("cpu"),), seconds, 0.0, stop_at=2.0))

    assert not call(1e9) and not (tmp_path / "sampled.json").exists()
    spoken = json.loads((tmp_path / "sampling.json").read_text())["seconds"]
    assert call(spoken + 1), "the time of both calls is not counted together"
    first, second = ((tmp_path / "text" / f"window-{n:02}-0-0000.jsonl").read_text() for n in range(2))
    assert first and second and first != second
    assert json.loads((tmp_path / "sampled.json").read_text())["windows"] == 2


def test_a_call_that_dies_leaves_its_seeds_used(teacher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "_speak", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sampling.sample(Work(tmp_path, TOY, teacher, (torch.device("cpu"),), 1.0, 0.0, math.inf))
    assert json.loads((tmp_path / "sampling.json").read_text())["calls"] == 1


def test_two_devices_speak_with_different_words(teacher: Path, tmp_path: Path) -> None:
    settings = replace(TOY, sampling=replace(TOY.sampling, rows=4, length=384))
    assert sampling.sample(Work(tmp_path, settings, teacher, (torch.device("cpu"),) * 2, 1e9, 0.0, math.inf))
    first, second = ((tmp_path / "text" / f"window-00-{n}-0000.jsonl").read_text() for n in range(2))
    assert first and second and first != second


def state_of(out: Path) -> dict[str, dict[str, torch.Tensor]]:
    state: dict[str, dict[str, torch.Tensor]] = torch.load(out / "checkpoint.pt", weights_only=True)
    return state


def test_the_teacher_has_to_be_a_llama(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"pre-tokenizer is 'gpt-2', not 'smollm'"):
        command("sample", tmp_path, finished / "ds4-nano.gguf")
