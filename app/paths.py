"""Every directory and file name the app uses, and nothing else. Pure; any thread.

Linux desktops get the XDG directories through platformdirs. With `--data-dir` everything, settings included, lives
under that one folder, so that a test or a portable install leaves no trace elsewhere.
"""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import platformdirs

APP_NAME = "haloband"


@dataclass(frozen=True, slots=True)
class AppPaths:
    """Where things live. Nothing is created by making this object; call `create` before writing."""

    config_dir: Path
    data_dir: Path
    state_dir: Path
    cache_dir: Path
    runtime_dir: Path

    @property
    def settings_file(self) -> Path:
        return self.config_dir / "settings.toml"

    @property
    def database_file(self) -> Path:
        return self.data_dir / "chats.sqlite3"

    @property
    def lock_file(self) -> Path:
        return self.data_dir / "lock"

    @property
    def benchmarks_dir(self) -> Path:
        return self.data_dir / "benchmarks"

    @property
    def qualifications_dir(self) -> Path:
        return self.data_dir / "qualifications"

    @property
    def prefixes_dir(self) -> Path:
        """Conversations that were read, so that they need not be read again; may be deleted at any time."""
        return self.cache_dir / "prefixes"

    @property
    def log_file(self) -> Path:
        return self.state_dir / "haloband.log"

    @property
    def crash_file(self) -> Path:
        return self.state_dir / "crash.txt"

    @property
    def window_file(self) -> Path:
        """Window geometry, for QSettings."""
        return self.state_dir / "window.ini"

    @property
    def instance_name(self) -> str:
        """A name that is the same for every process on this data folder, and short enough for a socket."""
        return f"{APP_NAME}-{hashlib.sha256(str(self.data_dir.resolve()).encode()).hexdigest()[:16]}"

    def create(self) -> None:
        """Make the folders that are written to. Raises OSError (a read-only home, a file in the way)."""
        for folder in (self.config_dir, self.data_dir, self.state_dir, self.cache_dir):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def app_paths(data_dir: Path | None = None) -> AppPaths:
    """The paths for this user, or all of them under `data_dir`."""
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    if data_dir is not None:
        root = data_dir.expanduser().absolute()
        return AppPaths(root, root, root, root / "cache", runtime)
    dirs = platformdirs.PlatformDirs(APP_NAME, appauthor=False)
    return AppPaths(
        Path(dirs.user_config_dir),
        Path(dirs.user_data_dir),
        Path(dirs.user_state_dir),
        Path(dirs.user_cache_dir),
        runtime,
    )
