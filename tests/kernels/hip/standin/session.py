"""Run in a process of its own by test_hip_standin: the real hip-python, our builder, cache, device and ops.

Prints one JSON object: for each scenario what was found, or the error it ended in.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import torch

from kernels.cache import CodeCache
from kernels.errors import KernelError
from kernels.hip_device import HipDevice
from kernels.hiprtc_builder import HiprtcBuilder
from kernels.launch import Launcher
from kernels.ops.rows import RowForm, finish_rows
from kernels.source import KernelSource

FAILING_CALLS = {
    "hipGetDeviceCount": 100,
    "hipRuntimeGetVersion": 100,
    "hipSetDevice": 101,
    "hipModuleLoadData": 209,
    "hipModuleGetFunction": 500,
    "hipModuleLaunchKernel": 701,
    "hipDeviceSynchronize": 719,
}
PROBES = Path(__file__).parent.parent / "probes"


def new_launcher(cache: Path) -> Launcher:
    device = HipDevice(tensor_device="cpu")
    return Launcher(device, HiprtcBuilder(device.target), CodeCache(cache))


def run(cache: Path) -> dict[str, object]:
    """A kernel from source to result."""
    launcher = new_launcher(cache)
    values, weight = torch.randn(9, 64) * 3, torch.rand(64) + 0.5
    out = torch.full((9, 64), torch.nan)
    finish_rows(launcher, RowForm(64), values, out, torch.zeros(1, dtype=torch.int32), weight=weight)
    launcher.device.synchronise()
    wanted = values.double() * (values.double().square().mean(dim=1, keepdim=True) + 1e-6).rsqrt() * weight.double()
    error = float((out.double() - wanted).square().sum() / wanted.square().sum())
    return {"device": launcher.device.description, "builder": launcher.builder.identity, "nmse": error}


def run_source(cache: Path, source: KernelSource) -> dict[str, object]:
    launcher = new_launcher(cache)
    launcher.kernel(source)((1, 1, 1), out=torch.zeros(64))
    launcher.device.synchronise()
    return {}


def fail_at(cache: Path, call: str) -> dict[str, object]:
    """The same with one library call returning a failure."""
    os.environ["STANDIN_FAIL"] = f"{call}:{FAILING_CALLS[call]}"
    try:
        return run(cache)
    finally:
        del os.environ["STANDIN_FAIL"]


def with_runtime(cache: Path, version: str) -> dict[str, object]:
    """The same with another HIP runtime; what the cache holds of the kernel then."""
    os.environ["STANDIN_VERSION"] = version
    try:
        return run(cache) | {"files": len(list(cache.iterdir()))}
    finally:
        del os.environ["STANDIN_VERSION"]


def answer(task: Callable[[], dict[str, object]]) -> dict[str, object]:
    try:
        return task()
    except KernelError as failure:
        return {"error": type(failure).__name__, "message": str(failure), "log": getattr(failure, "log", "")}
    except Exception:
        return {"error": "unexpected", "message": traceback.format_exc()}


def main(cache: Path) -> dict[str, dict[str, object]]:
    divergent = KernelSource("divergent", "divergent", (("KIND", 0),), 64, folder=PROBES)
    absent = KernelSource("absent", "divergent", (("KIND", 0),), 64, folder=PROBES)
    answers = {"run": answer(lambda: run(cache))}
    stamp = {path.name: path.stat().st_ino for path in cache.iterdir()}
    answers["again"] = answer(lambda: run(cache))
    answers["files"] = {path.name: path.stat().st_ino == stamp.get(path.name) for path in cache.iterdir()}
    answers["upgraded"] = answer(lambda: with_runtime(cache, "70300001"))
    answers["silent"] = answer(lambda: fail_at(cache, "hipRuntimeGetVersion"))
    for call in FAILING_CALLS:
        answers[call] = answer(lambda call=call: fail_at(cache, call))
    answers["broken"] = answer(lambda: run_source(cache, KernelSource("norm_rope", "norm_rope", (), 256)))
    answers["divergent"] = answer(lambda: run_source(cache, divergent))
    answers["absent"] = answer(lambda: run_source(cache, absent))
    return answers


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
