"""Where no window can open, one sentence says why and what to do, and nothing is taken for a crash."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from app import cli, display
from app.doctor.finding import Severity
from app.paths import app_paths
from tests.app.doctor.recorded import findings, host

ROOT = Path(__file__).resolve().parents[2]
NO_PLACE = "libnowhere.so.7: cannot open shared object file: No such file or directory"


def start(tmp_path: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in display._DISPLAY_VARIABLES}
    return subprocess.run(
        [sys.executable, "-m", "app.cli", "--data-dir", str(tmp_path)],
        cwd=ROOT,
        env={**environment, "XDG_RUNTIME_DIR": str(tmp_path), **changes},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux names its displays")
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"DISPLAY": ":4242"}, "The display :4242 does not answer, so the window cannot open."),
        ({"WAYLAND_DISPLAY": "wayland-42"}, "The display wayland-42 does not answer, so the window cannot open."),
        ({"QT_QPA_PLATFORM": "cinema"}, "Qt cannot open a window with QT_QPA_PLATFORM=cinema."),
    ],
)
def test_a_display_that_does_not_answer_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], sentence: str
) -> None:
    for name in display._DISPLAY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in changes.items():
        monkeypatch.setenv(name, value)
    library = display.missing_window_library()
    if library is not None and "QT_QPA_PLATFORM" not in changes:
        sentence = display.library_is_missing(library)
    ended = start(tmp_path, **changes)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"haloband: {sentence}") and ended.stderr.count("\n") == 1
    assert 'chat "' in ended.stderr
    assert "Fatal" not in app_paths(tmp_path).crash_file.read_text()
    assert "Qt" in app_paths(tmp_path).log_file.read_text()


@pytest.fixture
def incomplete(tmp_path: Path) -> Path:
    """A library that needs one which is not there."""
    (tmp_path / "unit.c").write_text("int one(void);\nint two(void) { return one(); }\n")
    (tmp_path / "gone.c").write_text("int one(void) { return 1; }\n")
    gone, library = tmp_path / "libnowhere.so.7", tmp_path / "libplatform.so"
    for command in (
        ["g++", "-shared", "-fPIC", "-Wl,-soname,libnowhere.so.7", tmp_path / "gone.c", "-o", gone],
        ["g++", "-shared", "-fPIC", tmp_path / "unit.c", gone, "-o", library],
    ):
        subprocess.run(command, check=True)
    gone.unlink()
    return library


def test_a_library_that_the_window_misses_is_found(incomplete: Path) -> None:
    assert display.missing_window_library(incomplete) == "libnowhere.so.7"


@pytest.mark.parametrize(("display_name", "plugin"), [("DISPLAY", "libqxcb.so"), ("WAYLAND_DISPLAY", "libqwayland.so")])
def test_the_plugin_of_the_named_display_is_tried(
    monkeypatch: pytest.MonkeyPatch, display_name: str, plugin: str
) -> None:
    """Wayland needs fewer libraries: a machine without those of X11 opens its window."""
    tried: list[str] = []
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv(display_name, "some")
    monkeypatch.setattr("ctypes.CDLL", lambda path: tried.append(Path(path).name))
    assert display.missing_window_library() is None
    assert tried == [plugin]


@pytest.mark.parametrize(
    ("error", "library"),
    [
        (ImportError(NO_PLACE), "libnowhere.so.7"),
        (OSError("libEGL.so.1: cannot open shared object file: No such file or directory"), "libEGL.so.1"),
        (OSError("libqxcb.so: file too short"), None),
        (ImportError("No module named 'PySide6'"), None),
    ],
)
def test_only_a_missing_library_is_called_one(error: Exception, library: str | None) -> None:
    assert display.missing_library(error) == library


def test_a_window_that_cannot_be_imported_for_want_of_a_library(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def import_module(name: str) -> SimpleNamespace:
        raise ImportError(NO_PLACE)

    monkeypatch.setattr(cli, "has_display", lambda *_: True)
    monkeypatch.setattr("importlib.import_module", import_module)
    assert cli.main([]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert "libnowhere.so.7 is missing" in err and f"sudo apt install {display.DEBIAN_PACKAGES}" in err


def test_an_import_that_fails_for_another_reason_keeps_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def import_module(name: str) -> SimpleNamespace:
        raise ImportError("a mistake of ours")

    monkeypatch.setattr(cli, "has_display", lambda *_: True)
    monkeypatch.setattr("importlib.import_module", import_module)
    with pytest.raises(ImportError, match="a mistake of ours"):
        cli.main([])


@pytest.mark.parametrize("is_packaged", [False, True])
def test_the_doctor_finds_a_missing_library(tmp_path: Path, is_packaged: bool) -> None:
    found = findings(host(tmp_path, is_packaged=is_packaged, missing_window_library="libxcb-cursor.so.0"))
    finding = found["window_libraries"]
    assert finding.severity is Severity.WARNING
    assert finding.found == "libxcb-cursor.so.0 is missing" and "libxcb-cursor0" in finding.advice
    assert "window_libraries" not in findings(host(tmp_path, is_packaged=is_packaged))


@pytest.mark.parametrize("place", [".ci/run", "README.md", "packaging/build_deb.py"])
def test_the_packages_are_those_of_every_other_place(place: str) -> None:
    assert set(display.DEBIAN_PACKAGES.split()) <= set(
        (ROOT / place).read_text().replace('"', " ").replace(",", " ").split()
    )
