"""Every command in README, CONTRIBUTING and docs/ exists as it is printed, and those that can be run are run."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import resources
from app.display import DEBIAN_PACKAGES
from tests.docs.doc_commands import OURS, ROOT, DocCommand, WrongCommandError, check, commands, commands_of

ALL = commands()
BLOCKS = {command.text.replace(".venv/bin/", "") for command in ALL if command.is_block}
PLACEHOLDERS = {name: str(resources.embedded_model()) for name in ("FILE.gguf", "MODEL.gguf")}

# What is run as it stands, in an empty home and with the embedded model.
RUN = (
    'haloband chat "Write a short poem about the sea." --temperature 0 --max-tokens 24 --json',
    "haloband inspect resources/models/ds4-nano.gguf",
    "haloband inspect MODEL.gguf",
    'haloband inspect "synth:v4-flash?recipe=antirez-q2"',
    "haloband memory --config v4-flash --tokens 9133",
    "haloband memory --config v4-flash --tokens 9133 --json",
    "haloband memory --model FILE.gguf --tokens 9133",
    "haloband memory --model MODEL.gguf --tokens 9133",
    "haloband doctor",
)
# What takes longer: these words are added for the quick suite, and the command itself is run by `pytest -m long`.
LONG = {
    'haloband chat "What is this about?" --file README.md': "--max-tokens 4",
    'haloband chat "Why is the sky blue?" --model MODEL.gguf --max-tokens 200': "--max-tokens 4",
    "haloband doctor --model MODEL.gguf": "--quick",
    "haloband bench --plan quick": "--runs 1",
    "haloband bench --plan quick --model MODEL.gguf": "--help",
    "haloband qualify --without-exact --domain prose": "--help",
    "haloband qualify --model MODEL.gguf": "--help",
    "haloband bench --plan seed --model MODEL.gguf --out seed.json": "--help",
    "haloband kernels --target gfx1151 [--json]": "--help",
}
# What no test of this file runs, and why; a file that is named runs it.
NOT_RUN = {
    "make run": "opens the window; tests/e2e/test_answers.py does",
    "make test": "is what runs this test",
    "make setup": "installs packages; make test begins with it",
    "make fuzz": "takes ten minutes; tests/fuzz/test_fuzz.py runs the same targets",
    "python -m pytest -m long": "takes an hour",
    "python -m tests.perf.compare_transformers": "measures; needs a quiet machine and a peer",
    "python -m tests.perf.compare_llama_cpp": "measures; needs a quiet machine and a peer",
    "python -m tests.perf.profile_prefill --tokens 9133": "measures; tests/docs/test_profile.py runs it",
    "python -m pip install transformers==5.24.0": "downloads a peer that is no dependency",
    "python -m pip install llama-cpp-python==0.3.36": "downloads a peer that is no dependency",
    "python -m pip install torch --index-url ADDRESS": "downloads; the address comes from AMD's page",
    "python3 -m venv .venv": "Python's own",
    "python3 -m pytest tests/kernels/hip": "runs with the whole suite",
    "python3 tests/gpu/run_all.py": "needs a GPU",
    "python3 tests/gpu/full_model.py": "needs a GPU",
    "python3 tests/gpu/compare_transformers.py --rounds 5 --decode 32": "needs a GPU",
    "python3 -m pytest -m gpu tests/gpu/test_models.py": "needs a GPU",
    "python3 -m pytest -m gpu tests/gpu/test_tiny.py": "needs a GPU",
    "python packaging/model all --out build/model": "trains; tests/packaging/model/test_recipe.py runs it in toy size",
    "python packaging/model evaluate --out build/model --compare build/before.gguf build/first.gguf": "takes "
    "45 minutes; tests/packaging/model/test_recipe.py",
    "python packaging/model page --out build/model": "writes into the docs; tests/packaging/model/test_recipe.py",
    "sudo usermod -aG render,video $USER": "changes the system",
    "sudo apt install git make g++ python3-venv": "changes the system",
    f"sudo apt install {DEBIAN_PACKAGES}": "changes the system; .ci/run does",
    "git clone https://github.com/haloband/haloband && cd haloband": "downloads",
    "haloband kernels --update-page docs/kernels.md": "writes into the docs; tests/kernels/hip/test_kernel_builds.py",
    "haloband synth OUT.gguf --config v4-flash --layers 4 --recipe bf16 [--seed N] [--force] [--json]": "writes "
    "gigabytes; tests/engine/test_synth_file.py",
    "haloband convert IN OUT.gguf --recipe q8|mix [--check] [--force] [--read-as ID=NAME] [--json]": "a synopsis; "
    "tests/app/commands/test_convert_command.py",
}


def run(text: str, home: Path) -> subprocess.CompletedProcess[str]:
    """A haloband command as a person's shell would run it, in the checkout and with an empty home."""
    for name, value in PLACEHOLDERS.items():
        text = text.replace(name, value)
    _, *words = shlex.split(text)
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    homes = {"HOME": str(home), "QT_QPA_PLATFORM": "offscreen", "OMP_WAIT_POLICY": "passive", "TMPDIR": str(home)}
    return subprocess.run(
        [sys.executable, "-m", "app.cli", *words],
        cwd=ROOT, env=kept | homes, capture_output=True, text=True, check=False, timeout=3600,
    )  # fmt: skip


def assert_answers(text: str, home: Path) -> str:
    done = run(text, home)
    reports = shlex.split(text)[1] in ("doctor", "qualify")  # they end with 1 where the report they print is a bad one
    assert done.returncode in ((0, 1) if reports else (0,)), done.stderr
    assert done.stdout.strip() and "Traceback" not in done.stderr
    return done.stdout


@pytest.mark.parametrize("command", ALL, ids=lambda command: f"{command.page}: {command.text[:70]}")
def test_the_command_exists_as_it_is_printed(command: DocCommand) -> None:
    if command.is_block and command.words[0] not in OURS:
        assert command.text in NOT_RUN, f"{command.page}: {command.text!r} is of no program that is known here"
    else:
        check(command)


def test_every_command_is_run_or_says_why_not() -> None:
    told = [*RUN, *LONG, *NOT_RUN]
    assert len(told) == len(set(told))
    assert BLOCKS - set(told) == set(), "run it, or say why not"
    assert set(told) - BLOCKS == set(), "no page prints it any more"


def test_what_the_reasons_name_is_there() -> None:
    for command, reason in NOT_RUN.items():
        for name in re.findall(r"tests/\S+\.py", reason):
            assert (ROOT / name).is_file(), f"{command}: {name}"


@pytest.mark.parametrize("text", RUN)
def test_it_runs(text: str, tmp_path: Path) -> None:
    said = assert_answers(text, tmp_path)
    if text.endswith("--json"):
        assert json.loads(said)


@pytest.mark.parametrize(("text", "more"), LONG.items())
def test_a_short_form_of_it_runs(text: str, more: str, tmp_path: Path) -> None:
    assert_answers(f"{text.replace('[--json]', '')} {more}", tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("text", LONG)
def test_it_runs_in_full(text: str, tmp_path: Path) -> None:
    assert_answers(text.replace("[--json]", "").replace("seed.json", str(tmp_path / "seed.json")), tmp_path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```sh\nhaloband bnch --plan quick\n```\n", "bnch"),
        ("```sh\nhaloband bench --plan quick --rums 2\n```\n", "rums"),
        ("    haloband bench --plan quickest\n", "quickest"),
        ("Then `haloband qualify --domains code` does it.\n", "--domains"),
        ("Then `haloband qualfy` does it.\n", "qualfy"),
        ("```sh\nmake tset      # everything\n```\n", "tset"),
        ("```sh\npython -m tests.perf.profile_prefill --token 5\n```\n", "--token"),
        ("```sh\npython -m tests.perf.nothing\n```\n", "tests.perf.nothing"),
        ("```sh\npython -m nothing.at.all\n```\n", "nothing.at.all"),
        ("```sh\npython3 tests/gpu/run_everything.py\n```\n", "run_everything"),
        ("```sh\n.venv/bin/python -m pytest -m longest\n```\n", "longest"),
        ("```sh\nhaloband convert IN OUT.gguf --recipe q8|mixed\n```\n", "mixed"),
    ],
)
def test_a_wrong_command_is_found(text: str, complaint: str) -> None:
    (command,) = commands_of("page.md", text)
    with pytest.raises(WrongCommandError, match=complaint):
        check(command)


def test_a_misspelt_program_is_no_known_one() -> None:
    (command,) = commands_of("page.md", "```sh\nhalobnd chat\n```\n")
    assert command.words[0] not in OURS and command.text not in NOT_RUN


def test_comments_are_left_out() -> None:
    page = '```sh\nmake test   # all\nhaloband chat "a # b"\n```\n\n    haloband doctor      what is amiss\n'
    assert [command.text for command in commands_of("page.md", page)] == [
        "make test",
        'haloband chat "a # b"',
        "haloband doctor",
    ]
