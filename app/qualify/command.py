"""How to start an arm of the qualification: the interpreter in a checkout, the program itself in a frozen bundle."""

import sys
from collections.abc import Sequence

from engine.qualify.run import ARM_COMMAND


def arm_command() -> Sequence[str]:
    """The words before SPEC and FOLDER."""
    return (sys.executable, "qualify", "--arm") if getattr(sys, "frozen", False) else ARM_COMMAND
