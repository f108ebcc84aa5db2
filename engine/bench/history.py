"""Earlier benchmark runs as JSON files in one folder (engine/record_files.py), and the comparison of two runs figure by
figure."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from engine.bench.json_form import run_from_json, run_to_json
from engine.bench.plans import SEED_PROMPT
from engine.bench.records import BenchRun, Figure
from engine.bench.stats import Difference, Stats, compare
from engine.errors import UserError
from engine.record_files import Writer, load_all, save_new


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run and its file."""

    path: Path
    run: BenchRun


@dataclass(frozen=True, slots=True)
class History:
    """Runs, newest first, and one sentence for each file that could not be read."""

    runs: tuple[SavedRun, ...]
    problems: tuple[str, ...]


def save_run(run: BenchRun, folder: Path, write: Writer) -> Path:
    """Write a run as a new file, named by its time and plan; never over another one. Returns its path."""
    return save_new(f"{run.started_at}-{run.settings.plan.value}", run_to_json(run), folder, write)


def load_history(folder: Path) -> History:
    """All runs saved in the folder. A folder that does not exist is an empty history."""
    runs, problems = load_all(folder, load_run)
    runs.sort(key=lambda saved: (saved.run.started_at, saved.path.name), reverse=True)
    return History(tuple(runs), problems)


def load_run(path: Path) -> SavedRun:
    """One saved run. Raises UserError naming the file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"The benchmark {path.name} cannot be read: {error}.") from None
    return SavedRun(path, run_from_json(text, path.name))


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure in two runs; `difference` is None if the old mean is 0. For WALL a ratio below 1 is the faster."""

    test: str
    figure: Figure
    old: Stats
    new: Stats
    difference: Difference | None


def compare_runs(old: BenchRun, new: BenchRun) -> tuple[Comparison, ...]:
    """Every figure that both runs have, in the order of the new one. Rows match by their test name."""
    found = {}
    for row in old.rows:
        for figure in Figure:
            stats = row.stats(figure)
            if stats is not None:
                found[row.name(figure)] = stats
    compared = []
    for row in new.rows:
        for figure in Figure:
            before, after = found.get(row.name(figure)), row.stats(figure)
            if before is not None and after is not None:
                compared.append(Comparison(row.name(figure), figure, before, after, compare(before, after)))
    return tuple(compared)


def seed_comparison(run: BenchRun) -> Comparison | None:
    """Within a seed run: prefill in one step against the public cut, warm runs; None while one of them is missing."""
    arms = {row.steps: row for row in run.rows if row.variant.endswith("warm")}
    cut = next((row for steps, row in arms.items() if len(steps) > 1), None)
    whole = next((row for steps, row in arms.items() if len(steps) == 1), None)
    before = cut.stats(Figure.PREFILL) if cut is not None else None
    after = whole.stats(Figure.PREFILL) if whole is not None else None
    if before is None or after is None:
        return None
    return Comparison(f"pp{SEED_PROMPT}, one step against two", Figure.PREFILL, before, after, compare(before, after))


class Setting(Enum):
    """What may differ between two runs besides their figures; the value is what people call it."""

    MODEL = "model"
    MODEL_FILE = "model file"
    BACKEND = "backend"
    DEVICE = "device"
    KERNELS = "kernels"
    MODE = "mode"
    ROWS = "rows"
    CONTEXT = "context"
    THREADS = "threads"
    COMMIT = "commit"
    TORCH = "torch"
    KERNEL = "kernel"
    DRIVER = "driver"
    POWER_PROFILE = "power profile"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One difference; None for what is not known."""

    setting: Setting
    before: str | None
    after: str | None

    def __str__(self) -> str:
        return f"{self.setting.value}: {self.before}, now {self.after}"


def setting_changes(old: BenchRun, new: BenchRun) -> tuple[SettingChange, ...]:
    """What else changed between two runs: a ratio alone does not say why."""
    pairs = {
        Setting.MODEL: (old.model.name, new.model.name),
        Setting.MODEL_FILE: (_short(old.model.fingerprint), _short(new.model.fingerprint)),
        Setting.BACKEND: (old.model.backend, new.model.backend),
        Setting.DEVICE: (old.model.device, new.model.device),
        Setting.KERNELS: (old.model.native, new.model.native),
        Setting.MODE: (old.settings.mode, new.settings.mode),
        Setting.ROWS: (old.settings.kv_rounding, new.settings.kv_rounding),
        Setting.CONTEXT: (f"{old.settings.context:,}", f"{new.settings.context:,}"),
        Setting.THREADS: (str(old.machine.threads), str(new.machine.threads)),
        Setting.COMMIT: (_short(old.machine.commit), _short(new.machine.commit)),
        Setting.TORCH: (old.machine.torch, new.machine.torch),
        Setting.KERNEL: (old.machine.kernel, new.machine.kernel),
        Setting.DRIVER: (old.machine.driver, new.machine.driver),
        Setting.POWER_PROFILE: (old.machine.power_profile, new.machine.power_profile),
        Setting.TEXT: (_short(old.text_sha256), _short(new.text_sha256)),
    }
    return tuple(SettingChange(setting, before, after) for setting, (before, after) in pairs.items() if before != after)


def _short(digest: str | None) -> str | None:
    return None if digest is None else digest.removeprefix("sha256:")[:10]
