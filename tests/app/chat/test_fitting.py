"""Choices for a prompt that does not fit: each one offered really makes it fit, and none that would is missing."""

from hypothesis import given
from hypothesis import strategies as st

from app.chat.budget import FitChoice
from app.chat.fitting import MIN_ANSWER_TOKENS, PromptCounts, fit_options, turn_counts

COUNT = st.integers(0, 5000)


@given(
    turns=st.lists(COUNT, max_size=8),
    documents=COUNT,
    question=st.integers(1, 5000),
    reserved=st.integers(1, 3000),
    context=st.integers(256, 20_000),
    model_context=st.integers(256, 40_000),
)
def test_every_choice_helps_and_every_help_is_a_choice(
    turns: list[int], documents: int, question: int, reserved: int, context: int, model_context: int
) -> None:
    prompt = sum(turns) + documents + question
    counts = PromptCounts(prompt, reserved, context, max(model_context, context), tuple(turns), documents)
    options = {option.choice: option.value for option in fit_options(counts)}
    if prompt + reserved <= context:
        assert options == {}
        return
    if FitChoice.SHORTER_ANSWER in options:
        value = options[FitChoice.SHORTER_ANSWER]
        assert prompt + value <= context
        assert value >= min(MIN_ANSWER_TOKENS, reserved)
    else:
        assert context - prompt < min(MIN_ANSWER_TOKENS, reserved)
    if FitChoice.LARGER_CONTEXT in options:
        assert prompt + reserved <= options[FitChoice.LARGER_CONTEXT] <= counts.model_context
    else:
        assert prompt + reserved > counts.model_context
    if FitChoice.LEAVE_OUT_OLDEST in options:
        left = options[FitChoice.LEAVE_OUT_OLDEST]
        assert prompt - sum(turns[:left]) + reserved <= context
        assert prompt - sum(turns[: left - 1]) + reserved > context  # no more than needed
    else:
        assert prompt - sum(turns) + reserved > context
    assert (FitChoice.NEW_CHAT in options) == (FitChoice.LEAVE_OUT_OLDEST in options)
    assert (FitChoice.REMOVE_DOCUMENTS in options) == (prompt - documents + reserved <= context)


@given(st.lists(st.tuples(st.booleans(), COUNT)))
def test_turns_keep_every_token(parts: list[tuple[bool, int]]) -> None:
    turns = turn_counts([question for question, _ in parts], [count for _, count in parts])
    assert sum(turns) == sum(count for _, count in parts)
    starts = sum(question for question, _ in parts)
    assert len(turns) == starts + (1 if parts and not parts[0][0] else 0)
