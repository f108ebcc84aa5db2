"""An error that is kept, by a window or a second try, keeps none of the memory of what failed."""

import gc
import weakref

import pytest
import torch

from engine.backends.failures import forget_variables

Made = list[weakref.ref[torch.Tensor]]


def allocates_and_fails(made: Made) -> None:
    held = torch.zeros(8)
    made.append(weakref.ref(held))
    raise MemoryError


def translated(made: Made) -> None:
    held = torch.zeros(8)
    made.append(weakref.ref(held))
    try:
        allocates_and_fails(made)
    except MemoryError as error:
        raise RuntimeError("told") from error


def while_handled(made: Made) -> None:
    try:
        allocates_and_fails(made)
    except MemoryError:
        allocates_and_fails(made)


def hidden(made: Made) -> None:
    try:
        allocates_and_fails(made)
    except MemoryError:
        raise RuntimeError("told") from None


def in_a_circle(made: Made) -> None:
    try:
        allocates_and_fails(made)
    except MemoryError as error:
        told = RuntimeError("told")
        error.__cause__ = told
        raise told from error


@pytest.mark.parametrize("fails", [allocates_and_fails, translated, while_handled, hidden, in_a_circle])
def test_what_failed_calls_held_is_let_go(fails: object) -> None:
    made: Made = []
    assert callable(fails)
    with pytest.raises((MemoryError, RuntimeError)) as caught:
        fails(made)
    assert all(tensor() is not None for tensor in made)
    forget_variables(caught.value)
    gc.collect()
    assert made and not [tensor for tensor in made if tensor() is not None]
