"""Settings that every test shares."""

import pytest
from hypothesis import settings

# A shared machine may stall any example for seconds; no test of ours is a timing test.
settings.register_profile("haloband", deadline=None)
settings.load_profile("haloband")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Say how to repeat this order: -q leaves out the header that would, and a crash the summary."""
    seed = session.config.getoption("randomly_seed", None)
    if seed is not None:
        session.config.get_terminal_writer().line(f"--randomly-seed={seed}")
