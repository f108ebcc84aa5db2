"""Settings of one chat: its system prompt and how its answers are sampled; what is not set follows Settings. GUI
thread."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QInputDialog, QVBoxLayout, QWidget

from app.chat.models import Chat, ChatSettings
from app.pages.fields import FieldRow, check_row, choice_row, float_row, int_row, text_area
from app.pages.own_row import Changed, OwnRow
from app.settings import Preset
from app.widgets.basics import button, label
from app.window_services import WindowServices
from engine.partial_sampling import DEFAULTS


def _tr(text: str) -> str:
    return QCoreApplication.translate("ChatSettings", text)


class ChatSettingsDialog(QDialog):
    """Shows one chat's settings; the window opens it with the current chat."""

    def __init__(self, services: WindowServices, chat: Chat, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(_tr("Settings of this chat"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(560, 560)
        self._services = services
        self._chat = chat
        self._preset = self._preset_named(chat.settings.preset)
        self._prompt_text = self._preset.system_prompt if chat.system_prompt is None else chat.system_prompt
        defaults = services.settings.settings.answers
        self.prompt = text_area(_tr("System prompt"), self._on_prompt_changed, defaults.system_prompt)
        self.prompt.setPlainText(self._prompt_text or "")
        self._rows: dict[str, OwnRow] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 16)
        column.setSpacing(12)
        column.addWidget(label(_tr("System prompt"), tone="strong"))
        column.addWidget(self.prompt)
        column.addWidget(label(_tr("Tick what this chat sets for itself; the rest follows Settings."), tone="muted"))
        self._add_presets(column)
        self._add_rows(column)
        column.addStretch(1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel)
        self.preset_button = button(_tr("Save as preset …"), self._ask_preset_name)
        buttons.addButton(self.preset_button, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)

    def _add_presets(self, column: QVBoxLayout) -> None:
        presets = self._services.settings.settings.presets
        if not presets:
            return
        choices = ((None, _tr("None")), *((preset.name, preset.name) for preset in presets))
        row = choice_row(_tr("Preset"), _tr("Fills the fields below"), choices, self.choose_preset)
        row.show_value(self._preset.name or None)
        column.addWidget(row)

    def _add_rows(self, column: QVBoxLayout) -> None:
        rows: dict[str, Callable[[Changed], FieldRow]] = {
            "temperature": lambda take: float_row(_tr("Temperature"), "", 0.0, 5.0, take),
            "top_p": lambda take: float_row(_tr("Top p"), "", 0.01, 1.0, take),
            "top_k": lambda take: int_row(_tr("Top k"), "", 0, 1_000_000, take),
            "min_p": lambda take: float_row(_tr("Min p"), "", 0.0, 1.0, take),
            "seed": lambda take: int_row(_tr("Seed"), _tr("The same seed gives the same answer"), 0, 2**31 - 1, take),
            "max_tokens": lambda take: int_row(_tr("Longest answer"), "", 1, 1_000_000, take, suffix=_tr(" tokens")),
            "thinking": lambda take: check_row(_tr("Think first"), "", take),
        }
        for field, make in rows.items():
            value = getattr(self._chat.settings, field)
            if value is None:  # what the preset says holds for this chat, so it is shown as the chat's own
                value = getattr(self._preset, field, None)
            own = self._rows[field] = OwnRow(make, self._default(field))
            own.show_value(value)
            column.addWidget(own)

    def _default(self, field: str) -> object:
        """What holds where the chat says nothing: the settings, else the model, else what holds for any."""
        value = getattr(self._services.settings.settings.answers, field)
        if value is None:
            value = getattr(self._services.chats.model_status.advice.over(DEFAULTS), field, None)
        return 0 if value is None else value

    def _on_prompt_changed(self, text: str) -> None:
        self._prompt_text = text or None

    def row(self, field: str) -> OwnRow:
        """The row of one setting."""
        return self._rows[field]

    def _preset_named(self, name: str | None) -> Preset:
        """The preset of this name; an empty one if there is none."""
        return next((p for p in self._services.settings.settings.presets if p.name == name), Preset())

    def choose_preset(self, name: str | None) -> None:
        """Take back what the preset before filled in, and fill the fields with this one; None fills nothing."""
        before, self._preset = self._preset, self._preset_named(name)
        prompt = self._preset.system_prompt
        if prompt is not None or self._prompt_text == before.system_prompt:
            self.prompt.setPlainText(prompt or "")
            self._prompt_text = prompt  # a preset may say that there is none
        for field, row in self._rows.items():
            value = getattr(self._preset, field, None)
            if value is not None or row.value == getattr(before, field, None):
                row.show_value(value)

    def _preset_in_use(self) -> str | None:
        """The preset's name while this chat has a value of its own wherever the preset has one: what is not the chat's
        own would still be the preset's (app/chat/effective.py)."""
        values = {field: row.value for field, row in self._rows.items()} | {"system_prompt": self._prompt_text}
        is_whole = all(
            value is not None or getattr(self._preset, field, None) is None for field, value in values.items()
        )
        return (self._preset.name or None) if is_whole else None

    def _ask_preset_name(self) -> None:
        name, chosen = QInputDialog.getText(self, _tr("Save as preset"), _tr("Name of the preset"))
        if chosen and name.strip():
            self.save_preset(name.strip())

    def save_preset(self, name: str) -> None:
        """Keep the fields as a preset; one of the same name is replaced."""
        values = {field: row.value for field, row in self._rows.items() if field in Preset.__dataclass_fields__}
        preset = Preset(name=name, system_prompt=self._prompt_text, **values)  # type: ignore[arg-type] # as in accept
        self._preset = preset
        self._services.settings.change(
            lambda s: replace(s, presets=(*(p for p in s.presets if p.name != name), preset))
        )

    def accept(self) -> None:
        values = {field: row.value for field, row in self._rows.items()}
        settings = ChatSettings(preset=self._preset_in_use(), **values)  # type: ignore[arg-type] # each row gives its field's type
        self._services.chats.set_chat_settings(self._chat.id, settings)
        if self._prompt_text != self._chat.system_prompt:
            self._services.chats.set_system_prompt(self._chat.id, self._prompt_text)
        super().accept()
