"""What desktops read: one id everywhere, files that the desktops' own validators accept, icons in every form."""

import importlib.util
import re
import shutil
import struct
import subprocess
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML comes with other packages, and is not here")

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
ICONS = ROOT / "resources" / "icons" / "app"
APP_ID = "io.github.haloband.Haloband"
DESKTOP = PACKAGING / f"{APP_ID}.desktop"
METAINFO = PACKAGING / f"{APP_ID}.metainfo.xml"
MANIFEST = PACKAGING / f"{APP_ID}.yml"
RENAMED_LATER = {"unknown-tag developer"}  # newer than the AppStream of Debian 12, which has developer_name


def load(name: str) -> ModuleType:
    """A script of packaging/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, PACKAGING / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed (Debian: apt install desktop-file-utils appstream)")
    return subprocess.run([tool, *arguments], capture_output=True, text=True, check=False)


def test_the_desktop_entry_is_valid() -> None:
    done = run("desktop-file-validate", str(DESKTOP))
    assert done.returncode == 0 and not done.stdout.strip(), done.stdout


def test_the_metainfo_is_valid() -> None:
    done = run("appstreamcli", "validate", "--no-net", "--no-color", str(METAINFO))
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.findall(r"^[EW]: .*$", done.stdout, re.MULTILINE)
    assert not told, told


def entry() -> dict[str, str]:
    lines = [line for line in DESKTOP.read_text().splitlines() if "=" in line]
    return dict(line.split("=", 1) for line in lines)


def test_one_id_and_one_name_everywhere() -> None:
    metainfo = ET.parse(METAINFO).getroot()
    assert metainfo.findtext("id") == APP_ID
    assert metainfo.findtext("launchable") == f"{APP_ID}.desktop"
    assert entry()["Icon"] == APP_ID and entry()["Exec"].split()[0] == "haloband"
    assert metainfo.findtext("name") == entry()["Name"] and metainfo.findtext("summary") == entry()["Comment"]
    assert yaml.safe_load(MANIFEST.read_text())["id"] == APP_ID
    assert f'"{APP_ID}"' in (ROOT / "app" / "main_window.py").read_text(), "setDesktopFileName names another id"


def test_the_metainfo_has_what_software_centres_ask_for() -> None:
    metainfo = ET.parse(METAINFO).getroot()
    assert metainfo.attrib["type"] == "desktop-application"
    assert metainfo.findtext("metadata_license") == "CC0-1.0" and metainfo.findtext("project_license") == "Apache-2.0"
    assert metainfo.find("developer") is not None and metainfo.find("content_rating") is not None
    pictures = [
        (image.text or "").partition("/main/")[2] for image in metainfo.iterfind("screenshots/screenshot/image")
    ]
    assert pictures and all((ROOT / picture).is_file() for picture in pictures if picture) and all(pictures)
    with (ROOT / "pyproject.toml").open("rb") as file:
        version = tomllib.load(file)["project"]["version"]
    assert metainfo.find(f"releases/release[@version='{version}']") is not None, "this version has no release entry"


def png_size(path: Path) -> tuple[int, int]:
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and head[12:16] == b"IHDR"
    width, height = struct.unpack(">II", head[16:24])
    return width, height


@pytest.mark.parametrize("size", [512, 128])
def test_png_icons(size: int) -> None:
    assert png_size(ICONS / f"{size}.png") == (size, size)


@pytest.mark.parametrize("name", [f"{APP_ID}.svg", f"{APP_ID}-symbolic.svg"])
def test_svg_icons_are_square_and_keep_to_what_qt_and_gtk_both_draw(name: str) -> None:
    root = ET.parse(ICONS / name).getroot()
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    assert width == height == float(root.attrib["width"]) == float(root.attrib["height"])
    used = {element.tag.rpartition("}")[2] for element in root.iter()}
    allowed = {"svg", "title", "defs", "linearGradient", "stop", "rect", "path", "g"}
    assert used <= allowed, used - allowed


def test_the_symbolic_icon_has_one_colour() -> None:
    """Desktops repaint it in the text's colour; anything else would be lost."""
    text = (ICONS / f"{APP_ID}-symbolic.svg").read_text()
    assert set(re.findall(r"#[0-9a-f]{3,8}\b", text)) == {"#2e3436"}


def test_the_png_icons_show_the_svg(qapp: Any) -> None:
    """They are drawn by packaging/render_icons.py; after a change of the SVG it must be run again."""
    from PySide6.QtGui import QImage

    render = load("render_icons")
    for size in render.SIZES:
        stored, fresh = QImage(str(ICONS / f"{size}.png")), render.render(size)
        step = size // 16
        for x in range(step // 2, size, step):
            for y in range(step // 2, size, step):
                old, new = stored.pixelColor(x, y), fresh.pixelColor(x, y)
                difference = max(abs(a - b) for a, b in zip(old.getRgb(), new.getRgb(), strict=True))
                assert difference <= 48, f"{size}.png is not what the SVG shows at {x}, {y}"


def test_the_flatpak_manifest_installs_what_is_there_and_asks_for_little() -> None:
    manifest = yaml.safe_load(MANIFEST.read_text())
    assert {"runtime", "runtime-version", "sdk", "command", "finish-args", "modules"} <= set(manifest)
    rights = set(manifest["finish-args"])
    assert rights == {"--share=ipc", "--socket=wayland", "--socket=fallback-x11", "--device=dri"}
    (module,) = manifest["modules"]
    destinations = {source["dest"]: PACKAGING / source["path"] for source in module["sources"] if "dest" in source}
    files = {Path(source["path"]).name for source in module["sources"] if source["type"] == "file"}
    for command in module["build-commands"]:
        for word in command.split():
            folder, _, name = word.partition("/")
            if folder in destinations and name:
                assert (destinations[folder] / name).exists(), f"{word} of {command!r} is not there"
            assert not word.startswith(APP_ID) or word in files
