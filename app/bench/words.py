"""The Benchmark panel's sentences and cells. Pure functions; GUI thread (translations and locale)."""

from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale, Qt

from app.sentences import translated
from app.widgets import formats
from engine.bench.history import Comparison, SavedRun, Setting, SettingChange, seed_comparison
from engine.bench.plans import Plan
from engine.bench.records import BenchProgressed, BenchRow, BenchRun, Figure, Phase
from engine.bench.stats import Difference, Stats


def _tr(text: str, n: int = -1) -> str:
    return QCoreApplication.translate("BenchmarkPanel", text, None, n)


def plan_name(plan: Plan) -> str:
    names = {
        Plan.QUICK: _tr("Quick"),
        Plan.STANDARD: _tr("Standard"),
        Plan.SEED: formats.isolated(_tr("9,133 tokens, two cuts")),
        Plan.SWEEP: _tr("Sweep over depth"),
    }
    return names[plan]


def plan_text(plan: Plan) -> str:
    """What a plan measures, in a sentence or two."""
    texts = {
        Plan.QUICK: _tr("Prompts of 512 and 2,048 tokens and an answer of 64; five runs each."),
        Plan.STANDARD: _tr(
            "Prompts of 512 and 2,048 tokens, an answer of 128, and 2,048 tokens at a depth of 8,192; five runs each."
        ),
        Plan.SEED: _tr(
            "One prompt of 9,133 tokens and 128 generated, cut as 8,192 + 941 and read in one step; one cold run and "
            "two warm ones of each. The table of Luce-Org/lucebox PR #684."
        ),
        Plan.SWEEP: _tr(
            "Walks one long text in steps of 2,048 tokens, timing only the newest ones, with 64 tokens of answer at "
            "each depth."
        ),
    }
    return texts[plan]


def progress_text(update: BenchProgressed, label: str) -> str:
    """Which row and run, doing what, and how long it will take."""
    phases = {
        Phase.SETUP: _tr("filling the session"),
        Phase.WARM_UP: _tr("warm-up"),
        Phase.PREFILL: _tr("reading"),
        Phase.DECODE: _tr("answering"),
    }
    text = _tr("{label}, run {run} of {runs}, {phase}, row {row} of {rows}").format(
        label=translated(label),
        run=update.run,
        runs=update.runs,
        phase=phases[update.phase],
        row=update.row,
        rows=update.rows,
    )
    if update.left_s is None:
        return text
    return _tr("{text}, {time} left").format(text=text, time=formats.time_left(update.left_s))


def spread(stats: Stats | None) -> str:
    """Mean and deviation; the unit stands beside it."""
    if stats is None:
        return formats.UNKNOWN
    mean = formats.significant(stats.mean)
    return mean if stats.stdev is None else formats.isolated(f"{mean} ± {formats.significant(stats.stdev, 2)}")


def line_name(row: BenchRow, figure: Figure) -> str:
    """What a line of the table is called: llama-bench's name, and the variant on a line of its own."""
    plain = replace(row, variant="")
    if figure is Figure.WALL:
        text = _tr("prompt + {tokens}").format(tokens=formats.tokens(row.generated_tokens))
    else:
        text = plain.name(figure)
    return f"{text}\n{formats.isolated(translated(row.variant))}" if row.variant else text


def figure_text(row: BenchRow, figure: Figure) -> str:
    """The cell of a figure, with its unit."""
    stats = row.stats(figure)
    if stats is None:
        return formats.UNKNOWN
    value = spread(stats)
    return formats.isolated(_tr("{value} s").format(value=value)) if figure is Figure.WALL else value


def difference_cell(difference: Difference | None) -> str:
    """The ratio to the earlier run, and whether it says anything."""
    if difference is None:
        return formats.UNKNOWN
    verdicts = {True: _tr("outside noise"), False: _tr("within noise"), None: _tr("noise unknown")}
    return f"{_ratio(difference)}\n{verdicts[difference.is_outside_noise]}"


def comparison_sentence(item: Comparison) -> str:
    """One compared figure for a screen reader and the tooltip."""
    unit = _tr("s") if item.figure is Figure.WALL else _tr("tok/s")
    change = formats.isolated(f"{spread(item.old)} → {spread(item.new)} {unit}")
    text = f"{test_name(item.test)}: {change}"
    found = item.difference
    if found is None:
        return text
    verdict = {
        True: _tr("{ratio}, outside the noise"),
        False: _tr("{ratio}, within the noise"),
        None: _tr("{ratio}; a single run does not tell the noise"),
    }[found.is_outside_noise].format(ratio=_ratio(found))
    return f"{text}, {verdict}"


def test_name(test: str) -> str:
    """A compared row's name; the variant in its brackets is in words."""
    base, bracket, variant = test.removesuffix("]").partition(" [")
    return f"{base} [{translated(variant)}]" if bracket else translated(test)


def change_text(change: SettingChange) -> str:
    """What else is different in two runs that are compared."""
    names = {
        Setting.MODEL: _tr("model"),
        Setting.MODEL_FILE: _tr("model file"),
        Setting.BACKEND: _tr("backend"),
        Setting.DEVICE: _tr("device"),
        Setting.KERNELS: _tr("kernels"),
        Setting.MODE: _tr("mode"),
        Setting.ROWS: _tr("rows"),
        Setting.CONTEXT: _tr("context"),
        Setting.THREADS: _tr("threads"),
        Setting.COMMIT: _tr("commit"),
        Setting.TORCH: _tr("torch"),
        Setting.KERNEL: _tr("kernel"),
        Setting.DRIVER: _tr("driver"),
        Setting.POWER_PROFILE: _tr("power profile"),
        Setting.TEXT: _tr("text"),
    }
    before, after = change.before, change.after
    if change.setting is Setting.KERNELS:
        before, after = (translated(text) if text else None for text in (before, after))
    unknown = _tr("not known")
    return _tr("{name}: {before}, now {after}").format(
        name=names[change.setting], before=before or unknown, after=after or unknown
    )


def _ratio(difference: Difference) -> str:
    return formats.isolated(f"{QLocale().toString(difference.ratio, 'f', 2)}×")


def row_details(row: BenchRow) -> str:
    """What the table has no line for: masks and peak memory; empty for a row without a wall time."""
    if Figure.WALL not in row.figures:
        return ""
    parts = []
    if row.mask_bytes is not None:
        parts.append(_tr("{size} of masks never allocated").format(size=formats.size(row.mask_bytes)))
    if row.peak_bytes is not None:
        parts.append(_tr("peak memory {size}").format(size=formats.size(row.peak_bytes)))
    if row.peak_gpu_bytes is not None:
        parts.append(_tr("peak GPU memory {size}").format(size=formats.size(row.peak_gpu_bytes)))
    return f"{translated(row.variant)}: {', '.join(parts)}" if parts else ""


def run_notes(run: BenchRun) -> list[str]:
    """What a finished run was measured on, and what to keep in mind."""
    notes = [text for row in run.rows if (text := row_details(row))]
    arms = seed_comparison(run)
    if arms is not None:
        notes.append(comparison_sentence(arms))
    if run.settings.plan is Plan.SEED and not run.settings.cold_is_fresh:
        notes.append(
            _tr("Cold here means a new session of the loaded model; haloband bench loads it anew before each cold run.")
        )
    if run.was_stopped:
        notes.append(_tr("Stopped before the end; the rows above are good."))
    return notes


def not_quiet_text(reasons: tuple[str, ...]) -> str:
    """Why the figures may not stand for the machine; empty if it was quiet."""
    return (
        _tr("The machine was not quiet: {reasons}.").format(reasons="; ".join(map(translated, reasons)))
        if reasons
        else ""
    )


def saved_name(saved: SavedRun) -> str:
    """An entry of the list of earlier runs: when, what, on which model."""
    run = saved.run
    moment = QDateTime.fromString(run.started_at, Qt.DateFormat.ISODate)
    is_known = moment.isValid()  # a file from elsewhere may say anything
    when = QLocale().toString(moment.toLocalTime(), QLocale.FormatType.ShortFormat) if is_known else run.started_at
    return formats.isolated(f"{when}, {plan_name(run.settings.plan)}, {run.model.name}")
