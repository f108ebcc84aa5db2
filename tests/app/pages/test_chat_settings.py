"""The settings of one chat: own values, presets, system prompt; and the rows of the settings page."""

from dataclasses import replace
from typing import cast

import pytest
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QSpinBox, QWidget

from app.chat.effective import AnswerSettings, effective_settings
from app.chat.models import Chat, ChatSettings
from app.pages.chat_settings import ChatSettingsDialog
from app.pages.own_row import OwnRow
from app.real_engine import engine_sampling
from app.settings import Answers, Preset, Settings
from app.widgets.basics import RemovableRow
from engine.gguf.cursor import ValueType
from engine.gguf.metadata import Metadata
from engine.partial_sampling import UNSAID, PartialSampling
from engine.sampling import Sampling
from engine.sampling_advice import KEY_PREFIX, read_advice
from tests.app.fake_engine import FakeScript
from tests.app.window.conftest import OpenDriver
from tests.app.window.driver import WindowDriver


def current(driver: WindowDriver) -> Chat:
    chat = driver.chats.current_chat
    assert chat is not None
    return chat


def open_dialog(driver: WindowDriver) -> ChatSettingsDialog:
    driver.window.header.settings_button.click()
    return next(d for d in driver.window.findChildren(ChatSettingsDialog) if d.isVisible())


def test_nothing_is_set_until_it_is_ticked(driver: WindowDriver) -> None:
    dialog = open_dialog(driver)
    dialog.accept()
    driver.qtbot.wait(50)
    assert current(driver).settings == ChatSettings()


def test_a_ticked_value_is_the_chats_own(driver: WindowDriver) -> None:
    dialog = open_dialog(driver)
    row = dialog.row("temperature")
    row.own.setChecked(True)
    cast(QDoubleSpinBox, row.control).setValue(0.25)
    dialog.accept()
    driver.wait(lambda: current(driver).settings.temperature == pytest.approx(0.25))
    assert current(driver).settings.top_p is None
    again = open_dialog(driver)
    assert cast(QDoubleSpinBox, again.row("temperature").control).value() == pytest.approx(0.25)
    again.row("temperature").own.setChecked(False)
    again.accept()
    driver.wait(lambda: current(driver).settings.temperature is None)


def test_what_nobody_set_is_the_models_and_is_shown(open_driver: OpenDriver) -> None:
    driver = open_driver(FakeScript(advice=PartialSampling(temperature=0.3, top_k=5)))
    page, dialog = driver.window.settings, open_dialog(driver)
    for row in (page.row("answers", "temperature"), dialog.row("temperature")):
        control = cast(QDoubleSpinBox, row.control)
        assert control.value() == pytest.approx(0.3) and not control.isEnabled()
    assert cast(QDoubleSpinBox, dialog.row("top_p").control).value() == pytest.approx(0.95), "the model says nothing"
    assert cast(QSpinBox, dialog.row("top_k").control).value() == 5
    driver.ask("A question")
    assert driver.engine.samplings == [Sampling(temperature=0.3, top_k=5)]
    assert driver.window.services.settings.settings == Settings(), "showing is not setting"


def test_a_ticked_number_of_the_settings_holds_for_every_model_until_it_is_unticked(open_driver: OpenDriver) -> None:
    driver = open_driver(FakeScript(advice=PartialSampling(temperature=0.3)))
    row = cast(OwnRow, driver.window.settings.row("answers", "temperature"))
    row.own.click()
    assert driver.window.services.settings.settings.answers.temperature == pytest.approx(0.3)
    cast(QDoubleSpinBox, row.control).setValue(0.9)
    dialog = open_dialog(driver)
    assert cast(QDoubleSpinBox, dialog.row("temperature").control).value() == pytest.approx(0.9)
    driver.ask("A question")
    row.own.click()
    assert cast(QDoubleSpinBox, row.control).value() == pytest.approx(0.3)
    driver.ask("Another one")
    assert [one.temperature for one in driver.engine.samplings] == pytest.approx([0.9, 0.3])


@pytest.mark.parametrize("field", ["temperature", "top_p", "top_k", "min_p"])
def test_whatever_is_advised_can_be_ticked(field: str) -> None:
    """A number that the settings refuse would be lost at the next start."""
    key = "temp" if field == "temperature" else field
    limits = Answers.__dataclass_fields__[field].metadata
    for value in (limits["low"] - 0.005, limits["high"] + 1):
        advised = read_advice(Metadata("m", {f"{KEY_PREFIX}{key}": (ValueType.FLOAT32, value)}))
        assert getattr(advised, field) is None, value


def test_the_system_prompt_reaches_the_chat(driver: WindowDriver) -> None:
    dialog = open_dialog(driver)
    dialog.prompt.setPlainText("Answer in one word.")
    dialog.accept()
    driver.wait(lambda: current(driver).system_prompt == "Answer in one word.")


def test_a_preset_is_made_chosen_and_deleted(driver: WindowDriver) -> None:
    dialog = open_dialog(driver)
    dialog.row("temperature").own.setChecked(True)
    cast(QDoubleSpinBox, dialog.row("temperature").control).setValue(1.5)
    dialog.prompt.setPlainText("Be wild.")
    dialog.save_preset("Wild")
    dialog.reject()
    other = open_dialog(driver)
    other.choose_preset("Wild")
    assert other.prompt.toPlainText() == "Be wild."
    other.accept()
    driver.wait(lambda: current(driver).settings.temperature == pytest.approx(1.5))
    assert current(driver).settings.preset == "Wild"
    rows = driver.window.settings.findChildren(RemovableRow)
    next(r for r in rows if "Wild" in r.remove_button.accessibleName()).remove_button.click()
    assert driver.window.services.settings.settings.presets == ()


PIRATE = Preset(name="Pirate", temperature=1.5, max_tokens=77, thinking=True, system_prompt="You are a pirate.")
CALM = Preset(name="Calm", top_p=0.5, system_prompt="Be calm.")


def use_presets(driver: WindowDriver, *presets: Preset) -> None:
    driver.window.services.settings.change(lambda s: replace(s, presets=presets))


def save(driver: WindowDriver, dialog: ChatSettingsDialog) -> None:
    """Press Save and wait until the store has it."""
    done: list[object] = []
    dialog.accept()
    driver.chats._store.submit(lambda db: None, done.append)
    driver.wait(lambda: done)


def in_force(driver: WindowDriver) -> AnswerSettings:
    return effective_settings(current(driver), driver.window.services.settings.settings)


def test_choosing_none_takes_a_preset_off(driver: WindowDriver) -> None:
    plain = in_force(driver)
    use_presets(driver, PIRATE)
    dialog = open_dialog(driver)
    dialog.choose_preset("Pirate")
    save(driver, dialog)
    assert in_force(driver).sampling.wishes.temperature == pytest.approx(1.5)
    again = open_dialog(driver)
    again.choose_preset(None)
    save(driver, again)
    assert in_force(driver) == plain
    assert current(driver).settings == ChatSettings()


def test_choosing_none_leaves_what_one_set_oneself(driver: WindowDriver) -> None:
    use_presets(driver, PIRATE)
    dialog = open_dialog(driver)
    dialog.choose_preset("Pirate")
    cast(QDoubleSpinBox, dialog.row("temperature").control).setValue(0.25)
    dialog.prompt.setPlainText("My own words.")
    dialog.choose_preset(None)
    save(driver, dialog)
    assert current(driver).settings == ChatSettings(temperature=0.25)
    assert current(driver).system_prompt == "My own words."


def test_another_preset_takes_the_place_of_the_first(driver: WindowDriver) -> None:
    use_presets(driver, PIRATE, CALM)
    dialog = open_dialog(driver)
    dialog.choose_preset("Pirate")
    dialog.choose_preset("Calm")
    save(driver, dialog)
    assert current(driver).settings == ChatSettings(top_p=0.5, preset="Calm")
    assert current(driver).system_prompt == "Be calm."


@pytest.mark.parametrize("field", ["temperature", "max_tokens", "thinking", "system_prompt"])
def test_what_is_taken_away_follows_settings_not_the_preset(driver: WindowDriver, field: str) -> None:
    plain = in_force(driver)
    use_presets(driver, PIRATE)
    dialog = open_dialog(driver)
    dialog.choose_preset("Pirate")
    if field == "system_prompt":
        dialog.prompt.clear()
    else:
        dialog.row(field).own.setChecked(False)
    save(driver, dialog)

    def values(settings: AnswerSettings) -> dict[str, object]:
        return {
            "temperature": settings.sampling.wishes.temperature,
            "max_tokens": settings.max_tokens,
            "thinking": settings.thinking,
            "system_prompt": settings.system_prompt,
        }

    preset = {name: getattr(PIRATE, name) for name in values(plain)}
    assert values(in_force(driver)) == preset | {field: values(plain)[field]}


def test_a_saved_chat_that_only_names_a_preset_keeps_and_shows_it(driver: WindowDriver) -> None:
    use_presets(driver, PIRATE)
    driver.chats.set_chat_settings(current(driver).id, ChatSettings(preset="Pirate"))
    driver.wait(lambda: current(driver).settings.preset == "Pirate")
    before = in_force(driver)
    assert before.sampling.wishes.temperature == pytest.approx(1.5)
    dialog = open_dialog(driver)
    assert dialog.row("temperature").own.isChecked()
    assert cast(QDoubleSpinBox, dialog.row("temperature").control).value() == pytest.approx(1.5)
    assert dialog.prompt.toPlainText() == "You are a pirate."
    save(driver, dialog)
    assert in_force(driver) == before


def test_every_row_of_the_settings_page_changes_its_setting(driver: WindowDriver) -> None:
    """Each control moves its own field and no other, and shows a value that came from elsewhere."""
    page, service = driver.window.settings, driver.window.services.settings
    for group, field in page.fields():
        before = service.settings
        _nudge(page.row(group, field).control)
        after = service.settings
        changed = [
            (g, f)
            for g in Settings.__dataclass_fields__
            if g != "presets"
            for f in getattr(before, g).__dataclass_fields__
            if getattr(getattr(before, g), f) != getattr(getattr(after, g), f)
        ]
        assert changed == [(group, field)]
        service.update(replace(before))
    assert service.settings == before


def test_the_number_of_chats_in_memory_holds_at_once(driver: WindowDriver) -> None:
    driver.ask("A question")
    driver.chats.new_chat()
    driver.wait(lambda: not driver.messages)
    driver.ask("Another one")
    worker = driver.window.services.host._worker
    driver.wait(lambda: len(worker.published.held) == 2)
    cast(QSpinBox, driver.window.settings.row("model", "sessions_kept").control).setValue(1)
    driver.wait(lambda: len(worker.published.held) == 1)


def test_the_fields_take_what_the_settings_allow(driver: WindowDriver) -> None:
    page, dialog = driver.window.settings, open_dialog(driver)
    fields = [(page.row(*names).control, *names) for names in page.fields()]
    fields += [(dialog.row(name).control, "answers", name) for name in ("temperature", "top_p", "top_k", "min_p")]
    fields += [(dialog.row("max_tokens").control, "answers", "max_tokens")]
    for control, group, name in fields:
        if isinstance(control, QSpinBox | QDoubleSpinBox):
            limits = getattr(Settings(), group).__dataclass_fields__[name].metadata
            assert (control.minimum(), control.maximum()) == (limits["low"], limits["high"]), (group, name)


def test_a_chat_that_was_saved_with_a_top_p_of_0_can_answer(driver: WindowDriver) -> None:
    driver.chats.set_chat_settings(current(driver).id, ChatSettings(top_p=0.0, top_k=7))
    driver.wait(lambda: current(driver).settings.top_k == 7)
    assert engine_sampling(in_force(driver).sampling, UNSAID).top_p == pytest.approx(0.95)


def test_a_setting_that_no_choice_names_is_shown_blank_and_kept(driver: WindowDriver) -> None:
    """Someone may write into the settings file by hand."""
    service = driver.window.services.settings
    service.change(lambda s: replace(s, general=replace(s.general, language="fr")))
    assert driver.window.settings.row("general", "language").control.currentText() == ""
    assert service.settings.general.language == "fr"


def test_every_setting_has_a_row_or_a_page_of_its_own(driver: WindowDriver) -> None:
    elsewhere = {
        ("appearance", "show_sidebar"),  # shortcuts and buttons
        ("appearance", "show_panel"),
        ("answers", "system_prompt"),  # a field over the whole width
        ("answers", "seed"),  # a fixed seed is for one chat
        ("model", "path"),  # the models page
        ("model", "files"),
        ("model", "folders"),
    }
    every = {
        (group, field)
        for group in Settings.__dataclass_fields__
        if group != "presets"
        for field in getattr(Settings(), group).__dataclass_fields__
    }
    assert every - elsewhere == set(driver.window.settings.fields())


def _nudge(control: QWidget) -> None:
    if isinstance(control, QCheckBox):
        control.toggle()
    elif isinstance(control, QComboBox):
        control.setCurrentIndex((control.currentIndex() + 1) % control.count())
    else:
        assert isinstance(control, QSpinBox | QDoubleSpinBox)
        control.stepBy(1 if control.value() < control.maximum() else -1)
