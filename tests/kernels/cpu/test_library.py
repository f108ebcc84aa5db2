"""Building and choosing kernels: the fastest build that runs, a readable reason otherwise, no failed install."""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import kernels.cpu
from kernels.cpu import NativeCpu, NativeUnavailable, arguments
from kernels.cpu import build as builder
from kernels.cpu import library as loader
from kernels.cpu.build import SOURCES, BuildError, Variant, variants
from kernels.cpu.library import SWITCH, Library, load_library

ROOT = SOURCES.parents[1]


def load(folder: Path, switch: str = "") -> Library | NativeUnavailable:
    return load_library(2, folder, {SWITCH: switch} if switch else {})


def test_the_fastest_variant_of_this_processor_is_chosen(kernel_folder: Path) -> None:
    chosen = load(kernel_folder)
    assert isinstance(chosen, Library)
    runnable = [v.name for v in variants() if isinstance(load(kernel_folder, v.name), Library)]
    assert chosen.variant == runnable[0]
    assert chosen.reason


def test_the_baseline_runs_on_every_processor_of_its_family(kernel_folder: Path) -> None:
    baseline = variants()[-1]
    assert not baseline.needs
    assert isinstance(load(kernel_folder, baseline.name), Library)


@pytest.mark.parametrize("word", ["off", "OFF", "0", "no"])
def test_the_switch_turns_the_kernels_off(kernel_folder: Path, word: str) -> None:
    assert load(kernel_folder, word) == NativeUnavailable(f"turned off by {SWITCH}={word.lower()}")


def test_the_environment_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "off")
    assert isinstance(kernels.cpu.load(2), NativeUnavailable)


def test_an_unknown_variant_is_named(kernel_folder: Path) -> None:
    answer = load(kernel_folder, "sse9")
    assert isinstance(answer, NativeUnavailable)
    assert "sse9" in answer.reason and variants()[-1].name in answer.reason


def test_without_built_libraries_the_reason_says_so(tmp_path: Path) -> None:
    answer = load(tmp_path)
    assert isinstance(answer, NativeUnavailable)
    assert answer.variant is None
    assert answer.reason.count("not built") == len(variants())


def test_a_processor_without_a_feature_gets_the_next_build(
    kernel_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    baseline = variants()[-1]
    wishful = Variant(baseline.name, (), frozenset({"a-feature-of-tomorrow"}))
    monkeypatch.setattr(loader, "variants", lambda: (wishful, baseline))
    chosen = load(kernel_folder)
    assert isinstance(chosen, Library)
    assert "a-feature-of-tomorrow" in chosen.reason


def test_a_damaged_library_is_passed_over(kernel_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    baseline = variants()[-1]
    damaged = Variant("damaged", (), frozenset())
    (tmp_path / damaged.filename).write_bytes(b"not a library")
    (tmp_path / baseline.filename).write_bytes((kernel_folder / baseline.filename).read_bytes())
    monkeypatch.setattr(loader, "variants", lambda: (damaged, baseline))
    chosen = load(tmp_path)
    assert isinstance(chosen, Library)
    assert chosen.variant == baseline.name and "damaged" in chosen.reason


@pytest.mark.parametrize("threads", [0, -3])
def test_a_pool_needs_a_thread(kernel_folder: Path, threads: int) -> None:
    with pytest.raises(ValueError, match="at least one thread"):
        load_library(threads, kernel_folder, {})


@pytest.mark.parametrize("name", ["attend", "mix", "head", "select"])
def test_the_argument_records_have_the_size_of_the_headers(native: NativeCpu, name: str) -> None:
    size = native.library.function(f"hb_sizeof_{name}", [], ctypes.c_int64)()
    assert ctypes.sizeof(getattr(arguments, f"Hb{name.capitalize()}")) == size


def test_only_the_c_interface_is_visible(native: NativeCpu) -> None:
    with pytest.raises(AttributeError):
        native.library.function("_ZN8haloband4PoolC1Ei", [], None)


@pytest.mark.parametrize("compiler", ["no-such-compiler", "false"])
def test_an_install_without_a_working_compiler_succeeds_with_one_line(tmp_path: Path, compiler: str) -> None:
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", str(tmp_path)],
        cwd=ROOT, env=os.environ | {"CXX": compiler}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    notices = [line for line in done.stdout.splitlines() if line.startswith("notice:")]
    assert done.returncode == 0, done.stderr
    assert len(notices) == 1 and "torch will be used" in notices[0]
    assert not list(tmp_path.rglob("*.so"))


def test_a_source_that_does_not_compile_is_one_line_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = builder.find_compiler()
    if compiler is None:
        pytest.skip("no C++ compiler on this machine")
    broken, target = tmp_path / "sources", tmp_path / "target"
    broken.mkdir(), target.mkdir()
    (broken / "broken.cpp").write_text("int main( { return 0; }\n")
    monkeypatch.setattr(builder, "SOURCES", broken)
    with pytest.raises(BuildError, match=r"broken\.cpp") as failure:
        builder.build_variant(compiler, variants()[-1], target, 1, tmp_path / "objects")
    assert "\n" not in str(failure.value)
    assert not list(target.iterdir())


def test_other_processors_get_one_generic_build() -> None:
    assert [v.name for v in variants("aarch64")] == ["generic"]
    assert variants("AMD64") == variants("x86_64")


@pytest.mark.skipif(builder.find_compiler() is None, reason="no C++ compiler on this machine")
def test_only_changed_sources_are_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = builder.find_compiler()
    assert compiler is not None
    sources, objects = tmp_path / "sources", tmp_path / "objects"
    sources.mkdir()
    (sources / "shared.h").write_text("constexpr int kAnswer = 1;\n")
    for name, first_line in (("a", '#include "shared.h"'), ("b", "enum { kAnswer = 5 };")):
        export = f'extern "C" __attribute__((visibility("default"))) int hb_{name}() {{ return kAnswer; }}'
        (sources / f"{name}.cpp").write_text(f"{first_line}\n{export}\n")
    monkeypatch.setattr(builder, "SOURCES", sources)
    small = Variant("small", (), frozenset())
    builder.build_variant(compiler, small, tmp_path, 1, objects)
    made = {path.name: path.stat().st_mtime_ns for path in objects.rglob("*.o")}
    later = time.time() + 5
    (sources / "shared.h").write_text("constexpr int kAnswer = 2;\n")
    os.utime(sources / "shared.h", (later, later))
    library = builder.build_variant(compiler, small, tmp_path, 1, objects)
    again = {path.name: path.stat().st_mtime_ns for path in objects.rglob("*.o")}
    assert again["a.o"] > made["a.o"] and again["b.o"] == made["b.o"]
    assert ctypes.CDLL(str(library)).hb_a() == 2


@pytest.mark.skipif(builder.find_compiler() is None, reason="no C++ compiler on this machine")
def test_the_lanes_for_other_processors_give_the_bits_of_the_baseline(kernel_folder: Path, tmp_path: Path) -> None:
    """The paths without any x86 instruction, built here by hiding SSE2 from the sources."""
    plain = tmp_path / "plain.so"
    flags = [
        "-std=c++17",
        "-O2",
        "-fPIC",
        "-shared",
        "-ffp-contract=off",
        "-fno-math-errno",
        "-Wno-psabi",
        "-U__SSE2__",
    ]
    command = [str(builder.find_compiler()), *flags, str(SOURCES / "selftest.cpp"), "-o", str(plain)]
    subprocess.run(command, check=True, timeout=300)
    x = torch.cat([torch.linspace(-104, 89, 4096), torch.tensor([float("nan"), 0.0, -0.0, 1e-40] * 4)])
    results = []
    for library in (plain, kernel_folder / variants()[-1].filename):
        handle, out = ctypes.CDLL(str(library)), torch.empty_like(x)
        sums, masks = torch.empty(256), torch.empty(256, dtype=torch.int32)
        for which in range(4):
            count = ctypes.c_int64(x.numel())
            handle.hb_test_function(
                ctypes.c_int64(which), ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(out.data_ptr()), count
            )
            results.append(out.clone())
        handle.hb_test_reduce(*(ctypes.c_void_p(t.data_ptr()) for t in (x, sums, masks)), ctypes.c_int64(256))
        results += [sums, masks]
    half = len(results) // 2
    for got, expected in zip(results[:half], results[half:], strict=True):
        assert torch.equal(got.isnan(), expected.isnan())
        assert torch.equal(got.nan_to_num(), expected.nan_to_num())
