"""Where the time of one prompt goes, by operation: python -m tests.perf.profile_prefill --tokens 9133

Wraps the backend's operations with a clock and runs one warm prompt of the embedded model.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import engine
from engine.backends.base import Backend
from tests.perf.ids import document_ids

# Of a backend's operations these are no part of a step's work.
OUTSIDE = frozenset({"placement", "prepare_decode", "release", "require_memory", "step_buffers", "token_program"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=9133)
    parser.add_argument("--dtype", default="auto")
    arguments = parser.parse_args()
    model = engine.load(backend="cpu", dtype=arguments.dtype)
    session, ids = model.session(), document_ids(arguments.tokens)
    session.prefill(ids)
    session.reset()
    spent: defaultdict[str, float] = defaultdict(float)
    backend = model.network.backend
    for name in operations():
        setattr(backend, name, _timed(getattr(backend, name), name, spent))
    began = time.perf_counter()
    session.prefill(ids)
    total = time.perf_counter() - began
    spent["between operations"] = total - sum(spent.values())
    for name, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        print(f"{name:20s}{seconds * 1e3:10.1f} ms{seconds / total:8.1%}")
    print(
        f"{'total':20s}{total * 1e3:10.1f} ms, {len(ids) / total:,.0f} tok/s (an operation inside another counts twice)"
    )


def operations() -> list[str]:
    """The names of a backend's operations in a step."""
    return [name for name, value in vars(Backend).items() if callable(value) and name[0] != "_" and name not in OUTSIDE]


def _timed(function: Callable[..., Any], name: str, spent: defaultdict[str, float]) -> Callable[..., Any]:
    def timed(*arguments: Any, **options: Any) -> Any:
        began = time.perf_counter()
        result = function(*arguments, **options)
        spent[name] += time.perf_counter() - began
        return result

    return timed


if __name__ == "__main__":
    main()
