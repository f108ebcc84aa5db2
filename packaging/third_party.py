"""The licences of what the bundle carries besides our own code, as one text.

    python packaging/third_party.py FILE

Of each locked package that is installed: its name, version, licence and the licence files that it brings. Qt and
tokenizers bring none, so the texts they name stand at the end, with that of Python itself.
"""

import re
import sys
import sysconfig
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "packaging" / "requirements.lock"
_LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|notice|authors)", re.IGNORECASE)
_RULE = "=" * 78
_NAMED_ALONE = {
    "GNU Lesser General Public License 3.0 (Qt, PySide6, shiboken6)": ROOT / "packaging" / "licences" / "LGPL-3.0.txt",
    "GNU General Public License 3.0, to which it refers": ROOT / "packaging" / "licences" / "GPL-3.0.txt",
    "Apache License 2.0 (tokenizers)": ROOT / "LICENSE",
}


def locked_packages(lock: str) -> list[str]:
    """The names in a lock file, in its order."""
    return [line.partition("==")[0] for line in lock.splitlines() if "==" in line]


def licence_name(package: metadata.PackageMetadata) -> str:
    """What the package says of its licence, in one line; empty if it says nothing."""
    stated = package["License-Expression"] or (package["License"] or "").partition("\n")[0]
    classifiers = [line.rpartition(" :: ")[2] for line in package.get_all("Classifier") or [] if "License" in line]
    return stated or ", ".join(classifiers)


def licence_texts(distribution: metadata.Distribution) -> Iterator[str]:
    """The texts of the licence files in the package's own record."""
    for file in distribution.files or []:
        if ".dist-info" in file.parts[0] and _LICENCE_FILE.match(file.name):
            yield Path(str(file.locate())).read_text(encoding="utf-8", errors="replace").strip()


def notices(names: list[str]) -> str:
    """The whole text; packages that are not installed are not in a bundle either."""
    parts = ["Haloband is under the Apache License 2.0. This package also carries:"]
    for name in names:
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        parts.append(f"{_RULE}\n{name} {distribution.version}: {licence_name(distribution.metadata)}")
        parts += dict.fromkeys(licence_texts(distribution))
    python = Path(sysconfig.get_path("stdlib"), "LICENSE.txt")
    if python.exists():
        parts += [f"{_RULE}\nPython {sys.version.split()[0]}", python.read_text(encoding="utf-8").strip()]
    for title, file in _NAMED_ALONE.items():
        parts += [f"{_RULE}\n{title}", file.read_text(encoding="utf-8").strip()]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: third_party.py FILE")
    Path(sys.argv[1]).write_text(notices(locked_packages(LOCK.read_text())), encoding="utf-8")


if __name__ == "__main__":
    main()
