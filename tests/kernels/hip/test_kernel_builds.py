"""Every kernel compiles for gfx1151, gfx1150 and sm_90 without a GPU, inside its budgets and without a spill."""

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kernels.cache import CodeCache
from kernels.catalog import Entry, catalogue
from kernels.errors import KernelBuildError, KernelUnavailableError
from kernels.nvrtc_builder import NvrtcBuilder
from kernels.report import TARGETS, KernelReport, build_report, write_table
from kernels.resources import instructions, read_resources
from kernels.source import KernelSource
from kernels.zig_builder import ZigBuilder, find_zig

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "kernels.md"
ENTRIES = catalogue(TARGETS[0])
NVIDIA_ENTRIES = catalogue("sm_90")

pytest.importorskip("ziglang", reason="the gfx compiler (ziglang) is not installed")


@pytest.fixture(scope="module")
def reports() -> dict[str, KernelReport]:
    """What was compiled before, from the same source by the same compiler, is not compiled again."""
    cache = CodeCache(HERE.parents[2] / "build" / "kernel-assembly")
    return {target: build_report(target, strict=True, cache=cache) for target in TARGETS}


@pytest.fixture(params=TARGETS)
def report(request: pytest.FixtureRequest, reports: dict[str, KernelReport]) -> KernelReport:
    return reports[request.param]


def test_no_kernel_breaks_a_rule(report: KernelReport) -> None:
    """Spills, scratch, register and LDS budgets, the instructions meant, and no wave exchange under a lane mask."""
    assert len(report.rows) == len(ENTRIES)
    complaints = [f"{row.entry.source.label}: {text}" for row in report.rows for text in row.complaints]
    assert complaints == []


def test_the_table_of_the_docs_is_the_current_one(tmp_path: Path, reports: dict[str, KernelReport]) -> None:
    """Regenerate it with: haloband kernels --update-page docs/kernels.md"""
    copy = tmp_path / "kernels.md"
    copy.write_text(PAGE.read_text())
    write_table(reports[TARGETS[0]], copy)
    assert copy.read_text() == PAGE.read_text()


def test_the_report_is_plain_json(report: KernelReport) -> None:
    found = json.loads(json.dumps(report.as_json()))
    assert found["target"] == report.target
    by_name = {kernel["kernel"]: kernel for kernel in found["kernels"] if kernel["shape"] == "v4-flash"}
    attention = by_name["attention_rows"]
    assert attention["defines"]["WIDTH"] == 512 and attention["lds_bytes"] == 32768 and attention["workgroup"] == 512
    assert attention["instructions"]["v_fma_mix_f32"] > 0


@pytest.mark.parametrize(("target", "machine"), [("gfx1151", 0x4A), ("gfx1150", 0x43)])
def test_a_code_object_is_an_elf_file_for_its_gpu(target: str, machine: int) -> None:
    image = ZigBuilder(target).build(ENTRIES[0].source)
    assert image[:4] == b"\x7fELF"
    assert int.from_bytes(image[18:20], "little") == 224  # EM_AMDGPU
    assert int.from_bytes(image[48:52], "little") & 0xFF == machine


def test_a_refused_kernel_names_itself_the_target_and_the_line() -> None:
    with pytest.raises(KernelBuildError, match=r"norm_rope.*gfx1151.*ziglang") as refused:
        ZigBuilder("gfx1151").build(KernelSource("norm_rope", "norm_rope", (), 256))
    assert "norm_rope.hip" in refused.value.log


def test_without_a_compiler_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(KernelUnavailableError, match="ziglang"):
        build_report("gfx1151")


def test_the_lane_0_store_comes_after_the_whole_wave_sum() -> None:
    """The miscompile of older clang: the last exchange sinks under the mask of `if (lane == 0)`."""
    source = KernelSource("lane_store", "lane_store", (), 32, folder=HERE / "probes")
    names = [name for name, _ in instructions(ZigBuilder("gfx1151").assembly(source))]
    exchange = max(i for i, name in enumerate(names) if name.startswith("v_permlanex16"))
    narrowing = min(i for i, name in enumerate(names) if name.startswith(("v_cmpx", "s_and_saveexec")))
    store = max(i for i, name in enumerate(names) if name.startswith("global_store"))
    assert exchange < narrowing < store


def test_assembly_without_metadata_is_refused() -> None:
    with pytest.raises(ValueError, match="vgpr_count"):
        read_resources("\ts_endpgm")


def check_ptx(entry: Entry, folder: Path) -> str:
    """What clang says about the kernel for sm_90: nothing, when it is well. Works in a new folder of this name."""
    folder.mkdir()
    unit = folder / "kernel.cu"
    unit.write_text(entry.source.text())
    command = [str(find_zig()), "clang", "-x", "cuda", "--cuda-gpu-arch=sm_90", "-nocudainc", "-nocudalib"]
    command += ["--cuda-device-only", "-std=c++17", "-O1", "-S", "-Wall", "-Wno-unused-function"]
    command += ["-Wno-unknown-cuda-version", "-Wno-unused-const-variable", "-Wno-pass-failed"]
    command += ["-include", str(HERE / "clang_cuda.h"), str(unit), "-o", str(folder / "kernel.ptx")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr or (f"exit status {done.returncode}" if done.returncode else "")


def test_a_clang_that_dies_without_a_word_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = subprocess.CompletedProcess([], returncode=-9, stdout="", stderr="")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: killed)
    assert check_ptx(NVIDIA_ENTRIES[0], tmp_path / "kernel") == "exit status -9"


def test_every_kernel_compiles_for_sm_90_with_clang(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(len(NVIDIA_ENTRIES))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        assert [text for text in pool.map(check_ptx, NVIDIA_ENTRIES, folders) if text] == []


@pytest.mark.long
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on this machine; clang checked the sources")
def test_every_v4_flash_kernel_compiles_for_sm_90_with_nvcc_without_spills(tmp_path: Path) -> None:
    for entry in NVIDIA_ENTRIES:
        if entry.shape.name != "v4-flash":
            continue
        unit = tmp_path / "kernel.cu"
        unit.write_text(entry.source.text())
        command = ["nvcc", "-std=c++17", "-arch=sm_90", "-cubin", "-Xptxas", "-v", str(unit), "-o", f"{unit}bin"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{entry.source.label}: {done.stderr}"
        spilled = [line for line in done.stderr.splitlines() if "spill stores" in line and " 0 bytes spill" not in line]
        assert spilled == [], entry.source.label


def test_nvrtc_builds_what_nvcc_builds() -> None:
    pytest.importorskip("cuda.bindings.nvrtc", reason="cuda-bindings is not installed")
    image = NvrtcBuilder("sm_90").build(NVIDIA_ENTRIES[0].source)
    assert image[:4] == b"\x7fELF"
    with pytest.raises(KernelBuildError, match=r"norm_rope.*sm_90.*nvrtc") as refused:
        NvrtcBuilder("sm_90").build(KernelSource("norm_rope", "norm_rope", (), 256))
    assert "norm_rope.hip" in refused.value.log
