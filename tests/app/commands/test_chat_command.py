"""`haloband chat`: what reaches the model, what is printed where, stopping, files and refusals."""

import argparse
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import engine
from app import cli
from app.commands import chat
from app.documents.prompt import question_with_documents
from app.plain_words import significant
from engine.chat_format import Message, Role
from engine.errors import UserError
from engine.events import FinishReason
from engine.partial_sampling import PartialSampling
from engine.sampling import Sampling
from tests.app.commands.chat_fakes import FakeModel, WatchedText


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    chat.add_arguments(parser)
    return parser.parse_args(words)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> FakeModel:
    fake = FakeModel()
    monkeypatch.setattr(engine, "load", fake.load)
    return fake


def test_text_goes_to_stdout_and_nothing_else_anywhere(model: FakeModel, capsys: pytest.CaptureFixture[str]) -> None:
    assert chat.run(parse("What is the sea?")) == 0
    assert capsys.readouterr() == ("The sea is wide.\n", "")
    assert model.messages == [Message(Role.USER, "What is the sea?")]
    assert model.wanted == {
        "path": None,
        "context": 100 + 512,
        "mode": "sparse",
        "sampling": Sampling(),
        "max_tokens": 512,
    }


def test_options_reach_the_engine(model: FakeModel) -> None:
    words = ["--model", "m.gguf", "--system", "Be brief.", "--max-tokens", "7", "--context", "300"]
    sampling = ["--temperature", "0", "--top-p", "0.5", "--top-k", "3", "--min-p", "0.1", "--seed", "9"]
    chat.run(parse("hi", "--mode", "exact", *words, *sampling))
    assert model.messages == [Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "hi")]
    assert model.wanted == {
        "path": Path("m.gguf"),
        "context": 300,
        "mode": "exact",
        "sampling": Sampling(temperature=0, top_p=0.5, top_k=3, min_p=0.1, seed=9),
        "max_tokens": 7,
    }


def test_what_is_not_asked_for_is_what_the_model_advises(model: FakeModel) -> None:
    model.info.advice = PartialSampling(temperature=0.3, top_p=1.0)
    chat.run(parse("hi", "--top-p", "0.5"))
    assert model.wanted["sampling"] == Sampling(temperature=0.3, top_p=0.5)


def test_the_context_never_exceeds_the_model(model: FakeModel) -> None:
    chat.run(parse("hi", "--max-tokens", "5000"))
    assert model.wanted["context"] == 1000


def test_json_holds_text_usage_and_timings(model: FakeModel, capsys: pytest.CaptureFixture[str]) -> None:
    model.pieces, model.tail = ("schön ", "🌊"), "\N{REPLACEMENT CHARACTER}"
    assert chat.run(parse("hi", "--json")) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert out.isascii() and err == ""
    assert found["text"] == "schön 🌊\N{REPLACEMENT CHARACTER}"
    assert found["model"] == "Fake" and found["finish_reason"] == "end"
    assert found["usage"] == {"prompt_tokens": 100, "cached_tokens": 0, "completion_tokens": 2}
    assert found["timings"]["prefill_tok_s"] == 2040.4 and found["timings"]["first_token_s"] == 0.06


@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_keeps_what_was_said(model: FakeModel, capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    model.interrupt_after = 2
    before = signal.getsignal(signal.SIGINT)
    assert chat.run(parse("hi", *["--json"] * as_json)) == 130
    out = capsys.readouterr().out
    if as_json:
        assert json.loads(out)["text"] == "The sea is" and json.loads(out)["finish_reason"] == "stopped"
    else:
        assert out == "The sea is\n"
    assert signal.getsignal(signal.SIGINT) is before


@pytest.fixture(params=[signal.default_int_handler, signal.SIG_IGN], ids=["watched", "behind a shell"])
def handler(request: pytest.FixtureRequest) -> Iterator[object]:
    """What Ctrl+C did before the program began; a shell lets what it runs behind itself ignore it."""
    before = signal.signal(signal.SIGINT, request.param)
    yield request.param
    signal.signal(signal.SIGINT, before)


def test_a_second_ctrl_c_ends_the_program_at_once(
    model: FakeModel, monkeypatch: pytest.MonkeyPatch, handler: object
) -> None:
    def stubborn(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("the second Ctrl+C was swallowed")

    monkeypatch.setattr(engine, "load", stubborn)
    with pytest.raises(KeyboardInterrupt):
        chat.run(parse("hi"))
    assert signal.getsignal(signal.SIGINT) is handler
    assert cli.main(["chat", "hi"]) == 130


def test_stopping_while_loading_is_quiet(model: FakeModel, capsys: pytest.CaptureFixture[str]) -> None:
    model.stop_while_loading = True
    assert chat.run(parse("hi")) == 130
    assert capsys.readouterr() == ("", "")


def test_a_watched_terminal_sees_progress_and_speeds(model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = WatchedText(), WatchedText()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    model.reason = FinishReason.LENGTH
    assert chat.run(parse("hi")) == 0
    assert out.getvalue() == "The sea is wide.\n"
    shown = err.getvalue()
    assert "loading the model [############............]  50%" in shown
    assert "reading the prompt [############............]  50%  50 of 100 tokens" in shown
    assert "100 of 100 tokens, 2,040 tok/s, 0 s left" in shown
    cleared, _, notes = shown.rpartition("\r")
    assert cleared.endswith(" ") and cleared.rpartition("\r")[2].isspace()
    assert notes.splitlines() == [
        "stopped at the longest answer allowed (--max-tokens)",
        "100 tokens read at 2,040 tok/s, 3 written at 391 tok/s",
    ]


def test_an_answer_that_ends_its_line_gets_no_second_line_end(
    model: FakeModel, capsys: pytest.CaptureFixture[str]
) -> None:
    model.pieces = ("done\n",)
    chat.run(parse("hi"))
    assert capsys.readouterr().out == "done\n"


def test_a_terminal_without_these_characters_gets_marks(model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="latin-1"))
    model.pieces = ("é 🌊",)
    assert chat.run(parse("hi")) == 0
    assert raw.getvalue().decode("latin-1") == "é ?\n"


def test_files_come_before_the_question_as_the_window_sends_them(model: FakeModel, tmp_path: Path) -> None:
    french = "Les élèves étudient à l'école près de la forêt.\n" * 20
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfalpha\nbeta")
    (tmp_path / "b.txt").write_text(french, encoding="utf-16")
    (tmp_path / "c.txt").write_text(french, encoding="latin-1")
    chat.run(parse("Question?", *(word for name in "abc" for word in ("--file", str(tmp_path / f"{name}.txt")))))
    documents = [("a.txt", "alpha\nbeta"), ("b.txt", french), ("c.txt", french)]
    assert model.messages == [Message(Role.USER, question_with_documents("Question?", documents))]
    assert model.messages[0].content.index("alpha") < model.messages[0].content.index("Question?")


def test_a_dash_reads_standard_input(model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Wie geht's?\n")))
    chat.run(parse("-"))
    assert model.messages == [Message(Role.USER, "Wie geht's?")]


def test_a_file_alone_is_enough(model: FakeModel, tmp_path: Path) -> None:
    (tmp_path / "q.md").write_text("# Why?\n")
    chat.run(parse("--file", str(tmp_path / "q.md")))
    assert model.messages == [Message(Role.USER, question_with_documents("", [("q.md", "# Why?\n")]))]


NUMBERS = {0.5: "0.500", 1.0: "1.00", 39.96: "40.0", 99.96: "100", 391.4: "391", 999.6: "1,000", 2044.0: "2,040"}


@pytest.mark.parametrize(("number", "text"), [*NUMBERS.items(), (123456.0, "123,000"), (None, "-")])
def test_numbers_have_three_significant_digits(number: float | None, text: str) -> None:
    assert significant(number) == text


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "Nothing was asked"),
        ([""], "The question is empty"),
        (["  \n "], "The question is empty"),
        (["hi", "--max-tokens", "0"], "--max-tokens is 0"),
        (["hi", "--temperature", "-1"], "temperature is -1"),
        (["hi", "--temperature", "nan"], "temperature is nan"),
        (["hi", "--top-p", "0"], "top-p is 0"),
        (["hi", "--file", "{tmp}/absent.txt"], "absent.txt cannot be read: No such file"),
        (["hi", "--file", "{tmp}"], "is a folder"),
        (["hi", "--file", "{tmp}/binary"], "binary is not a text"),
        (["hi", "--file", "{tmp}/huge"], "huge is larger than 64 MiB"),
    ],
)
def test_wrong_usage_is_one_line_and_status_1(
    model: FakeModel, capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str], complaint: str
) -> None:
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 8)
    with open(tmp_path / "huge", "wb") as file:
        file.truncate((64 << 20) + 1)
    assert cli.main(["chat", *(word.format(tmp=tmp_path) for word in words)]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("haloband: ") and complaint in err and err.count("\n") == 1


def test_errors_of_the_engine_are_one_line(
    model: FakeModel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise UserError("the prompt needs 9 tokens, this session's context holds 5")

    monkeypatch.setattr(model, "generate", refuse)
    assert cli.main(["chat", "hi"]) == 1
    assert capsys.readouterr() == ("", "haloband: the prompt needs 9 tokens, this session's context holds 5\n")


def test_the_embedded_model_answers_as_recorded() -> None:
    """The whole program on real weights: the greedy answer that transformers gives for the same file."""
    command = [sys.executable, "-m", "app.cli", "chat", "Write a short poem about the sea."]
    command += ["--temperature", "0", "--max-tokens", "24", "--json"]
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}  # no spinning beside the other work of a busy machine
    finished = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found = json.loads(finished.stdout)
    assert found["text"] == "Waves come, waves go home.\nSalt wind carries the gulls' cry.\nThe blue does not end."
    assert found["usage"] == {"prompt_tokens": 12, "cached_tokens": 0, "completion_tokens": 23}
    assert found["finish_reason"] == "end" and found["timings"]["decode_tok_s"] > 0
    assert finished.stderr == ""
