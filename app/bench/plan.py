"""A benchmark plan in the shape that the engine's worker runs: app.protocol.requests.BenchmarkPlan.

Made on the GUI thread, run on the worker thread. The model is the one that is loaded, so a first run of a cut is cold
only as far as its session is new; the record says so.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from app.engine_face import EngineModel
from engine.bench.plans import Plan
from engine.bench.records import BenchUpdate


@dataclass(frozen=True, slots=True)
class EngineBenchmark:
    """`runs` None is the plan's own number."""

    plan: Plan
    runs: int | None = None

    def run(self, model: EngineModel, stop: threading.Event) -> Iterator[BenchUpdate]:
        """See engine.bench.run.run_bench. Raises UserError and EngineError."""
        from engine.bench.face import BenchModel, ModelSupply
        from engine.bench.run import BenchRequest, run_bench  # here and not above: torch comes with it

        whole = cast(BenchModel, model)  # engine.load made it; EngineModel lists only what the app itself calls
        supply = ModelSupply(lambda: whole, is_fresh=False)
        yield from run_bench(BenchRequest(self.plan, runs=self.runs), supply, stop)
