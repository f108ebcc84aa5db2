"""What a machine fails with while it works, as the engine's own error.

Kernels raise their own errors, torch raises several, and an engine that answers knows none of them. Any thread.
"""

import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import torch

from engine.errors import EngineError
from kernels.errors import KernelArgumentError, KernelBuildError, KernelError, KernelLaunchError

_OF_THE_DEVICE = re.compile(r"(HIP|CUDA)( driver)? error")  # how torch begins what a driver's call returned
_LONGEST = 200  # characters


class HasPosition(Protocol):
    @property
    def position(self) -> int: ...


@contextmanager
def telling_failures(session: HasPosition) -> Iterator[None]:
    """Turn what the machine fails with into an EngineError: memory that ran out, a kernel, a driver's call."""
    try:
        yield
    except Exception as error:
        if is_out_of_memory(error):
            raise EngineError(f"memory ran out at token {session.position}; nothing before it was lost") from error
        if (told := engine_error(error)) is not None:
            raise told from error
        raise


def forget_variables(error: BaseException) -> None:
    """Let go of what the calls that failed held, memory above all: an error, and what it came from, keeps their
    variables for as long as it is kept.
    """
    seen, left = set[int](), [error]
    while left:
        one = left.pop()
        if id(one) not in seen:
            seen.add(id(one))
            traceback.clear_frames(one.__traceback__)
            left += [origin for origin in (one.__cause__, one.__context__) if origin is not None]


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out: main memory, or a GPU's, said by torch or by a kernel's launch."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    if isinstance(error, KernelLaunchError):
        return "OUTOFMEMORY" in error.status.replace("_", "").upper()
    return isinstance(error, RuntimeError) and "allocate memory" in str(error)


def engine_error(error: BaseException) -> EngineError | None:
    """The error that leaves the engine when a kernel or a driver failed; None for anything else, a bug of ours, say."""
    if isinstance(error, KernelError) and not isinstance(error, KernelArgumentError):
        return EngineError(f"{error}{log_of(error)}")
    if isinstance(error, RuntimeError) and _OF_THE_DEVICE.match(str(error)):
        return device_error(error)
    return None


def device_error(error: RuntimeError) -> EngineError:
    """Of what torch raised for a GPU."""
    return EngineError(f"the GPU failed ({first_sentence(error)})")


def log_of(failure: KernelError) -> str:
    """A compiler's log, to stand below the sentence; empty for other failures."""
    return f"\n{failure.log}" if isinstance(failure, KernelBuildError) else ""


def first_sentence(error: BaseException) -> str:
    """Of torch's messages, which go on with advice to programmers; the error's type where it says nothing."""
    said = re.split(r"\n|\. ", str(error).strip(), maxsplit=1)[0]
    return said[:_LONGEST] or type(error).__name__
