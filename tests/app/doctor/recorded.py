"""Recorded machines: a TOML file of tests/data/doctor becomes a Host, with single facts changed where a test says so.

A value of None takes the fact away.
"""

import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.doctor.examine import examine
from app.doctor.finding import Finding
from app.doctor.host import CommandResult, DeviceNode, Host, User

RECORDINGS = Path(__file__).resolve().parents[2] / "data" / "doctor"
CARD = "sys/class/drm/card1/device"
SELF_TEST = "haloband doctor --self-test"
RAISED = {f"{CARD}/mem_info_gtt_total": "133143986176"}  # 124 GiB


def host(
    folder: Path,
    name: str = "strix_halo_default",
    files: Mapping[str, str | None] | None = None,
    commands: Mapping[str, str | CommandResult | None] | None = None,
    devices: Mapping[str, DeviceNode | None] | None = None,
    packages: Mapping[str, str | None] | None = None,
    package_files: Mapping[str, str | None] | None = None,
    user: User | None = None,
    environment: Mapping[str, str] | None = None,
    python: tuple[int, int, int] | None = None,
    is_packaged: bool = False,
    missing_window_library: str | None = None,
) -> Host:
    """The machine `name` with its files laid out in a fresh folder below `folder`."""
    root = folder / "machine"
    shutil.rmtree(root, ignore_errors=True)
    recording = tomllib.loads((RECORDINGS / f"{name}.toml").read_text())
    for path, content in _changed(recording["files"], files).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    outputs = _changed(recording["commands"], commands)
    nodes = {path: DeviceNode(**node) for path, node in recording.get("devices", {}).items()}
    nodes = _changed(nodes, devices)
    versions = _changed(recording["packages"], packages)
    texts = _changed(recording["package_files"], package_files)

    def run(command: tuple[str, ...]) -> CommandResult | None:
        output = outputs.get(" ".join(command))
        return CommandResult(0, output) if isinstance(output, str) else output

    people = recording["user"]
    return Host(
        root=root,
        run=run,
        device=nodes.get,
        package_version=versions.get,
        package_file=lambda _package, path: texts.get(path),
        user=user or User(people["name"], frozenset(people["groups"]), frozenset(people["enrolled"])),
        environment=environment or {},
        python=python or tuple(recording["python"]),
        self_test_command=tuple(SELF_TEST.split()),
        is_packaged=is_packaged,
        missing_window_library=lambda: missing_window_library,
    )


def _changed(recorded: Mapping[str, Any], changes: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in {**recorded, **(changes or {})}.items() if value is not None}


def findings(machine: Host, model: Path | None = None) -> dict[str, Finding]:
    """What doctor says of the machine, by key (the last one where a key comes twice)."""
    return {finding.key: finding for finding in examine(machine, model or RECORDINGS / "README.md")}
