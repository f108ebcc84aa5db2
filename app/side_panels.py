"""Builds the right panel: Live and Benchmark, wired to the engine host. Called once by the window's start-up.

`SidePanels.close` ends their helper threads; call it before the engine host is shut down. GUI thread.
"""

from dataclasses import dataclass
from pathlib import Path

from app.bench.controller import BenchmarkController
from app.bench.panel import BenchmarkPanel
from app.engine_host import EngineHost
from app.telemetry.live_panel import LivePanel
from app.theme import Theme
from app.window_panel import SidePanel


@dataclass(frozen=True, slots=True)
class SidePanels:
    """The widget for the window, and what must be closed with it."""

    widget: SidePanel
    live: LivePanel
    panel: BenchmarkPanel
    benchmark: BenchmarkController

    def close(self) -> None:
        """Stop reading memory, finish writing runs."""
        self.live.shutdown()
        self.benchmark.close()


def make_side_panels(host: EngineHost, benchmarks: Path, theme: Theme | None = None) -> SidePanels:
    """The two panels on one host. `benchmarks` is the folder of earlier runs (AppPaths.benchmarks_dir)."""
    live, panel = LivePanel(theme), BenchmarkPanel(theme)
    host.event_arrived.connect(live.consume)
    widget = SidePanel(live, panel)
    return SidePanels(widget, live, panel, BenchmarkController(host, panel, benchmarks, widget))
