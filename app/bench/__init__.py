"""The Benchmark panel: choose a plan, watch its rows fill, compare, export. GUI thread."""
