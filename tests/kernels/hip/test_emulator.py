"""The emulator itself: what a GPU would do wrong it must report, and its primitives must be plain arithmetic."""

import shutil
from pathlib import Path

import pytest
import torch

from kernels.cache import CodeCache
from kernels.errors import KernelBuildError, KernelLaunchError
from kernels.launch import Launcher
from kernels.source import KernelSource
from tests.kernels.hip import emulated
from tests.kernels.hip.emulated import FOLDER, EmulatorBuilder, GuardedBuffers, compiler_identity, nmse, replay

PROBES = Path(__file__).parent / "probes"


def probe(name: str, threads: int, **defines: int) -> KernelSource:
    return KernelSource(name, name, tuple(defines.items()), threads, folder=PROBES)


def reversed_by_lds(launcher: Launcher, buffers: GuardedBuffers, barrier: int) -> torch.Tensor:
    values = torch.arange(64.0)

    def run() -> torch.Tensor:
        out = buffers.new(64)
        launcher.kernel(probe("missing_barrier", 64, BARRIER=barrier))((1, 1, 1), values=values, out=out)
        return out

    result: torch.Tensor = replay(launcher, run)
    return result


def test_a_missing_barrier_shows_as_a_difference_between_thread_orders(
    launcher: Launcher, buffers: GuardedBuffers
) -> None:
    with pytest.raises(AssertionError, match="order of threads"):
        reversed_by_lds(launcher, buffers, barrier=0)
    assert torch.equal(reversed_by_lds(launcher, buffers, barrier=1), torch.arange(63.0, -1, -1))


@pytest.mark.parametrize(("kind", "words"), [(0, "stand at different exchanges"), (1, "only some waves")])
def test_divergent_exchanges_are_reported(launcher: Launcher, kind: int, words: str) -> None:
    kernel = launcher.kernel(probe("divergent", 64, KIND=kind))
    with pytest.raises(KernelLaunchError, match=words):
        kernel((1, 1, 1), out=torch.zeros(64))


def test_a_write_past_the_end_is_found(launcher: Launcher) -> None:
    for beyond in (0, 1):
        guarded = GuardedBuffers()
        out = guarded.new(5)
        launcher.kernel(probe("stray_write", 32, BEYOND=beyond))((1, 1, 1), out=out, count=5)
        if beyond:
            with pytest.raises(AssertionError, match="outside its buffer"):
                guarded.check()
        else:
            guarded.check()
            assert out.tolist() == [1.0] * 5


@pytest.mark.parametrize(("to", "source"), [(0, 0), (16, 0), (-16, 0), (8, 0), (0, 2)])
def test_an_asynchronous_copy_that_hardware_refuses_is_reported(launcher: Launcher, to: int, source: int) -> None:
    """Past either end of the pool, also where other LDS follows; or not aligned to 16 bytes."""
    defines = (("TO", to), ("FROM", source))
    kernel = launcher.kernel(KernelSource("stray_copy", "stray_copy", defines, 32, 512, folder=PROBES))
    values, out = torch.arange(528).to(torch.uint8), torch.zeros(512, dtype=torch.uint8)
    if to or source:
        with pytest.raises(KernelLaunchError, match="leaves the pool"):
            kernel((1, 1, 1), values=values, out=out)
    else:
        kernel((1, 1, 1), values=values, out=out)
        assert torch.equal(out, values[:512])


def test_wave_primitives_and_matrix_layouts(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    values = torch.randn(32, generator=random)
    a, b = torch.randn(16, 16, generator=random).half(), torch.randn(16, 16, generator=random).half()

    def run() -> tuple[torch.Tensor, torch.Tensor]:
        product, lanes = buffers.new(16, 16), buffers.new(32, 7)
        kernel = matrix_launcher.kernel(probe("primitives", 32))
        kernel((1, 1, 1), values=values, a=a, b=b, product=product, lanes=lanes)
        return product, lanes

    product, lanes = replay(matrix_launcher, run)
    assert nmse(product, 2 * a.double() @ b.double().T) <= 1e-12
    assert torch.allclose(lanes[:, 0], values.sum().expand(32), atol=1e-5)
    assert bool((lanes[:, 0] == lanes[0, 0]).all()), "lanes must hold one sum, bit for bit"
    assert bool((lanes[:, 1] == values.max()).all())
    assert torch.equal(lanes[:, 2], values.view(16, 2).flip(1).flatten())
    assert bool((lanes[:, 3] == values[5]).all())
    assert lanes[:, 4].tolist() == [lane * (lane - 1) / 2 for lane in range(32)]
    assert bool((lanes[:, 5] == (values > 0).sum()).all())
    assert torch.allclose(lanes[:, 6], values.sum() * (torch.arange(32) % 8 + 1), atol=1e-4)


def test_half_conversions_are_the_hardware_ones(launcher: Launcher, buffers: GuardedBuffers) -> None:
    """Every F16 value widens as torch widens it; floats at, below and above every tie narrow as torch narrows them."""
    halves = torch.arange(65536, dtype=torch.int32).to(torch.int16).view(torch.float16)
    exact = halves.float()
    step = torch.nextafter(exact.half(), torch.tensor(torch.inf).half()).float()
    ties = (exact.double() + step.double()).div(2).float()
    floats = torch.where(torch.arange(65536) % 3 == 0, ties, exact * (1 + 1e-4))
    widened, narrowed = buffers.new(65536), buffers.new(65536, dtype=torch.float16)
    kernel = launcher.kernel(probe("conversions", 256))
    kernel((256, 1, 1), halves=halves, floats=floats, widened=widened, narrowed=narrowed)
    assert torch.equal(widened.nan_to_num(7.0), exact.nan_to_num(7.0))
    assert torch.equal(narrowed.nan_to_num(7.0), floats.half().nan_to_num(7.0))


@pytest.mark.parametrize("header", sorted(path.name for path in FOLDER.glob("*.h")))
def test_a_changed_header_is_another_compiler(tmp_path: Path, header: str) -> None:
    """So a kernel that was kept is compiled again."""
    changed = Path(shutil.copytree(FOLDER, tmp_path / "emulator"))
    assert compiler_identity(changed) == compiler_identity(FOLDER)
    (changed / header).write_text((changed / header).read_text() + "// changed\n")
    assert compiler_identity(changed) != compiler_identity(FOLDER)


@pytest.mark.parametrize("options", ["CXX", "WARNINGS", "PRECOMPILING", "INCLUDING"])
def test_a_kept_kernel_is_compiled_again_with_other_options(
    tmp_path: Path, options: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, source, compiled = CodeCache(tmp_path / "kept"), probe("stray_write", 32, BEYOND=0), []

    def compile_and_note(builder: EmulatorBuilder, source: KernelSource) -> bytes:
        compiled.append(builder.scratch.name)
        return build(builder, source)

    build = EmulatorBuilder.build
    monkeypatch.setattr(EmulatorBuilder, "build", compile_and_note)
    for scratch in ("first", "again", "changed"):
        (tmp_path / scratch).mkdir()
        if scratch == "changed":
            monkeypatch.setattr(emulated, options, (*getattr(emulated, options), "-pipe"))
        kept.get(source, EmulatorBuilder(tmp_path / scratch))
    assert compiled == ["first", "changed"]


def test_standard_headers_are_taken_as_precompiled(tmp_path: Path) -> None:
    """A damaged precompiled form is seen, which shows that it is used."""
    builder, source = EmulatorBuilder(tmp_path), probe("stray_write", 32, BEYOND=0)
    assert builder.build(source)[:4] == b"\x7fELF"
    (tmp_path / "standard.h.gch").write_text("no precompiled header")
    with pytest.raises(KernelBuildError, match=r"standard\.h\.gch"):
        builder.build(source)
