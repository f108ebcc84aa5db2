"""Runs the probes in order and hands out their findings as they come.

Called by `haloband doctor` on the main thread and by the window's page on a thread of its own; takes some seconds,
nearly all of them in the last two checks, which `quick` leaves out.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from app.doctor.access import check_access
from app.doctor.compiler import check_compiler
from app.doctor.disk import check_disk
from app.doctor.driver import check_driver
from app.doctor.finding import Finding
from app.doctor.gpu import check_gpu
from app.doctor.hardware import Hardware, read_hardware
from app.doctor.host import Host
from app.doctor.memory import check_memory
from app.doctor.power import check_power
from app.doctor.python_packages import check_python_packages
from app.doctor.rocm import check_rocm
from app.doctor.self_test import check_self_test

Probe = Callable[[Host, Hardware], Iterator[Finding]]

# In the order of Topic, so that a report can be printed while it is made.
_PROBES: tuple[Probe, ...] = (
    check_gpu,
    check_driver,
    check_access,
    check_memory,
    check_rocm,
    check_compiler,
    check_python_packages,
    check_power,
)


def examine(host: Host, model: Path, quick: bool = False) -> Iterator[Finding]:
    """All findings on `host`; `model` is the file whose disk is tested. Never raises on account of the machine."""
    hardware = read_hardware(host)
    for probe in _PROBES:
        yield from probe(host, hardware)
    if not quick:
        yield from check_disk(model)
        yield from check_self_test(host, hardware)
