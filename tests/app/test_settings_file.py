"""Settings survive a round trip with everything in the file that we do not know, and bad files cost one sentence."""

import dataclasses
import errno
import os
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from app import files
from app.errors import SettingsError
from app.settings import SETTINGS_VERSION, Answers, Preset, SendKey, Settings, Theme
from app.settings_file import SettingsFile

HAND_WRITTEN = """# my settings
version = 1
colour_of_the_moon = "white" # unknown at the top

[appearance]
# I like it dark
theme = "dark"
wobble = 3 # unknown in a section

[future]
thing = [1, 2, 3]

[[presets]]
name = "Terse"
temperature = 0.1
flavour = "salt"
"""


def changed(settings: Settings) -> Settings:
    return dataclasses.replace(
        settings,
        appearance=dataclasses.replace(settings.appearance, text_scale=1.5),
        composer=dataclasses.replace(settings.composer, send_key=SendKey.CTRL_ENTER),
        presets=(*settings.presets, Preset("New", temperature=0.5, thinking=True)),
    )


def test_a_missing_file_gives_defaults_and_no_complaint(tmp_path: Path) -> None:
    loaded = SettingsFile(tmp_path / "settings.toml").load()
    assert loaded.settings == Settings()
    assert loaded.problems == ()


def test_unknown_keys_comments_and_order_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(HAND_WRITTEN)
    file = SettingsFile(path)
    loaded = file.load()
    assert loaded.problems == ()
    assert loaded.settings.appearance.theme is Theme.DARK
    file.save(changed(loaded.settings))
    text = path.read_text()
    for kept in ("# my settings", 'colour_of_the_moon = "white" # unknown at the top', "# I like it dark"):
        assert kept in text
    for kept in ("wobble = 3 # unknown in a section", "thing = [1, 2, 3]", 'flavour = "salt"'):
        assert kept in text
    assert SettingsFile(path).load().settings == changed(loaded.settings)


def test_saving_unchanged_settings_leaves_the_text_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(HAND_WRITTEN)
    file = SettingsFile(path)
    file.save(file.load().settings)
    assert path.read_text() == HAND_WRITTEN


@given(
    scale=st.floats(0.5, 3.0),
    theme=st.sampled_from(Theme),
    prompt=st.text(st.characters(exclude_categories=("Cs",))),
    seed=st.none() | st.integers(-(2**63), 2**63 - 1),
    names=st.lists(st.text(min_size=1, max_size=8).filter(lambda s: s.isprintable()), max_size=3, unique=True),
    folders=st.lists(st.text("abc/ é", max_size=9), max_size=3),
)
def test_any_settings_come_back_equal(tmp_path_factory: pytest.TempPathFactory, **parts: object) -> None:
    path = tmp_path_factory.mktemp("settings") / "settings.toml"
    base = Settings()
    names = parts["names"]
    assert isinstance(names, list)
    wanted = dataclasses.replace(
        base,
        appearance=dataclasses.replace(base.appearance, text_scale=parts["scale"], theme=parts["theme"]),
        answers=dataclasses.replace(base.answers, system_prompt=parts["prompt"], seed=parts["seed"]),
        model=dataclasses.replace(base.model, folders=tuple(parts["folders"])),  # type: ignore[arg-type]  # a list of texts
        presets=tuple(Preset(name, top_k=index) for index, name in enumerate(names)),
    )
    SettingsFile(path).save(wanted)
    loaded = SettingsFile(path).load()
    assert loaded.problems == ()
    assert loaded.settings == wanted


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[appearance]\ntheme = 'pink'", "appearance.theme"),
        ("[appearance]\ntext_scale = 'big'", "appearance.text_scale"),
        ("[appearance]\ntext_scale = nan", "appearance.text_scale"),
        ("[appearance]\ntext_scale = true", "appearance.text_scale"),
        ("[answers]\ntop_k = 1.5", "answers.top_k"),
        ("[answers]\nmax_tokens = 0", "answers.max_tokens"),
        ("[answers]\ntop_p = 0.0", "answers.top_p"),
        ("[model]\nfolders = [1]", "model.folders"),
        ("[model]\npath = 3", "model.path"),
        ("[composer]\npaste_becomes_document = 'yes'", "composer.paste_becomes_document"),
        ("answers = 3", "answers"),
        ("presets = 3", "presets"),
        ("version = 'one'", "version"),
    ],
)
def test_a_bad_value_costs_only_itself_and_stays_in_the_file(tmp_path: Path, text: str, key: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    file = SettingsFile(path)
    loaded = file.load()
    assert loaded.settings == Settings()
    assert len(loaded.problems) == 1
    assert key in loaded.problems[0]
    assert str(path) in loaded.problems[0]
    file.save(dataclasses.replace(loaded.settings, general=dataclasses.replace(loaded.settings.general, language="de")))
    assert text.rsplit("\n", maxsplit=1)[-1] in path.read_text()


@pytest.mark.parametrize(
    "line",
    [
        *("temperature = nan", "temperature = -1", "temperature = inf", "top_p = 0", "top_p = 1.5", "top_p = nan"),
        *("top_k = -3", "min_p = 2.0", "min_p = nan", "max_tokens = 0", "max_tokens = -5", "max_tokens = 9000000"),
    ],
)
def test_a_presets_numbers_have_the_limits_of_the_answers(tmp_path: Path, line: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(f"[[presets]]\nname = 'A'\nthinking = true\n{line}\n")
    file = SettingsFile(path)
    loaded = file.load()
    assert loaded.settings.presets == (Preset("A", thinking=True),)
    (problem,) = loaded.problems
    assert f"presets.{line.split(maxsplit=1)[0]} should be from " in problem
    file.save(dataclasses.replace(loaded.settings, presets=(Preset("A", thinking=False), Preset("B", top_k=1))))
    assert line in path.read_text()


def test_every_number_has_limits_and_presets_those_of_the_answers() -> None:
    sections = [getattr(Settings(), field.name) for field in dataclasses.fields(Settings) if field.name != "presets"]
    for section in (*sections, Preset()):
        for field in dataclasses.fields(section):
            if field.type in (int, float, int | None, float | None):
                assert field.name == "seed" or {"low", "high"} <= set(field.metadata), field  # a seed may be any
    answers = {field.name: field.metadata for field in dataclasses.fields(Answers)}
    for field in dataclasses.fields(Preset):
        assert field.name == "name" or field.metadata == answers[field.name]


@pytest.mark.parametrize("error", [errno.EACCES, errno.EIO])
def test_a_file_that_cannot_be_read_is_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(HAND_WRITTEN)
    opened = Path.open

    def refuse(self: Path, *args: Any, **options: Any) -> Any:
        if self == path:
            raise OSError(error, os.strerror(error))
        return opened(self, *args, **options)

    file = SettingsFile(path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refuse)
        loaded = file.load()
        assert loaded.settings == Settings()
        assert len(loaded.problems) == 1
        with pytest.raises(SettingsError, match=f"cannot be read: {os.strerror(error)}."):
            file.save(changed(loaded.settings))
    assert path.read_text() == HAND_WRITTEN
    file.save(changed(loaded.settings))  # the trouble is over: only what changed is written
    text = path.read_text()
    for part in (
        "# my settings",
        'theme = "dark"',
        "wobble = 3",
        "thing = [1, 2, 3]",
        "text_scale = 1.5",
        "ctrl+enter",
    ):
        assert part in text


def test_a_damaged_file_that_cannot_be_kept_aside_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b"not = = toml")

    def refuse(*_: object) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    file = SettingsFile(path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", refuse)
        loaded = file.load()
        with pytest.raises(SettingsError):
            file.save(changed(loaded.settings))
        assert path.read_bytes() == b"not = = toml"
    file.save(changed(loaded.settings))
    assert [kept.read_bytes() for kept in tmp_path.glob("*.damaged-*")] == [b"not = = toml"]


@pytest.mark.parametrize("raw", [b"not = = toml", b"\xff\xfe\x00", b"[a" * 5000, b"x = 1\nx = 2\n", b"#" * (2 << 20)])
def test_a_damaged_file_is_kept_aside_and_said(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(raw)
    loaded = SettingsFile(path).load()
    assert loaded.settings == Settings()
    assert len(loaded.problems) == 1
    aside = list(tmp_path.glob("settings.toml.damaged-*"))
    assert len(aside) == 1
    assert aside[0].read_bytes() == raw
    assert str(aside[0]) in loaded.problems[0]


def test_an_older_file_is_upgraded_step_by_step(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("version = -1\n")
    assert "version" in SettingsFile(path).load().problems[0]

    def rename(document: tomlkit.TOMLDocument) -> None:
        document["appearance"] = {"theme": document.pop("look")}

    path.write_text("version = 1\nlook = 'dark'\nmine = 1\n")
    file = SettingsFile(path, {1: rename})
    loaded = file.load()
    assert loaded.settings.appearance.theme is Theme.DARK
    file.save(loaded.settings)
    assert tomlkit.parse(path.read_text())["version"] == 2
    assert "mine = 1" in path.read_text()


def test_a_newer_file_keeps_its_version(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(f"version = {SETTINGS_VERSION + 5}\n[appearance]\ntheme = 'light'\n")
    file = SettingsFile(path)
    loaded = file.load()
    assert "newer" in loaded.problems[0]
    assert loaded.settings.appearance.theme is Theme.LIGHT
    file.save(changed(loaded.settings))
    assert tomlkit.parse(path.read_text())["version"] == SETTINGS_VERSION + 5


@pytest.mark.parametrize(("code", "words"), [(errno.ENOSPC, "disk is full"), (errno.EROFS, "read-only")])
def test_a_failed_save_says_why_and_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(HAND_WRITTEN)
    file = SettingsFile(path)
    settings = changed(file.load().settings)

    def fail(_descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(SettingsError, match=words) as caught:
        file.save(settings)
    assert str(path) in str(caught.value)
    assert path.read_text() == HAND_WRITTEN
    assert [entry.name for entry in tmp_path.iterdir()] == ["settings.toml"]
    monkeypatch.undo()
    file.save(settings)  # what failed once is not forgotten
    assert SettingsFile(path).load().settings == settings
