"""Whoever passes the bundle on needs the licences of what is in it."""

from importlib import metadata

from tests.packaging.test_desktop_files import PACKAGING, load

LOCK = (PACKAGING / "requirements.lock").read_text()


def test_every_installed_package_is_named_with_its_licence() -> None:
    tool = load("third_party")
    text = tool.notices(tool.locked_packages(LOCK))
    for name in ("PySide6_Essentials", "torch", "lxml", "tokenizers", "numpy"):
        assert f"\n{name} {metadata.version(name)}: " in text
    for line in text.splitlines():
        assert not line.endswith(": "), f"no licence is known of {line}"


def test_the_texts_themselves_are_there() -> None:
    tool = load("third_party")
    text = tool.notices(tool.locked_packages(LOCK))
    for sentence in (
        "GNU LESSER GENERAL PUBLIC LICENSE",
        "PYTHON SOFTWARE FOUNDATION LICENSE",
        "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION",
        "Copyright (c) 2005-2025, NumPy Developers",
    ):
        assert sentence in text, sentence


def test_what_brings_no_licence_file_has_its_text_at_the_end() -> None:
    """A package that stops bringing its text must be looked at."""
    tool = load("third_party")
    bare = {name for name in tool.locked_packages(LOCK) if not list(tool.licence_texts(metadata.distribution(name)))}
    assert bare <= {"PySide6_Essentials", "shiboken6", "tokenizers"}
