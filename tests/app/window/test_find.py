"""Find in the open chat: the right words are selected, whatever stands before and inside them."""

from bisect import bisect_right
from itertools import accumulate

import pytest
from markdown_it.token import Token

from app.transcript.block_layout import BlockLayout
from app.transcript.markdown import PLAIN_CHUNK, Block, Environment, inline_tokens, plain_blocks
from app.transcript.model import MessageView, Role
from app.transcript.selection import TextPlace
from app.transcript.shown_text import in_utf16, places_of, utf16_units
from app.transcript.slots import PlacedBlock
from app.transcript.text_style import TextStyle
from app.transcript.view import TranscriptView
from tests.app.fake_engine import FakeScript
from tests.app.window.conftest import OpenDriver
from tests.app.window.driver import WindowDriver

ANSWER = (
    "Die Straße, der Fuß, der Gruß und das Ziel. A **bold** word, a [fine link](http://a.example/secret). İİ 😀 end\n\n"
    "| Left | Right |\n|---|---|\n| one | deep cell |\n"
)


@pytest.fixture(autouse=True, params=[None, 0.0], ids=["usual slices", "a step a slice"])
def slices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a slow machine, nothing is found before the timer runs."""
    if request.param is not None:
        monkeypatch.setattr("app.window_find_scan._SLICE_S", request.param)


def settle(driver: WindowDriver) -> None:
    """Wait until all messages are looked through."""
    driver.wait(lambda: not driver.window.chat.find_bar._scan._timer.isActive())


def find(driver: WindowDriver, text: str) -> str:
    """Type into the open find bar; what is selected in the end."""
    driver.window.chat.transcript.selection.clear()
    driver.window.chat.find_bar.field.setText(text)
    settle(driver)
    return driver.window.chat.transcript.selected_text()


def here(driver: WindowDriver) -> TextPlace:
    """Where the selected match begins."""
    anchor = driver.window.chat.transcript.selection.anchor
    assert anchor is not None
    return anchor


def step(driver: WindowDriver, direction: int) -> TextPlace:
    driver.window.chat.find_bar.step(direction)
    settle(driver)
    return here(driver)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Block]:
    """Blocks that have been made into documents, one after the other."""
    blocks: list[Block] = []
    realise = BlockLayout.realise

    def note(layout: BlockLayout, style: TextStyle) -> None:
        if layout.document is None:
            blocks.append(layout.block)
        realise(layout, style)

    monkeypatch.setattr(BlockLayout, "realise", note)
    return blocks


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
    assert find(driver, "word") == "word"
    seen = [here(driver), *(step(driver, direction) for direction in (1, 1, 1, -1, -1, -1))]
    places = [(place.message_id, place.position) for place in seen]
    assert places == [(3, 2), (1, 0), (1, 9), (3, 2), (1, 9), (1, 0), (3, 2)]
    assert count(driver) == "in 2 messages"


def long_messages(lines: int) -> dict[str, MessageView]:
    text = "\n".join(f"Zeile {n}: Straße 😀 und Gruß." for n in range(lines))
    paragraphs = text.replace("\n", "\n\n").replace("Straße", "**Stra**ße")
    return {
        "question": MessageView(1, Role.USER, text),
        "question in one line": MessageView(1, Role.USER, text.replace("\n", "")),
        "answer": MessageView(1, Role.ASSISTANT, paragraphs),
        "thinking": MessageView(1, Role.ASSISTANT, "Zeile 1", thinking=paragraphs),
        "code": MessageView(1, Role.ASSISTANT, f"```\n{text}\n```"),
    }


def show_one(driver: WindowDriver, view: MessageView) -> None:
    """Show a message, its thinking unfolded, and open the find bar."""
    driver.window.chat.transcript.set_messages([view])
    if view.thinking:
        driver.window.chat.transcript.toggle_fold(view.id)
    driver.window.chat.find_bar.open_bar()


@pytest.mark.parametrize("kind", long_messages(0))
def test_steps_go_through_every_match_in_order(
    driver: WindowDriver, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("app.transcript.markdown.PLAIN_CHUNK", 150)  # many parts of a question
    transcript = driver.window.chat.transcript
    show_one(driver, long_messages(130)[kind])
    for text in ("strasse", "ss", "e", "zeile 1"):
        assert text in find(driver, text).casefold()
        forth: list[TextPlace] = []
        for expected in _all_places(transcript, text)[:30]:
            forth.append(step(driver, 1))
            assert forth[-1] == expected
            assert text in transcript.selected_text().casefold()
        assert len(forth) == 30
        assert [step(driver, -1) for _ in forth[1:]] == forth[-2::-1]


def _all_places(transcript: TranscriptView, needle: str) -> list[TextPlace]:
    """Where the matches of the only message begin, by its documents put together line by line."""
    places: list[TextPlace] = []
    style = transcript.text_style
    runs: list[list[PlacedBlock]] = []
    for placed in transcript.layout_of_row(0).blocks():
        if placed.layout.block.joins_previous:
            runs[-1].append(placed)
        else:
            runs.append([placed])
    for run in runs:
        texts = [placed.layout.raw_text(style) for placed in run]
        whole, ends = "".join(texts), list(accumulate(utf16_units(text) for text in texts))
        for start, _ in in_utf16(whole, places_of(whole, needle)):
            number = bisect_right(ends, start)
            before = ends[number - 1] if number else 0
            places.append(TextPlace(1, run[number].section, run[number].index, start - before))
    return places


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


@pytest.mark.parametrize("kind", ["question", "question in one line", "answer", "thinking"])
def test_a_long_message_is_not_laid_out_whole(driver: WindowDriver, made: list[Block], kind: str) -> None:
    view = long_messages(2_000)[kind]
    show_one(driver, view)
    for text in ("s", "st", "zeile 999"):
        assert text in find(driver, text).casefold()
        step(driver, -1)
        step(driver, 1)
    assert 0 < sum(len(block.source) for block in made) < len(view.text + view.thinking) / 2


def test_a_match_across_two_parts_of_a_line_is_selected(driver: WindowDriver) -> None:
    text = "😀" * (PLAIN_CHUNK - 3) + "needle" + "x" * PLAIN_CHUNK
    assert len(plain_blocks(text)) > 1
    driver.window.chat.transcript.set_messages([MessageView(1, Role.USER, text)])
    driver.window.chat.find_bar.open_bar()
    assert find(driver, "NEEDLE") == "needle"
    first = here(driver)
    assert step(driver, 1) == step(driver, -1) == first


def test_a_question_that_hides_no_match_stays_short(driver: WindowDriver) -> None:
    transcript = driver.window.chat.transcript
    transcript.set_messages([MessageView(1, Role.USER, "The beginning.\n" + "more\n" * 200)])
    driver.window.chat.find_bar.open_bar()
    assert find(driver, "beginning") == "beginning"
    assert not transcript.layout_of_row(0).is_expanded


def test_find_goes_on_where_it_was_after_it_was_closed(driver: WindowDriver) -> None:
    transcript, bar = driver.window.chat.transcript, driver.window.chat.find_bar
    transcript.set_messages([MessageView(n, Role.ASSISTANT, "a word\n\na word\n\na word") for n in (1, 2)])
    bar.open_bar()
    assert find(driver, "word") == "word"
    for expected in ((2, 1), (2, 0), (1, 2)):
        bar.close_bar()
        bar.open_bar()
        place = step(driver, -1)
        assert (place.message_id, place.index) == expected


ANSWERS = {
    "paragraphs": "A *word* and more.\n\n" * 200,
    "a table": "| A | B |\n|---|---|\n" + "| *c* | d |\n" * 100,
    "a list": "- an *item*\n" * 200,
    "a quote": "> a *line*\n>\n" * 200,
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_long_answer_is_looked_through_piece_by_piece(
    driver: WindowDriver, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    parsed: list[Token] = []

    def note(token: Token, environment: Environment) -> list[Token]:
        parsed.append(token)
        return inline_tokens(token, environment)

    monkeypatch.setattr("app.window_find_scan._SLICE_S", 0.0)
    show_one(driver, MessageView(1, Role.ASSISTANT, ANSWERS[kind], thinking=ANSWERS[kind]))
    monkeypatch.setattr("app.transcript.shown_text.inline_tokens", note)
    scan = driver.window.chat.find_bar._scan
    most = 0
    scan.start("nowhere", -1, 1)
    while scan._timer.isActive():
        before = len(parsed)
        scan._work()
        most = max(most, len(parsed) - before)
    assert (len(parsed) >= 400, most) == (True, 1)


def test_a_very_long_chat_is_counted_while_the_window_lives(driver: WindowDriver) -> None:
    transcript, bar = driver.window.chat.transcript, driver.window.chat.find_bar
    views = [MessageView(n, Role.ASSISTANT, f"*Item* number {n} of **many**.\n\n- a\n- b") for n in range(1, 2001)]
    transcript.set_messages(views)
    bar.open_bar()
    bar.field.setText("item number 2000 of many")
    driver.wait(lambda: transcript.selected_text() == "Item number 2000 of many")
    bar.field.setText("item number")
    driver.wait(lambda: "".join(filter(str.isdigit, count(driver))) == "2000")


def test_a_place_behind_the_end_is_no_harm(driver: WindowDriver) -> None:
    transcript = driver.window.chat.transcript
    transcript.set_messages([MessageView(1, Role.ASSISTANT, "short")])
    transcript.scroll_to_place(TextPlace(1, 1, 0, 1000))
