"""A run's folder: where each stage leaves what the next one reads, and what a stage needs to know of the machine.

Every file appears whole or not at all, so a stage that finds its result goes on to the next.
"""

import time
from dataclasses import dataclass
from pathlib import Path

import torch
from recipe.settings import Settings


@dataclass(frozen=True, slots=True)
class Work:
    """One run. `stop_at` is the time.monotonic() at which this call should leave a checkpoint and end."""

    folder: Path
    settings: Settings
    teacher: Path
    device: torch.device
    sample_seconds: float
    train_seconds: float
    stop_at: float

    @property
    def dtype(self) -> torch.dtype:
        """Products run in bfloat16 on a GPU, in float32 on a processor."""
        return torch.bfloat16 if self.device.type == "cuda" else torch.float32

    @property
    def is_compiled(self) -> bool:
        return self.device.type == "cuda"

    @property
    def texts(self) -> Path:
        return self.folder / "text"

    @property
    def sampled(self) -> Path:
        """Says that sampling is done, and what it gave."""
        return self.folder / "sampled.json"

    @property
    def vocabulary(self) -> Path:
        return self.folder / "vocabulary.json"

    @property
    def training(self) -> Path:
        return self.folder / "training.jsonl"

    @property
    def held_out(self) -> Path:
        return self.folder / "held-out.jsonl"

    @property
    def held_out_sequences(self) -> Path:
        return self.folder / "held-out.pt"

    def sequences(self, phase: int) -> Path:
        return self.folder / f"sequences-{phase}.pt"

    @property
    def master(self) -> Path:
        return self.folder / "master.gguf"

    @property
    def shipped(self) -> Path:
        return self.folder / "ds4-nano.gguf"

    @property
    def figures(self) -> Path:
        return self.folder / "figures.json"

    def seconds_left(self) -> float:
        return self.stop_at - time.monotonic()
