"""Which kernels the device's time goes to, by torch's profiler."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.profiler import ProfilerActivity, profile


@dataclass(frozen=True, slots=True)
class Share:
    """A kernel's part of all kernel time: its name, launches, seconds and fraction."""

    name: str
    launches: int
    seconds: float
    fraction: float


def kernel_shares(work: Callable[[], object]) -> list[Share]:
    """Run `work` once under the profiler; shares, largest first. Empty where the profiler sees no device."""
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        work()
        torch.cuda.synchronize()
    found: dict[str, tuple[int, float]] = {}
    for event in seen.events() or ():
        seconds = event.device_time_total / 1e6
        if seconds > 0:
            launches, total = found.get(event.name, (0, 0.0))
            found[event.name] = launches + 1, total + seconds
    whole = sum(seconds for _, seconds in found.values()) or 1.0
    shares = [Share(name[:60], count, seconds, seconds / whole) for name, (count, seconds) in found.items()]
    return sorted(shares, key=lambda share: -share.seconds)
