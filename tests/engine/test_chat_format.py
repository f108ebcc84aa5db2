"""Chat prompts by ids: the recorded layouts, merging, dropped reasoning, and refusals."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.chat_format import Message, Role, encode_chat
from engine.errors import ModelFileError, UserError
from engine.tokenizer import CONTROL_NAMES, Tokenizer, byte_alphabet
from tests.engine.small_tokenizers import nano_tokenizer

BOS, EOS, USER, ASSISTANT, THINK, END_THINK = range(6)
T = nano_tokenizer()


def system(text: str) -> Message:
    return Message(Role.SYSTEM, text)


def user(text: str) -> Message:
    return Message(Role.USER, text)


def assistant(text: str, reasoning: str = "") -> Message:
    return Message(Role.ASSISTANT, text, reasoning)


# Prompts the embedded model was checked with in transformers: their ids are from its GPT2Tokenizer, not from this code.
RECORDED = {
    "Write a short poem about the sea.": [0, 2, 609, 263, 2156, 4916, 367, 269, 1601, 20, 3, 5],
    "Write a Python function that reverses a string.": [0, 2, 609, 263, 2358, 1250, 316, 10867, 263, 3808, 20, 3, 5],
    "Explain what a GPU is in simple terms.": [0, 2, 1684, 700, 263, 645, 13398, 292, 294, 1184, 2523, 20, 3, 5],
}


@pytest.mark.parametrize("text", RECORDED)
def test_recorded_prompts(text: str) -> None:
    assert encode_chat([user(text)], T) == RECORDED[text]


TALK = [system("S"), user("A"), assistant("B", reasoning="R"), user("C")]


def ids(*parts: str | int) -> list[int]:
    return [id for part in parts for id in ([part] if isinstance(part, int) else T.encode(part))]


def test_thinking_off() -> None:
    expected = ids(BOS, "S", USER, "A", ASSISTANT, END_THINK, "B", EOS, USER, "C", ASSISTANT, END_THINK)
    assert encode_chat(TALK, T) == expected


def test_thinking_on_drops_earlier_reasoning() -> None:
    expected = ids(BOS, "S", USER, "A", ASSISTANT, END_THINK, "B", EOS, USER, "C", ASSISTANT, THINK)
    assert encode_chat(TALK, T, thinking=True) == expected


def test_consecutive_user_messages_become_one_turn() -> None:
    merged = encode_chat([user("A"), user("B"), assistant("x"), user("C"), user("D"), user("")], T)
    assert merged == encode_chat([user("A\n\nB"), assistant("x"), user("C\n\nD\n\n")], T)
    assert merged == ids(BOS, USER, "A\n\nB", ASSISTANT, END_THINK, "x", EOS, USER, "C\n\nD\n\n", ASSISTANT, END_THINK)


def test_a_longer_conversation_begins_with_the_shorter_one_and_its_answer() -> None:
    first = encode_chat([user("A")], T)
    second = encode_chat([user("A"), assistant("B"), user("C")], T)
    assert second[: len(first)] == first and second[len(first) :][:2] == ids("B", EOS)


hostile = st.lists(st.one_of(st.text(max_size=8), st.sampled_from(sorted(CONTROL_NAMES)))).map("".join)


@settings(deadline=None)
@given(hostile, st.lists(st.tuples(hostile, hostile, hostile), max_size=3), hostile, st.booleans())
def test_no_text_changes_the_frame(
    opening: str, exchanges: list[tuple[str, str, str]], last: str, thinking: bool
) -> None:
    """The control tokens of a conversation depend on its roles alone."""
    talk = [system(opening)]
    for question, answer, reasoning in exchanges:
        talk += [user(question), assistant(answer, reasoning)]
    prompt = encode_chat([*talk, user(last)], T, thinking)
    frame = [id for id in prompt if id in T.control_ids.values()]
    turn = [USER, ASSISTANT, END_THINK, EOS]
    assert frame == [BOS, *turn * len(exchanges), USER, ASSISTANT, THINK if thinking else END_THINK]


@pytest.mark.parametrize(
    ("talk", "problem"),
    [
        ([], "no user message"),
        ([system("S")], "no user message"),
        ([assistant("B")], "starts with an assistant message"),
        ([system("S"), assistant("B"), user("A")], "starts with an assistant message"),
        ([user("A"), assistant("B")], "ends with an assistant message"),
        ([user("A"), assistant("B"), assistant("C"), user("D")], "two assistant messages in a row"),
        ([user("A"), system("S")], "only be the first"),
        ([system("S"), system("S"), user("A")], "only be the first"),
        ([user("A"), system("S"), user("B")], "only be the first"),
    ],
)
def test_impossible_conversations_are_refused(talk: list[Message], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        encode_chat(talk, T)


@pytest.mark.parametrize("lacking", ["<｜User｜>", "<｜Assistant｜>", "<think>", "</think>"])
def test_a_vocabulary_without_the_control_tokens_is_refused_by_name(lacking: str) -> None:
    names = {"<｜begin▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>", "<think>", "</think>"} - {lacking}
    tokens = [*byte_alphabet(), *sorted(names)]
    tokenizer = Tokenizer(tokens, [1] * 256 + [3] * len(names), [], "gpt-2", bos=256, eos=257)
    with pytest.raises(ModelFileError, match=lacking):
        encode_chat([user("A")], tokenizer, thinking=True)
