"""Calls in processes of their own, all at once."""

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from typing import Any, TypeVar

Result = TypeVar("Result")


def call_all(function: Callable[..., Result], calls: Sequence[tuple[Any, ...]], workers: int) -> list[Result]:
    """`function` with each of the arguments in `calls`; results in their order, at most `workers` at a time.

    When one fails, those that have not begun are dropped, those that run are waited for, and its error is raised.
    """
    with ProcessPoolExecutor(min(workers, len(calls)), multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(function, *arguments) for arguments in calls]
        done, others = wait(futures, return_when=FIRST_EXCEPTION)
        for one in others:
            one.cancel()
        for one in done:
            one.result()
        return [one.result() for one in futures]
