"""The settings page: every setting with a sentence about it; a change holds at once. GUI thread."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from app.pages.fields import FieldRow, check_row, choice_row, float_row, int_row, text_area
from app.pages.own_row import Changed, OwnRow
from app.settings import Preset, SendKey, SessionMode, Settings
from app.settings import Theme as ThemeChoice
from app.settings_service import SettingsService
from app.theme import Theme
from app.widgets.basics import RemovableRow, clear_layout, hairline, label
from engine.partial_sampling import DEFAULTS, PartialSampling

_WIDEST = 760


def _tr(text: str) -> str:
    return QCoreApplication.translate("SettingsPage", text)


class SettingsPage(QWidget):
    """Rows bound to fields of Settings."""

    def __init__(self, settings: SettingsService, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._settings = settings
        self._theme = theme
        self._shown_presets: tuple[Preset, ...] | None = None
        self._rows: list[tuple[str, str, FieldRow | OwnRow]] = []
        self._sampling: dict[str, OwnRow] = {}
        self._column = QVBoxLayout()
        self._column.setSpacing(16)
        self._prompt = text_area(
            _tr("System prompt"),
            self._setter("answers", "system_prompt"),
            _tr("What every chat is told first; may be empty"),
        )
        self._build()
        settings.changed.connect(lambda now, _before: self.show_settings(now))
        self.show_settings(settings.settings)

    def _build(self) -> None:
        self._add_appearance()
        self._add_composer()
        self._add_answers()
        self._add_engine()
        self._add_general()
        inner = QWidget()
        inner.setObjectName("page")
        inner.setMaximumWidth(_WIDEST)
        inner.setLayout(self._column)
        self._column.setContentsMargins(24, 8, 24, 24)
        self._column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setAccessibleName(_tr("Settings"))
        area.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        area.setWidget(inner)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(area)

    # ------------------------------------------------------------ groups

    def _add_appearance(self) -> None:
        self._title(_tr("Appearance"))
        themes = (
            (ThemeChoice.SYSTEM, _tr("Follow the system")),
            (ThemeChoice.LIGHT, _tr("Light")),
            (ThemeChoice.DARK, _tr("Dark")),
        )
        look = "appearance"
        self._add(look, "theme", choice_row(_tr("Theme"), "", themes, self._setter(look, "theme")))
        scale = float_row(
            _tr("Text size"), _tr("1 is the system's own size"), 0.5, 3.0, self._setter(look, "text_scale"), step=0.1
        )
        self._add(look, "text_scale", scale)
        self._check(look, "keep_thinking_open", _tr("Keep thinking open"), _tr("Thoughts stay unfolded after they end"))
        self._check(look, "reduce_motion", _tr("Less motion"), _tr("Nothing turns or pulses while the model works"))

    def _add_composer(self) -> None:
        self._title(_tr("Writing"))
        keys = ((SendKey.ENTER, _tr("Enter")), (SendKey.CTRL_ENTER, _tr("Ctrl+Enter")))
        self._add("composer", "send_key", choice_row(_tr("Send with"), "", keys, self._setter("composer", "send_key")))
        self._check(
            "composer",
            "paste_becomes_document",
            _tr("Long pastes become documents"),
            _tr("Shown as a chip with size and token count; the whole text is sent either way"),
        )
        row = int_row(
            _tr("A paste is long from"),
            "",
            100,
            1_000_000,
            self._setter("composer", "paste_threshold"),
            suffix=_tr(" characters"),
            step=500,
        )
        self._add("composer", "paste_threshold", row)

    def _add_answers(self) -> None:
        self._title(_tr("Answers"), _tr("For chats that set nothing of their own"))
        self._column.addWidget(label(_tr("System prompt")))
        self._column.addWidget(self._prompt)
        answers = "answers"
        self._add_sampling()
        self._add_int(answers, "max_tokens", _tr("Longest answer"), "", 1, 1_000_000, _tr(" tokens"), 128)
        self._check(answers, "thinking", _tr("Think first"), _tr("The model writes its thoughts before the answer"))
        self._add_presets()

    def _add_sampling(self) -> None:
        text = _tr(
            "How words are chosen. What is ticked holds for every model; the rest is what the model's makers advise."
        )
        self._column.addWidget(label(text, tone="muted", size="small", wraps=True))
        likely = _tr("0 always takes the likeliest word")
        share = _tr("Words that together reach this share")
        relative = _tr("Words at least this likely, relative to the best")
        most = _tr("At most this many words; 0 takes all")
        rows: dict[str, Callable[[Changed], FieldRow]] = {
            "temperature": lambda take: float_row(_tr("Temperature"), likely, 0.0, 5.0, take),
            "top_p": lambda take: float_row(_tr("Top p"), share, 0.01, 1.0, take),
            "min_p": lambda take: float_row(_tr("Min p"), relative, 0.0, 1.0, take),
            "top_k": lambda take: int_row(_tr("Top k"), most, 0, 1_000_000, take),
        }
        for field, make in rows.items():
            row = OwnRow(make, getattr(DEFAULTS, field), self._setter("answers", field))
            self._sampling[field] = row
            self._add("answers", field, row)

    def show_advice(self, advice: PartialSampling) -> None:
        """What the model advises for sampling, shown where no number is set."""
        for field, row in self._sampling.items():
            row.set_default(getattr(advice.over(DEFAULTS), field))

    def _add_presets(self) -> None:
        self._column.addWidget(label(_tr("Presets")))
        text = _tr("Made in the settings of a chat, and chosen there")
        self._column.addWidget(label(text, tone="muted", size="small"))
        self._presets = QVBoxLayout()
        self._column.addLayout(self._presets)

    def _show_presets(self, settings: Settings) -> None:
        clear_layout(self._presets)
        for preset in settings.presets:
            text = _tr("Delete the preset {name}").format(name=preset.name)
            self._presets.addWidget(RemovableRow(preset.name, text, self._theme, partial(self._delete, preset.name)))
        if not settings.presets:
            self._presets.addWidget(label(_tr("None yet"), tone="muted"))

    def _delete(self, name: str) -> None:
        self._settings.change(lambda s: replace(s, presets=tuple(p for p in s.presets if p.name != name)))

    def _add_engine(self) -> None:
        self._title(_tr("Engine"), _tr("Holds from the next answer on"))
        modes = (
            (SessionMode.SPARSE, _tr("Banded and sparse (fast)")),
            (SessionMode.DENSE, _tr("Dense")),
            (SessionMode.EXACT, _tr("Exact (for comparison)")),
        )
        self._add_int(
            "model",
            "context",
            _tr("Context size"),
            _tr("Larger contexts take more memory"),
            256,
            1_048_576,
            _tr(" tokens"),
            1024,
        )
        self._add("model", "mode", choice_row(_tr("Attention"), "", modes, self._setter("model", "mode")))
        self._add_int(
            "model",
            "sessions_kept",
            _tr("Chats kept in memory"),
            _tr("Going back to one of them reads nothing again"),
            1,
            64,
        )
        self._check("model", "reload_last", _tr("Load the last model at start"), "")
        self._add_loading()

    def _add_loading(self) -> None:
        self._title(_tr("Loading a model"), _tr("Holds from the next model that is loaded"))
        automatic = ("auto", _tr("Automatic"))
        backends = (automatic, ("gpu", _tr("Graphics processor")), ("cpu", _tr("Processor")))
        roundings = (automatic, ("e4m3", "E4M3"), ("f16", "F16"), ("none", _tr("None (for comparison)")))
        numbers = (automatic, ("bfloat16", "BF16"), ("float32", "FP32"))
        kept = _tr("How keys and values are kept; automatic is what the model was trained with")
        for field, name, help_text, choices in (
            ("backend", _tr("Runs on"), "", backends),
            ("kv_rounding", _tr("Rounding of the cache"), kept, roundings),
            ("dtype", _tr("Computes in"), "", numbers),
        ):
            self._add("model", field, choice_row(name, help_text, choices, self._setter("model", field)))

    def _add_general(self) -> None:
        self._title(_tr("General"))
        languages = (("", _tr("Follow the system")), ("en", "English"), ("de", "Deutsch"))
        row = choice_row(
            _tr("Language"), _tr("Holds from the next start on"), languages, self._setter("general", "language")
        )
        self._add("general", "language", row)
        self._check("general", "reopen_last_chat", _tr("Open the last chat at start"), "")
        self._check(
            "general",
            "notify_when_done",
            _tr("Notify when a long answer ends"),
            _tr("Only while the window is not in front"),
        )
        notify_after = float_row(
            _tr("An answer is long from"),
            "",
            0.0,
            3600.0,
            self._setter("general", "notify_after_s"),
            step=5.0,
            decimals=0,
            suffix=_tr(" seconds"),
        )
        self._add("general", "notify_after_s", notify_after)
        self._check("general", "inhibit_sleep", _tr("Keep the computer awake while answering"), "")

    # ------------------------------------------------------------ rows

    def _title(self, text: str, help_text: str = "") -> None:
        if self._rows:
            self._column.addSpacing(8)
            self._column.addWidget(hairline())
        self._column.addWidget(label(text, size="title"))
        if help_text:
            self._column.addWidget(label(help_text, tone="muted", size="small"))

    def _add(self, group: str, field: str, row: FieldRow | OwnRow) -> None:
        self._rows.append((group, field, row))
        self._column.addWidget(row)

    def _check(self, group: str, field: str, name: str, help_text: str) -> None:
        self._add(group, field, check_row(name, help_text, self._setter(group, field)))

    def _add_int(
        self, group: str, field: str, name: str, help_text: str, low: int, high: int, suffix: str = "", step: int = 1
    ) -> None:
        row = int_row(name, help_text, low, high, self._setter(group, field), suffix=suffix, step=step)
        self._add(group, field, row)

    def fields(self) -> list[tuple[str, str]]:
        """Group and name of every setting that has a row."""
        return [(group, field) for group, field, _ in self._rows]

    def row(self, group: str, field: str) -> FieldRow | OwnRow:
        """The row of one setting. Raises StopIteration for one that has none."""
        return next(row for g, f, row in self._rows if (g, f) == (group, field))

    def _setter(self, group: str, field: str) -> Callable[[Any], None]:  # Any: the field's own type, see Settings
        def change(value: Any) -> None:
            self._settings.change(lambda s: replace(s, **{group: replace(getattr(s, group), **{field: value})}))

        return change

    def show_settings(self, settings: Settings) -> None:
        """Show these values without reporting them back."""
        if settings.presets != self._shown_presets:
            self._shown_presets = settings.presets
            self._show_presets(settings)
        for group, field, row in self._rows:
            row.show_value(getattr(getattr(settings, group), field))
        if self._prompt.toPlainText() != settings.answers.system_prompt:
            with QSignalBlocker(self._prompt):
                self._prompt.setPlainText(settings.answers.system_prompt)

    def set_theme(self, theme: Theme) -> None:
        """The rows follow the style sheet; only the icons of the presets are drawn by hand."""
        self._theme = theme
        self._show_presets(self._settings.settings)
