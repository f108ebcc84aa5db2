"""The Debian package: built from a small stand-in for the bundle, then opened again."""

import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.test_desktop_files import APP_ID, PACKAGING, load

needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not installed (only on Debian)")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "haloband"
    (folder / "_internal" / "resources").mkdir(parents=True)
    (folder / "haloband").write_text("#!/bin/sh\necho Haloband\n")
    (folder / "haloband").chmod(0o700)
    (folder / "_internal" / "THIRD-PARTY.txt").write_text("Qt, under the LGPL\n")
    (folder / "_internal" / "resources" / "data").write_bytes(bytes(5000))
    (folder / "_internal" / "link.so").symlink_to("resources/data")
    return folder


def open_package(package: Path, into: Path) -> None:
    subprocess.run(["dpkg-deb", "--raw-extract", str(package), str(into)], check=True)


@needs_dpkg
def test_the_package_holds_the_bundle_and_the_desktop_files(bundle: Path, tmp_path: Path) -> None:
    package = load("build_deb").build(bundle, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [package.name], "scratch files are left"
    tree = tmp_path / "tree"
    open_package(package, tree)
    share = tree / "usr" / "share"
    program = tree / "usr" / "bin" / "haloband"
    assert program.is_symlink() and b"Haloband" in subprocess.check_output([program])
    assert (tree / "usr/lib/haloband/_internal/link.so").readlink() == Path("resources/data")
    for path in (
        share / "applications" / f"{APP_ID}.desktop",
        share / "metainfo" / f"{APP_ID}.metainfo.xml",
        share / "icons/hicolor/scalable/apps" / f"{APP_ID}.svg",
        share / "icons/hicolor/symbolic/apps" / f"{APP_ID}-symbolic.svg",
        share / "icons/hicolor/512x512/apps" / f"{APP_ID}.png",
        share / "icons/hicolor/128x128/apps" / f"{APP_ID}.png",
        share / "doc/haloband/copyright",
    ):
        assert path.stat().st_size > 0
    rights = (share / "doc/haloband/copyright").read_text()
    assert "Apache License" in rights and rights.endswith("Qt, under the LGPL\n")
    assert [path.name for path in (tree / "DEBIAN").iterdir()] == ["control"], "no scripts run on installation"


@needs_dpkg
def test_rights_do_not_depend_on_the_builder(bundle: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    open_package(load("build_deb").build(bundle, tmp_path), tree)
    for path in (tree / "usr").rglob("*"):
        if not path.is_symlink():
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == (0o755 if path.is_dir() or path.name == "haloband" else 0o644), path


@needs_dpkg
def test_the_control_fields(bundle: Path, tmp_path: Path) -> None:
    builder = load("build_deb")
    package = builder.build(bundle, tmp_path)

    def field(name: str) -> str:
        done = subprocess.run(["dpkg-deb", "--field", str(package), name], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert field("Package") == "haloband" and field("Version") == builder.project_version()
    assert int(field("Installed-Size")) >= 5
    assert field("Depends").startswith("libc6 (>= 2.") and "libxcb-cursor0" in field("Depends")
    assert field("Description").splitlines()[0] == "chat with DeepSeek V4 Flash on your own computer"


def test_without_a_bundle_the_builder_says_what_to_do(tmp_path: Path) -> None:
    command = [sys.executable, str(PACKAGING / "build_deb.py"), str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "make bundle" in done.stderr and "Traceback" not in done.stderr
