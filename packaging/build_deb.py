"""Make a Debian package of the bundle: `python packaging/build_deb.py dist/haloband dist` (make deb).

The standard library and dpkg-deb, nothing else. The package holds the bundle in /usr/lib/haloband, the command, and
what desktops need to show it; it has no maintainer scripts, for the icon and desktop caches have triggers of their own,
and what a person wrote lies in the home folder, which a package never touches.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APP_ID = "io.github.haloband.Haloband"
ICONS = ROOT / "resources" / "icons" / "app"

# Libraries that PyInstaller leaves to the system: graphics drivers, and what Qt's X11 platform opens by itself.
DEPENDS = (
    "libdbus-1-3",
    "libegl1",
    "libexpat1",
    "libfontconfig1",
    "libfreetype6",
    "libgcc-s1",
    "libgl1",
    "libstdc++6",
    "libuuid1",
    "libwayland-cursor0",
    "libx11-6",
    "libx11-xcb1",
    "libxcb-cursor0",
    "libxcb-icccm4",
    "libxcb-image0",
    "libxcb-keysyms1",
    "libxcb-render-util0",
    "libxcb-shape0",
    "libxcb-xkb1",
    "libxcb1",
    "libxkbcommon-x11-0",
)


def control(version: str, architecture: str, installed_kib: int) -> str:
    """The text of DEBIAN/control."""
    depends = ", ".join((f"libc6 (>= {platform.libc_ver()[1]})", *DEPENDS))
    fields = f"""\
        Package: haloband
        Version: {version}
        Architecture: {architecture}
        Maintainer: The Haloband contributors <haloband@users.noreply.github.com>
        Installed-Size: {installed_kib}
        Depends: {depends}
        Recommends: fonts-dejavu-core | fonts-liberation
        Suggests: fonts-noto-cjk, fonts-noto-color-emoji
        Section: science
        Priority: optional
        Homepage: https://github.com/haloband/haloband
        Description: chat with DeepSeek V4 Flash on your own computer
         A chat window with a banded sparse-prefill engine, made for AMD Strix Halo
         machines. A small model that comes with it answers on any processor. This
         package uses the processor; for the GPU install from source with ROCm's
         torch.
        """
    return textwrap.dedent(fields)


def project_version() -> str:
    """The version in pyproject.toml."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        version: str = tomllib.load(file)["project"]["version"]
    return version


def lay_out(bundle: Path, tree: Path) -> None:
    """Put the bundle and the desktop's files where they belong below `tree`. Raises OSError."""
    share = tree / "usr" / "share"
    shutil.copytree(bundle, tree / "usr" / "lib" / "haloband", symlinks=True)
    _link(tree / "usr" / "bin" / "haloband", "../lib/haloband/haloband")
    _install(ROOT / "packaging" / f"{APP_ID}.desktop", share / "applications" / f"{APP_ID}.desktop")
    _install(ROOT / "packaging" / f"{APP_ID}.metainfo.xml", share / "metainfo" / f"{APP_ID}.metainfo.xml")
    hicolor = share / "icons" / "hicolor"
    _install(ICONS / f"{APP_ID}.svg", hicolor / "scalable" / "apps" / f"{APP_ID}.svg")
    _install(ICONS / f"{APP_ID}-symbolic.svg", hicolor / "symbolic" / "apps" / f"{APP_ID}-symbolic.svg")
    for size in (512, 128):
        _install(ICONS / f"{size}.png", hicolor / f"{size}x{size}" / "apps" / f"{APP_ID}.png")
    notices = (bundle / "_internal" / "THIRD-PARTY.txt").read_text(encoding="utf-8")
    _install(ROOT / "LICENSE", share / "doc" / "haloband" / "copyright")
    with (share / "doc" / "haloband" / "copyright").open("a", encoding="utf-8") as file:
        file.write(f"\n\n{notices}")


def build(bundle: Path, output: Path) -> Path:
    """Make the package in `output` and return its path. Raises OSError, or CalledProcessError from dpkg-deb."""
    architecture = subprocess.run(
        ["dpkg", "--print-architecture"], capture_output=True, text=True, check=True
    ).stdout.strip()
    version = project_version()
    target = output / f"haloband_{version}_{architecture}.deb"
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="haloband-deb-", dir=output) as scratch:
        tree = Path(scratch, "tree")
        lay_out(bundle, tree)
        size = sum(path.lstat().st_size for path in tree.rglob("*"))
        (tree / "DEBIAN").mkdir()
        (tree / "DEBIAN" / "control").write_text(control(version, architecture, -(-size // 1024)))
        _open_rights(tree)
        unfinished = Path(scratch, target.name)
        # Zstandard at its default level: xz takes ten times as long for a tenth less.
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zzstd", "--build", str(tree), str(unfinished)], check=True)
        os.replace(unfinished, target)
    return target


def _install(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def _open_rights(tree: Path) -> None:
    """Readable by everyone, whatever the builder's umask was; programs stay programs."""
    for path in (tree, *tree.rglob("*")):
        if path.is_symlink():
            continue
        runs = path.is_dir() or path.stat().st_mode & 0o100
        path.chmod(0o755 if runs else 0o644)


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: build_deb.py BUNDLE OUTPUT")
    bundle = Path(sys.argv[1])
    if not (bundle / "haloband").is_file():
        sys.exit(f"there is no bundle in {bundle}; run `make bundle` first")
    if shutil.which("dpkg-deb") is None:
        sys.exit("dpkg-deb is not installed: a .deb can only be made on Debian, Ubuntu and their relatives")
    try:
        package = build(bundle, Path(sys.argv[2]))
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"the package was not made: {error}")
    print(f"{package} ({package.stat().st_size >> 20} MiB)")


if __name__ == "__main__":
    main()
