"""Find in the open chat: the right words are selected, whatever stands before and inside them."""

import pytest

from app.transcript.model import MessageView, Role
from app.transcript.selection import TextPlace
from tests.app.fake_engine import FakeScript
from tests.app.window.conftest import OpenDriver
from tests.app.window.driver import WindowDriver

ANSWER = (
    "Die Straße, der Fuß, der Gruß und das Ziel. A **bold** word, a [fine link](http://a.example/secret). İİ 😀 end\n\n"
    "| Left | Right |\n|---|---|\n| one | deep cell |\n"
)


def find(driver: WindowDriver, text: str) -> str:
    """Type into the open find bar; what is selected then."""
    driver.window.chat.transcript.selection.clear()
    driver.window.chat.find_bar.field.setText(text)
    return driver.window.chat.transcript.selected_text()


def count(driver: WindowDriver) -> str:
    return driver.window.chat.find_bar._count.text()


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("Ziel", "Ziel"),
        ("straße", "Straße"),
        ("STRASSE", "Straße"),
        ("end", "end"),
        ("a bold w", "A bold w"),
        ("fine link", "fine link"),
        ("deep cell", "deep cell"),
    ],
)
def test_the_words_that_one_sees_are_selected(open_driver: OpenDriver, text: str, selected: str) -> None:
    driver = open_driver(FakeScript(answer=(ANSWER,)))
    driver.ask("A question")
    driver.trigger("find")
    assert find(driver, text) == selected
    driver.wait(lambda: count(driver) == "in 1 message")


@pytest.mark.parametrize("text", ["**bold", "secret", "|---", "nowhere"])
def test_marks_that_are_not_shown_are_not_found(open_driver: OpenDriver, text: str) -> None:
    driver = open_driver(FakeScript(answer=(ANSWER,)))
    driver.ask("A question")
    driver.trigger("find")
    assert find(driver, text) == ""
    driver.wait(lambda: count(driver) == "No match")


def test_next_and_previous_go_through_all_messages_and_round(driver: WindowDriver) -> None:
    transcript, bar = driver.window.chat.transcript, driver.window.chat.find_bar
    transcript.set_messages(
        [
            MessageView(1, Role.USER, "word one word"),
            MessageView(2, Role.ASSISTANT, "nothing"),
            MessageView(3, Role.ASSISTANT, "a **wo**rd"),
        ]
    )
    bar.open_bar()
    bar.field.setText("word")

    def here() -> tuple[int, int]:
        anchor = transcript.selection.anchor
        assert anchor is not None
        return anchor.message_id, anchor.position

    seen = [here()]
    for direction in (1, 1, 1, -1, -1, -1):
        bar.step(direction)
        seen.append(here())
    assert seen == [(3, 2), (1, 0), (1, 9), (3, 2), (1, 9), (1, 0), (3, 2)]
    driver.wait(lambda: count(driver) == "in 2 messages")


def test_a_match_in_the_hidden_part_of_a_long_question_is_shown(driver: WindowDriver) -> None:
    transcript, bar = driver.window.chat.transcript, driver.window.chat.find_bar
    transcript.set_messages([MessageView(1, Role.USER, "\n".join(f"line {n}." for n in range(200)))])
    bar.open_bar()
    assert find(driver, "line 190.") == "line 190."


def test_unfolded_thinking_is_looked_through(driver: WindowDriver) -> None:
    transcript, bar = driver.window.chat.transcript, driver.window.chat.find_bar
    transcript.set_messages([MessageView(1, Role.ASSISTANT, "An answer.", thinking="A *secret* thought.")])
    bar.open_bar()
    assert find(driver, "secret thought") == ""
    transcript.toggle_fold(1)
    assert find(driver, "") == ""
    assert find(driver, "secret thought") == "secret thought"


def test_a_very_long_chat_is_counted_while_the_window_lives(driver: WindowDriver) -> None:
    transcript, bar = driver.window.chat.transcript, driver.window.chat.find_bar
    views = [MessageView(n, Role.ASSISTANT, f"*Item* number {n} of **many**.\n\n- a\n- b") for n in range(1, 2001)]
    transcript.set_messages(views)
    bar.open_bar()
    bar.field.setText("item number 2000 of many")
    assert transcript.selected_text() == "Item number 2000 of many"  # found at once, counted later
    bar.field.setText("item number")
    driver.wait(lambda: "".join(filter(str.isdigit, count(driver))) == "2000")


def test_a_place_behind_the_end_is_no_harm(driver: WindowDriver) -> None:
    transcript = driver.window.chat.transcript
    transcript.set_messages([MessageView(1, Role.ASSISTANT, "short")])
    transcript.scroll_to_place(TextPlace(1, 1, 0, 1000))
