"""Builds, checks, replays and times every kernel on the GPU of this machine; prints one table.

Started by run_all.py. Needs torch for the GPU and either hip-python (ROCm) or cuda-bindings (NVIDIA). Each
kernel runs at V4-Flash shapes into poisoned outputs on fresh random inputs, is compared with float64, replayed 100
times comparing bits, and timed; bytes and operations are set against the copy bandwidth and the bf16 matrix rate
measured in the same run. With OUT set, kernels.json goes there. Exit status 1 if any result is wrong.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import torch  # the path must be set first, so that this runs from a plain checkout

from kernels.builder import Builder
from kernels.cache import CodeCache
from kernels.catalog import catalogue
from kernels.cuda_device import CudaDevice
from kernels.errors import KernelError, KernelUnavailableError
from kernels.hip_device import HipDevice
from kernels.hiprtc_builder import HiprtcBuilder
from kernels.launch import Device, Launcher
from kernels.nvrtc_builder import NvrtcBuilder
from kernels.ops.formats import WeightFormat
from kernels.shapes import V4_FLASH
from tests.gpu import cases_attention, cases_decode, cases_rows, cases_weights
from tests.gpu.workbench import Case, Ceilings, Result, Workbench, measure, measure_ceilings

TOKENS = (1, 512, 2048, 9133, 10240)
MANY = 9133  # the size at which every weight format is measured


def find_machine() -> tuple[Device, Builder]:
    """The GPU and its compiler. Raises KernelUnavailableError with both reasons when there is none."""
    try:
        nvidia = CudaDevice()
        return nvidia, NvrtcBuilder(nvidia.target)
    except KernelUnavailableError as no_nvidia:
        try:
            amd = HipDevice()
            return amd, HiprtcBuilder(amd.target)
        except KernelUnavailableError as no_amd:
            raise KernelUnavailableError(f"{no_nvidia}; {no_amd}") from no_amd


def build_everything(launcher: Launcher) -> float:
    """Compile the V4-Flash half of the catalogue into the cache, in parallel; seconds it took."""
    begin = time.monotonic()
    sources = [entry.source for entry in catalogue(launcher.device.target) if entry.shape is V4_FLASH]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda source: launcher.cache.get(source, launcher.builder), sources))
    return time.monotonic() - begin


@dataclass(frozen=True, slots=True)
class Choice:
    """What to run: parts of kernel names (none: all), every weight format at every size, other tilings."""

    only: tuple[str, ...]
    every_format: bool
    tilings: bool


def all_cases(bench: Workbench, tokens: int, choice: Choice) -> Iterator[Case]:
    yield from cases_rows.row_cases(bench, tokens)
    yield from cases_attention.attention_cases(bench, tokens)
    yield from cases_attention.indexer_cases(bench, tokens)
    if choice.tilings:
        yield from cases_attention.tiling_cases(bench, tokens)
    if tokens == 1:
        yield from cases_decode.decode_cases(bench)
        if choice.tilings:
            yield from cases_decode.tiling_cases(bench)
        return
    yield from cases_weights.dense_cases(bench, tokens)
    kinds = tuple(WeightFormat) if tokens == MANY or choice.every_format else cases_weights.MAIN_FORMATS
    yield from cases_weights.grouped_cases(bench, tokens, kinds)


def run(launcher: Launcher, tokens: list[int], choice: Choice) -> list[Result]:
    ceilings = measure_ceilings(launcher.device.tensor_device)
    print(f"copy {ceilings.copy_bytes_s / 1e12:.2f} TB/s, bf16 product {ceilings.matrix_flop_s / 1e12:.0f} TFLOP/s")
    random = torch.Generator(launcher.device.tensor_device)
    print("seed", random.seed(), flush=True)
    bench = Workbench(launcher, V4_FLASH, random, rotates=True)
    results = []
    for count in tokens:
        for case in all_cases(bench, count, choice):
            if not choice.only or any(name in case.kernel for name in choice.only):
                results.append(_measured(bench, case, ceilings))
                print(row(results[-1]), flush=True)
            del case
    return results


def _measured(bench: Workbench, case: Case, ceilings: Ceilings) -> Result:
    try:
        return measure(bench, case, ceilings)
    except KernelError as failure:
        print(f"{case.kernel} {case.what}: {failure}", file=sys.stderr)
        wrong = float("nan")
        floor = ceilings.floor_s(case)
        facts = (case.kernel, case.what, case.tokens, wrong, case.limit, False, wrong, wrong, case.nbytes, case.flops)
        return Result(*facts, floor, case.aim, True)


HEAD = f"{'kernel':16} {'shape':38} {'N':>6} {'error':>8} {'us':>10} {'+-%':>4} {'GB/s':>7} {'TFLOP/s':>8} {'floor':>6}"


def row(result: Result) -> str:
    """One line of the table; the last column is the fraction of the floor, marked where an aim is missed or met."""
    verdict = "" if result.is_right else "  WRONG" if result.replays_equal else "  REPLAYS DIFFER"
    if result.aim is not None and result.is_right:
        verdict = f"  aim {result.aim:.0%} {'met' if result.fraction >= result.aim else 'missed'}"
    return (
        f"{result.kernel:16} {result.what:38} {result.tokens:6} {result.error:8.1e} {result.seconds * 1e6:10.1f} "
        f"{result.spread * 100:4.0f} {result.nbytes / result.seconds / 1e9:7.0f} "
        f"{result.flops / result.seconds / 1e12:8.1f} {result.fraction:6.1%}{verdict}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", default=",".join(map(str, TOKENS)), help="sizes of a step, comma-separated")
    parser.add_argument("--only", default="", help="parts of kernel names, comma-separated")
    parser.add_argument("--tilings", action="store_true", help="also attention and experts with other workgroups")
    parser.add_argument("--every-format", action="store_true", help="all weight formats at every size")
    args = parser.parse_args()
    try:
        device, builder = find_machine()
    except KernelUnavailableError as nothing:
        print(nothing, file=sys.stderr)
        return 1
    out = os.environ.get("OUT")
    with tempfile.TemporaryDirectory() as scratch:
        launcher = Launcher(device, builder, CodeCache(Path(scratch)))
        print(f"{device.description}, {builder.identity}, torch {torch.__version__}")
        print(f"built in {build_everything(launcher):.0f} s", flush=True)
        only = tuple(name for name in args.only.split(",") if name)
        choice = Choice(only, args.every_format, args.tilings)
        results = run(launcher, [int(count) for count in args.tokens.split(",")], choice)
    print("\n".join(["", HEAD, *map(row, results)]))
    if out:
        rows = [asdict(result) | {"fraction": result.fraction} for result in results]
        facts = {"device": device.description, "compiler": builder.identity, "torch": torch.__version__}
        Path(out, "kernels.json").write_text(json.dumps(facts | {"results": rows}, indent=1), encoding="utf-8")
    wrong = [result for result in results if not result.is_right]
    print(f"{len(results)} measured, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
