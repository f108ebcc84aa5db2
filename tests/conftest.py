"""Settings that every test shares."""

import os

import pytest
from hypothesis import settings

# No window opens on a person's screen, and a call of pytest alone, without `make test`, does not end in Qt's abort.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # waiting threads leave the processors to other processes
# Windows and programs in English, whatever the machine speaks; Qt warns of a locale that is not installed.
os.environ["LC_ALL"] = "C.UTF-8"
os.environ.pop("LANGUAGE", None)

# A shared machine may stall any example for seconds; no test of ours is a timing test.
settings.register_profile("haloband", deadline=None)
settings.load_profile("haloband")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Say how to repeat this order: -q leaves out the header that would, and a crash the summary."""
    seed = session.config.getoption("randomly_seed", None)
    if seed is not None and not hasattr(session.config, "workerinput"):  # a worker of pytest-xdist is not heard
        session.config.get_terminal_writer().line(f"--randomly-seed={seed}")
