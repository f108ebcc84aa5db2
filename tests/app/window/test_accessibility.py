"""What people hear and reach by keyboard: announcements once a phase, a sensible tab order, mirrored layout."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QWidget

from tests.app.fake_engine import FakeScript
from tests.app.window.conftest import OpenDriver
from tests.app.window.driver import WindowDriver


@pytest.fixture
def spoken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every sentence that the chat page hands to the screen reader."""
    said: list[str] = []
    monkeypatch.setattr("app.window_chat.announce", lambda _widget, text: said.append(text))
    return said


def test_each_phase_is_announced_once(open_driver: OpenDriver, spoken: list[str]) -> None:
    driver = open_driver(FakeScript(answer=tuple("word " for _ in range(60)), token_s=0.005, prefill_s=0.2))
    driver.ask("A question")
    driver.wait(lambda: "Finished" in spoken)
    assert spoken == ["Reading prompt", "Answering", "Finished"]


def test_a_failure_is_announced(open_driver: OpenDriver, spoken: list[str]) -> None:
    driver = open_driver(FakeScript(prefill_error=RuntimeError("broken")))
    driver.send("A question")
    driver.wait(lambda: "Failed" in spoken)
    assert spoken.count("Failed") == 1


def test_another_chats_phases_are_not_announced(open_driver: OpenDriver, spoken: list[str]) -> None:
    driver = open_driver(FakeScript(answer=tuple("word " for _ in range(40)), token_s=0.02))
    driver.send("A question")
    driver.wait(lambda: driver.last.text)
    busy = driver.chats.current_chat_id
    driver.trigger("new_chat")
    driver.wait(lambda: not driver.messages)
    spoken.clear()
    assert busy is not None
    driver.wait(lambda: driver.chats.status(busy).state.value == "done")
    assert spoken == []


def reachable(window: QWidget) -> list[QWidget]:
    """Visible widgets in the order that Tab visits them."""
    order: list[QWidget] = []
    widget = window.nextInFocusChain()
    while widget is not window:
        if widget.isVisible() and widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            order.append(widget)
        widget = widget.nextInFocusChain()
    return order


def test_tab_goes_in_reading_order_and_back_to_the_start(driver: WindowDriver) -> None:
    driver.ask("A question")
    window = driver.window
    order = reachable(window)
    wanted: list[QWidget] = [
        window.sidebar.new_button,
        window.sidebar.search_field,
        window.sidebar.list,
        window.header.sidebar_button,
        window.chat.transcript,
        window.chat.composer.field,
        window.chat.composer.attach_button,
        window.chat.composer.primary_button,
        window.status.model_button,
    ]
    places = [order.index(widget) for widget in wanted if widget.isEnabled()]
    assert places == sorted(places)
    assert len(order) == len(set(order))
    names = [widget.accessibleName() for widget in order]
    between = names[order.index(window.chat.transcript) : order.index(window.chat.composer.field)]
    assert [name for name in between if " of 2" in name] == ["Question 1 of 2", "Answer 2 of 2"]


def test_tab_leaves_the_field_and_messages_take_the_keyboard(driver: WindowDriver) -> None:
    driver.ask("A question")
    driver.composer.field.setFocus()
    driver.press(Qt.Key.Key_Tab)
    assert driver.window.focusWidget() is not driver.composer.field
    names = [widget.accessibleName() for widget in reachable(driver.window)]
    assert "Question 1 of 2" in names and "Answer 2 of 2" in names


def test_the_window_is_mirrored_for_right_to_left_languages(right_to_left: None, open_driver: OpenDriver) -> None:
    driver = open_driver()
    driver.composer.field.setPlainText("שלום")  # QTest can only type ASCII
    driver.press(Qt.Key.Key_Return)
    driver.wait(lambda: len(driver.messages) == 2)
    driver.wait_for_end()
    window = driver.window

    def x(widget: QWidget) -> int:
        return widget.mapTo(window, QPoint(0, 0)).x()

    assert x(window.sidebar) > x(window.chat) > x(window.panel)
    assert x(window.chat.composer.primary_button) < x(window.chat.composer.attach_button)
    assert window.grab().width() > 0
