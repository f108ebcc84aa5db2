"""The Live panel: speeds, progress and memory of whatever the engine is doing. GUI thread."""
