"""Tests run in any order, so each may be the first that asks Qt for something."""

import pytest
from PySide6.QtWidgets import QApplication


def test_the_application_is_there_for_a_test_that_does_not_ask_for_it(request: pytest.FixtureRequest) -> None:
    assert "qapp" in request.fixturenames
    assert isinstance(QApplication.instance(), QApplication)
