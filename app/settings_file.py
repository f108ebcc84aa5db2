"""Settings on disk: TOML that a person may edit. Comments, order and keys we do not know are kept on every save.

A value we cannot use is left in the file, replaced by its default here, and said in one sentence. A file that is not
TOML at all is kept aside. Blocking; SettingsService calls `save` on its helper thread.
"""

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from app.errors import SettingsError
from app.files import set_aside, why_not_written, write_atomic
from app.settings import SETTINGS_VERSION, Preset, Settings

MAX_FILE_BYTES = 1 << 20

# From the version a file has to the next one: each hook changes the document in place. None are needed before 2.
UPGRADES: dict[int, Callable[[tomlkit.TOMLDocument], None]] = {}


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """What was read, and one sentence for each thing that a person should know about it."""

    settings: Settings
    problems: tuple[str, ...] = ()


class SettingsFile:
    """One settings file. Keeps the document it read, so that saving changes only what changed."""

    def __init__(self, path: Path, upgrades: Mapping[int, Callable[[tomlkit.TOMLDocument], None]] = UPGRADES) -> None:
        self.path = path
        self._upgrades = upgrades
        self._document = tomlkit.document()
        self._saved = Settings()
        self._why_unread = ""  # why the file that is there must not be replaced: nothing of it is known

    def load(self) -> LoadedSettings:
        """Read the file. Never raises: a missing file gives the defaults, a damaged one too, with a sentence."""
        problems: list[str] = []
        self._document = self._read(problems)
        self._upgrade(problems)
        self._saved = _read_settings(self._document, self.path, problems)
        return LoadedSettings(self._saved, tuple(problems))

    def save(self, settings: Settings) -> None:
        """Write what differs from the last load or save. Raises SettingsError; the old file stays in that case."""
        if self._why_unread:
            self._read_at_last()
        self._document.setdefault("version", SETTINGS_VERSION)
        for section in dataclasses.fields(Settings):
            new, old = getattr(settings, section.name), getattr(self._saved, section.name)
            if new == old:
                continue
            if section.name == "presets":
                _write_presets(self._document, new, old)
            else:
                _write_section(self._document, section.name, new, old)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(self.path, tomlkit.dumps(self._document).encode())
        except OSError as error:
            raise SettingsError(f"Settings were not saved to {self.path}: {why_not_written(error)}.") from error
        self._saved = settings

    def _read_at_last(self) -> None:
        """Read a file that could not be read before, so that saving keeps what it holds. Raises SettingsError."""
        self._document = self._read([])
        if self._why_unread:
            raise SettingsError(
                f"Settings were not saved to {self.path}, because the file there cannot be read: {self._why_unread}."
            )
        self._upgrade([])

    def _read(self, problems: list[str]) -> tomlkit.TOMLDocument:
        self._why_unread = ""
        try:
            with self.path.open("rb") as file:
                raw = file.read(MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            return tomlkit.document()
        except OSError as error:
            self._why_unread = error.strerror or str(error)
            problems.append(f"Settings could not be read from {self.path} ({error.strerror}); defaults are used.")
            return tomlkit.document()
        try:
            if len(raw) > MAX_FILE_BYTES:
                raise ValueError("it is larger than 1 MiB")
            return tomlkit.parse(raw.decode())
        except (TOMLKitError, ValueError, RecursionError) as error:
            problems.append(self._keep_damaged(error))
            return tomlkit.document()

    def _keep_damaged(self, error: Exception) -> str:
        reason = str(error) or "nested too deeply"
        try:
            aside = set_aside(self.path)
        except OSError:
            self._why_unread = reason
            return f"The settings file {self.path} is damaged ({reason}); defaults are used."
        return f"The settings file was damaged ({reason}). It is kept as {aside}, and defaults are used."

    def _upgrade(self, problems: list[str]) -> None:
        version = self._document.get("version", SETTINGS_VERSION)
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            problems.append(f"{self.path}: version should be a whole number from 1; it is read as {SETTINGS_VERSION}.")
            return
        if version > SETTINGS_VERSION:
            problems.append(
                f"{self.path} was written by a newer Haloband; what this one does not know is kept and not used."
            )
        while version in self._upgrades:
            self._upgrades[version](self._document)
            version += 1
            self._document["version"] = version


# ---- reading


def _read_settings(document: Mapping[str, Any], path: Path, problems: list[str]) -> Settings:
    values: dict[str, Any] = {}
    for section in dataclasses.fields(Settings):
        if section.name not in document:
            continue
        raw = document[section.name]
        if section.name == "presets":
            values["presets"] = _read_presets(raw, path, problems)
        elif isinstance(raw, Mapping):
            kind = type(getattr(Settings(), section.name))
            values[section.name] = _read_section(kind, raw, f"{path}: {section.name}", problems)
        else:
            problems.append(f"{path}: {section.name} should be a table; its defaults are used.")
    return Settings(**values)


def _read_section(kind: Any, raw: Mapping[str, Any], where: str, problems: list[str]) -> Any:
    hints = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for entry in dataclasses.fields(kind):
        if entry.name not in raw:
            continue
        try:
            values[entry.name] = _read_value(raw[entry.name], hints[entry.name], entry.metadata)
        except ValueError as error:
            problems.append(f"{where}.{entry.name} {error}; its default is used.")
    return kind(**values)


def _read_presets(raw: object, path: Path, problems: list[str]) -> tuple[Preset, ...]:
    if not isinstance(raw, list):
        problems.append(f"{path}: presets should be a list of tables; none are used.")
        return ()
    presets = [
        _read_section(Preset, entry, f"{path}: presets", problems) for entry in raw if isinstance(entry, Mapping)
    ]
    return tuple(preset for preset in presets if preset.name)


def _read_value(raw: Any, hint: Any, limits: Mapping[str, Any]) -> Any:
    """A plain value of the wanted type. Raises ValueError with the end of a sentence ("should be ...")."""
    if isinstance(hint, types.UnionType):  # X | None; TOML has no null, so None is an absent key
        hint = next(part for part in typing.get_args(hint) if part is not type(None))
    value = raw.unwrap() if hasattr(raw, "unwrap") else raw
    if isinstance(hint, type) and issubclass(hint, Enum):
        try:
            return hint(value)
        except ValueError:
            raise ValueError(f"should be one of {', '.join(repr(member.value) for member in hint)}") from None
    if typing.get_origin(hint) is tuple:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ValueError("should be a list of texts")
        return tuple(value)
    if hint is bool and isinstance(value, bool):
        return value
    if hint is str and isinstance(value, str):
        return value
    if hint is int and isinstance(value, int) and not isinstance(value, bool):
        return _checked(value, limits)
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return _checked(float(value), limits)
    names = {bool: "true or false", str: "a text", int: "a whole number", float: "a number"}
    raise ValueError(f"should be {names[hint]}")


def _checked(value: Any, limits: Mapping[str, Any]) -> Any:
    if limits and not limits["low"] <= value <= limits["high"]:  # also refuses nan
        raise ValueError(f"should be from {limits['low']:,.12g} to {limits['high']:,.12g}")
    return value


# ---- writing


def _write_section(document: tomlkit.TOMLDocument, name: str, new: object, old: object) -> None:
    table = document.get(name)
    if not isinstance(table, Mapping):
        table = tomlkit.table()
        document[name] = table
    for entry in dataclasses.fields(new):  # type: ignore[arg-type]  # a section is always a dataclass instance
        value = getattr(new, entry.name)
        if value != getattr(old, entry.name):
            _put(table, entry.name, value)


def _write_presets(document: tomlkit.TOMLDocument, presets: tuple[Preset, ...], old: tuple[Preset, ...]) -> None:
    """Tables of presets that stay are changed in place, so that what we do not know or cannot use in them stays too."""
    before = {preset.name: preset for preset in old}
    known: dict[str, Any] = {}
    raw = document.get("presets")
    for entry in raw if isinstance(raw, list) else []:
        if isinstance(entry, Mapping):
            known.setdefault(str(entry.get("name", "")), entry)
    array = tomlkit.aot()
    for preset in presets:
        table = known.get(preset.name) or tomlkit.table()
        for part in dataclasses.fields(Preset):
            value = getattr(preset, part.name)
            if value != getattr(before.get(preset.name, Preset()), part.name):
                _put(table, part.name, value)
        array.append(table)
    if presets:
        document["presets"] = array
    else:
        document.pop("presets", None)


def _put(table: Any, name: str, value: object) -> None:
    """Set one key in place. None is an absent key; an equal value keeps its spelling and its comment."""
    if value is None:
        table.pop(name, None)
        return
    plain = value.value if isinstance(value, Enum) else list(value) if isinstance(value, tuple) else value
    if name not in table or table[name] != plain:
        table[name] = plain
