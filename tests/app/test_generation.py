"""The state table: complete, closed, and the only source of what buttons show."""

import itertools

import pytest

from app.generation import (
    ANNOUNCEMENTS,
    STATE_LABELS,
    TRANSITIONS,
    GenerationState,
    IllegalTransitionError,
    PrimaryAction,
    Trigger,
    controls,
    is_busy,
    next_state,
)

S, T = GenerationState, Trigger


def test_the_ordinary_life_of_an_answer() -> None:
    state = S.IDLE
    seen = []
    for trigger in (T.ASKED_WHILE_LOADING, T.MODEL_READY, T.STARTED, T.FIRST_TOKEN, T.STOP_REQUESTED, T.FINISHED):
        state = next_state(state, trigger)
        seen.append(state)
    assert seen == [S.LOADING, S.QUEUED, S.PREFILLING, S.DECODING, S.STOPPING, S.DONE]


def test_every_busy_state_can_stop_finish_and_fail() -> None:
    for state in filter(is_busy, S):
        assert next_state(state, T.FINISHED) is S.DONE
        assert next_state(state, T.FAILED) is S.FAILED
        if state is not S.STOPPING:
            assert next_state(state, T.STOP_REQUESTED) is S.STOPPING


def test_no_busy_state_takes_a_second_question() -> None:
    for state, trigger in itertools.product(S, (T.ASKED, T.ASKED_WHILE_LOADING)):
        assert ((state, trigger) in TRANSITIONS) is not is_busy(state)


def test_every_state_is_reachable_and_has_a_way_out() -> None:
    reached = {S.IDLE} | set(TRANSITIONS.values())
    assert reached == set(S)
    assert {state for state, _ in TRANSITIONS} == set(S)


def test_what_the_table_does_not_know_is_a_bug() -> None:
    for state, trigger in itertools.product(S, T):
        if (state, trigger) not in TRANSITIONS:
            with pytest.raises(IllegalTransitionError, match=trigger.value):
                next_state(state, trigger)


@pytest.mark.parametrize("state", S)
def test_the_main_button_follows_the_state(state: GenerationState) -> None:
    shown = controls(state, has_input=True)
    assert (shown.primary is PrimaryAction.STOP) == is_busy(state)
    assert shown.primary_is_enabled == (state is not S.STOPPING)
    assert shown.can_edit != is_busy(state)
    assert shown.shows_activity == is_busy(state)
    if not is_busy(state):
        assert not controls(state, has_input=False).primary_is_enabled
        assert not controls(state, has_input=True, fits=False).primary_is_enabled


def test_every_state_has_words_and_only_four_are_announced() -> None:
    assert set(STATE_LABELS) == set(S)
    assert set(ANNOUNCEMENTS) == {S.PREFILLING, S.DECODING, S.DONE, S.FAILED}
