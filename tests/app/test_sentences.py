"""What the engine, the doctor and the store say is shown in the window's language, with its values."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication

from app.bench import words as bench_words
from app.errors import describe_error
from app.files import why_not_written
from app.qualify import words as qualify_words
from app.sentences import translated
from app.window_language import install_language
from engine.bench.history import Setting, SettingChange
from engine.errors import ContextFullError, EngineError, UserError
from engine.mapped_file import map_file
from engine.qualify.records import Check
from engine.sampling import Sampling
from kernels.errors import KernelBuildError, KernelLaunchError, KernelUnavailableError
from resources import ROOT
from tests.app.doctor.recorded import RECORDINGS, findings, host

SENTENCES: list[str] = json.loads((ROOT / "translations" / "sentences.json").read_text(encoding="utf-8"))
SLOT = re.compile(r"\{(\w+)(?::(\w))?\}")


@pytest.fixture
def english(qapp: QApplication) -> None:
    install_language(qapp, "en")


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    install_language(qapp, "de")
    yield
    install_language(qapp, "en")


def filled(template: str, number: str = "1,234.5", value: str = "k/ä.gguf") -> str:
    """A sentence as the engine would say it."""
    text = SLOT.sub(lambda slot: number if slot[2] == "n" else value, template)
    return text.replace("{{", "{").replace("}}", "}")


@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_sentence_is_known_again_with_its_values(sentence: str, german: None) -> None:
    target = QCoreApplication.translate("Sentences", sentence)
    assert translated(filled(sentence)) == filled(target, number="1.234,5")


@pytest.mark.parametrize("sentence", SENTENCES)
def test_in_english_a_sentence_stays_as_it_is(sentence: str, english: None) -> None:
    assert translated(filled(sentence)) == filled(sentence)


def test_errors_of_the_engine_are_shown_in_german(german: None, tmp_path: Path) -> None:
    with pytest.raises(UserError) as missing:
        map_file(tmp_path / "none.gguf", "GGUF model file")
    assert translated(str(missing.value)) == f"{tmp_path}/none.gguf gibt es nicht; wählen Sie eine GGUF-Modelldatei."
    with pytest.raises(UserError) as hot:
        Sampling(temperature=200.0)
    assert (
        translated(describe_error(hot.value).message)
        == "Die Temperatur ist 200.0, muss aber zwischen 0 und 100 liegen."
    )


@pytest.mark.parametrize(
    ("english", "shown"),
    [
        (
            "a.gguf is damaged: the type of tensor 'x' at byte 1,234 is 99, which is not a known number format.",
            "a.gguf ist beschädigt: der Typ von Tensor 'x' bei Byte 1.234 ist 99, kein bekanntes Zahlenformat.",
        ),
        (
            "a.gguf: on the GPU this model needs 90.5 GiB of memory (weights 80.1), and 62.0 GiB are available; the "
            "GPU may map 62 GiB of main memory: raise that limit with the kernel parameter ttm.pages_limit=24379392, "
            "or choose a smaller model",
            "a.gguf: Auf der GPU braucht dieses Modell 90,5 GiB Speicher (Gewichte 80,1), und 62,0 GiB sind frei; die "
            "GPU darf 62 GiB des Hauptspeichers benutzen: Erhöhen Sie diese Grenze mit dem Kernel-Parameter "
            "ttm.pages_limit=24379392, oder wählen Sie ein kleineres Modell",
        ),
        (
            "a.gguf: tensor blk.0: Weights of type 7 are of no known number format.",
            "a.gguf: Tensor blk.0: Gewichte vom Typ 7 haben kein bekanntes Zahlenformat.",
        ),
        (
            "a.gguf: tensor b.0: Type 107 cannot be read as 'x'; it can be nothing that can be read.",
            "a.gguf: Tensor b.0: Typ 107 kann nicht als 'x' gelesen werden; möglich: nichts, was gelesen werden kann.",
        ),
        ("b.json: the disk is full", "b.json: das Laufwerk ist voll"),
        ("c.gguf: the prompt is empty", "c.gguf: Der Prompt ist leer"),
        ("62.5 GiB", "62,5 GiB"),
        ("avx512, 2 threads", "avx512, 2 Threads"),
        ("avx2, 1 thread", "avx2, 1 Thread"),
        (
            "plain torch: avx512: this processor lacks avx512f, avx512bw; avx2: not built; x86_64_v2: not built; "
            "not on the GPU: this torch sees no GPU",
            "nur torch: avx512: dieser Prozessor hat nicht: avx512f, avx512bw; avx2: nicht gebaut; "
            "x86_64_v2: nicht gebaut; nicht auf der GPU: dieses torch sieht keine GPU",
        ),
        (
            "HALOBAND_NATIVE=sse names none of avx512, avx2",
            "HALOBAND_NATIVE=sse nennt keine dieser Varianten: avx512, avx2",
        ),
        ("turned off by HALOBAND_NATIVE=none", "ausgeschaltet durch HALOBAND_NATIVE=none"),
        (
            "avx2, 8 threads; decodes layer by layer: not built",
            "avx2, 8 Threads; rechnet Decode Schicht für Schicht: nicht gebaut",
        ),
        ("avx2: not built; nobody knows", "avx2: not built; nobody knows"),
    ],
)
def test_sentences_in_sentences_and_numbers(english: str, shown: str, german: None) -> None:
    assert translated(english) == shown


REFUSED = "kernel bands.attend[16] does not build for gfx1151 with hiprtc 7.2"
REFUSED_DE = "Kernel bands.attend[16] lässt sich mit hiprtc 7.2 nicht für gfx1151 übersetzen: "
REFUSED_SILENTLY_DE = "Kernel bands.attend[16] lässt sich nicht für gfx1151 übersetzen; hiprtc 7.2 nennt keinen Fehler"


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("a.hip:3:1: error: unknown type 'half'\n1 error", f"{REFUSED_DE}a.hip:3:1: error: unknown type 'half'"),
        (
            "a.hip:3:1: error: the disk is full\n" + "note: 1,234.5 of the rest\n" * 400,
            f"{REFUSED_DE}a.hip:3:1: error: the disk is full",
        ),
        ("ld: nothing to be done", REFUSED_SILENTLY_DE),
    ],
)
def test_a_kernel_that_does_not_build_is_told_in_german_and_its_log_as_it_is(log: str, said: str, german: None) -> None:
    failure = KernelBuildError("bands.attend[16]", "gfx1151", "hiprtc 7.2", log)
    assert str(failure).startswith(REFUSED)
    told = translated(describe_error(EngineError(f"{failure}\n{failure.log}")).message)
    assert told == f"{said}\n{log}"


def test_a_kernel_that_does_not_run_is_told_in_german(german: None) -> None:
    failure = KernelLaunchError("routing.route", "NVIDIA H200", "cuLaunchKernel", "CUDA_ERROR_INVALID_VALUE")
    assert translated(str(failure)) == (
        "Kernel routing.route ist auf NVIDIA H200 gescheitert: cuLaunchKernel gab CUDA_ERROR_INVALID_VALUE zurück"
    )
    missing = KernelUnavailableError("NVRTC cannot be loaded (No module named 'cuda')")
    assert translated(str(missing)) == "NVRTC kann nicht geladen werden (No module named 'cuda')"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A part of it",
        "no idea: of what",
        "x" * 5_000,
        "{}",
        "{0} {name}",
        "out of range of {used:n}",
        "Modell: Quelle",
    ],
)
def test_what_is_not_known_stays_as_it_is(text: str, german: None) -> None:
    assert translated(text) == text


@pytest.mark.parametrize(("text", "times"), [("one line", 1), ("two\nlines", 2)])
def test_a_text_is_looked_up_as_a_whole_only_where_its_first_line_is_a_part(
    text: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up = Mock(return_value=None)
    monkeypatch.setattr("app.sentences._known", look_up)
    assert translated(text) == text
    assert look_up.call_count == times


def test_a_path_is_shown_as_it_is_whatever_it_says(german: None) -> None:
    path = "/models/{name} is empty, 1,234 of the disk is full: none"
    assert path in translated(f"{path} does not exist; choose a GGUF model file.")


@pytest.mark.parametrize("machine", sorted(path.stem for path in RECORDINGS.glob("*.toml")))
def test_the_doctor_speaks_german_on_every_recorded_machine(machine: str, german: None, tmp_path: Path) -> None:
    said = {
        text
        for finding in findings(host(tmp_path, machine)).values()
        for text in (finding.found, finding.wanted, finding.advice)
    }
    english = {
        text for text in said if translated(text) == text and re.search(r"\b(the|is|not|for|with|of|and|or|by)\b", text)
    }
    assert english == set()
    assert sum(translated(text) != text for text in said) > 10


def test_what_a_benchmark_and_a_qualification_say_is_german(german: None) -> None:
    reasons = ("other programs kept 1.5 processor cores busy", "the machine runs on its battery")
    assert bench_words.not_quiet_text(reasons) == (
        "Der Rechner war nicht ruhig: andere Programme beschäftigten 1,5 Prozessorkerne; der Rechner läuft im "
        "Akkubetrieb."
    )
    check = Check("state", True, 1.0, 1.0, "all hashes are equal within each arm")
    assert qualify_words.check_text(check) == "Zustand, gilt: alle Hashes sind in jedem Arm gleich"
    assert bench_words.test_name("pp9133 [8,192 + 941, cold]") == "pp9133 [8.192 + 941, kalt]"


def test_the_kernels_of_two_benchmarks_are_compared_in_german(german: None) -> None:
    change = SettingChange(Setting.KERNELS, "plain torch: not built", "avx2, 8 threads")
    assert bench_words.change_text(change) == "Kernel der Ausführung: nur torch: nicht gebaut, jetzt avx2, 8 Threads"


def test_reasons_of_a_failed_write_are_german(german: None) -> None:
    assert translated(why_not_written(OSError(28, "No space left on device"))) == "das Laufwerk ist voll"


def test_bugs_and_full_contexts_are_german(german: None) -> None:
    assert translated(describe_error(ValueError("x")).message).startswith(
        "Haloband hat einen Fehler gemacht (ValueError: x)"
    )
    full = ContextFullError("the prompt needs 9133 tokens, this session's context holds 512")
    assert translated(str(full)) == "Der Prompt braucht 9133 Tokens, der Kontext dieser Sitzung fasst 512"
