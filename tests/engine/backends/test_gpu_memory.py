"""What an AMD card can allocate by its counters, and what is advised where that is too little."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.backends import gpu_memory
from engine.backends.gpu_memory import advice, available_on_card, available_on_gpu
from engine.gpu_counters import GpuCounters

GIB, MIB = 1 << 30, 1 << 20
GPU = torch.device("cuda")
Machine = Callable[..., Path]


def card(vram: int | None, vram_used: int | None, gtt: int | None, gtt_used: int | None) -> GpuCounters:
    return GpuCounters("card0", vram_used, vram, gtt_used, gtt, None, None)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """The root of a machine with one card of these counters."""

    def make(**counters: int) -> Path:
        device = tmp_path / "sys/class/drm/card0/device"
        device.mkdir(parents=True)
        for name, value in counters.items():
            (device / f"mem_info_{name}").write_text(f"{value}\n")
        return tmp_path

    return make


def test_an_apu_with_a_small_carve_out_allocates_what_main_memory_can_give() -> None:
    """The carve-out is not used at all then."""
    apu = card(GIB, GIB // 2, 100 * GIB, 10 * GIB)
    assert available_on_card(apu, None) == 90 * GIB
    assert available_on_card(apu, 64 * GIB) == 60 * GIB
    assert available_on_card(apu, 2 * GIB) == 0
    assert available_on_card(card(None, None, 100 * GIB, None), None) == 100 * GIB


def test_with_a_large_carve_out_it_is_all_there_is() -> None:
    for gtt in (None, 16 * GIB, 96 * GIB):
        assert available_on_card(card(96 * GIB, 6 * GIB, gtt, 0), 12 * GIB) == 90 * GIB


def test_what_torch_keeps_for_its_next_tensors_can_be_allocated_too(
    monkeypatch: pytest.MonkeyPatch, machine: Machine
) -> None:
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 30 * GIB)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 10 * GIB)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (5 * GIB, 40 * GIB))
    monkeypatch.setattr(torch.version, "hip", None)
    assert available_on_gpu(GPU) == 25 * GIB
    monkeypatch.setattr(torch.version, "hip", "7.2")
    monkeypatch.setattr(gpu_memory, "available_bytes", lambda: 200 * GIB)
    root = machine(vram_total=512 * MIB, vram_used=100 * MIB, gtt_total=62 * GIB, gtt_used=31 * GIB)
    assert available_on_gpu(GPU, root) == 51 * GIB
    assert available_on_gpu(torch.device("cpu"), root) is None


def test_the_limit_that_is_advised_suffices(monkeypatch: pytest.MonkeyPatch, machine: Machine) -> None:
    """Whatever the carve-out is: once it is smaller than the limit it counts for nothing."""
    needed = 84 * GIB
    told = advice(needed, machine(vram_total=32 * GIB, vram_used=0, gtt_total=62 * GIB, gtt_used=GIB))
    assert told.startswith("the GPU may map 62.0 GiB of main memory")
    pages = int(told.split("ttm.pages_limit=")[1].split(",")[0])
    assert available_on_card(card(32 * GIB, 0, pages * 4096, GIB), 200 * GIB) >= needed


def test_a_limit_that_would_suffice_or_is_not_used_is_not_to_be_raised(tmp_path: Path, machine: Machine) -> None:
    root = machine(vram_total=GIB, vram_used=0, gtt_total=100 * GIB, gtt_used=60 * GIB)
    assert advice(90 * GIB, root) == "close other programs that use the GPU or much memory"
    assert advice(90 * GIB, tmp_path / "nowhere") == "close other programs or choose a smaller model"


def test_a_carve_out_that_is_used_alone_is_not_mended_by_the_limit(machine: Machine) -> None:
    root = machine(vram_total=64 * GIB, vram_used=0, gtt_total=31 * GIB, gtt_used=0)
    assert advice(84 * GIB, root) == "close other programs or choose a smaller model"
