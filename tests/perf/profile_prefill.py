"""Where the time of one prompt goes, by operation: python -m tests.perf.profile_prefill --tokens 9133

Wraps the backend's and the layers' functions with a clock and runs one warm prompt of the embedded model.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import engine
import engine.layers.attention
import engine.model
from tests.perf.ids import document_ids

BACKEND = ("mix", "expand_mix", "expand", "select", "attend", "route", "run_experts", "linear", "as_input")
LAYERS = ("close_windows", "finish_rows", "rotate", "rms_norm", "rotation", "store_rows", "prepare_index")
MODEL = ("project", "attend_step", "output_projection", "join")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=9133)
    parser.add_argument("--dtype", default="auto")
    arguments = parser.parse_args()
    model = engine.load(dtype=arguments.dtype)
    session, ids = model.session(), document_ids(arguments.tokens)
    session.prefill(ids)
    session.reset()
    spent: defaultdict[str, float] = defaultdict(float)
    for owner, names in ((model.network.backend, BACKEND), (engine.layers.attention, LAYERS), (engine.model, MODEL)):
        for name in names:
            setattr(owner, name, _timed(getattr(owner, name), name, spent))
    began = time.perf_counter()
    session.prefill(ids)
    total = time.perf_counter() - began
    for name, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        print(f"{name:20s}{seconds * 1e3:10.1f} ms{seconds / total:8.1%}")
    print(f"{'total':20s}{total * 1e3:10.1f} ms, {len(ids) / total:,.0f} tok/s (nested operations count twice)")


def _timed(function: Callable[..., Any], name: str, spent: defaultdict[str, float]) -> Callable[..., Any]:
    def timed(*arguments: Any, **options: Any) -> Any:
        began = time.perf_counter()
        result = function(*arguments, **options)
        spent[name] += time.perf_counter() - began
        return result

    return timed


if __name__ == "__main__":
    main()
