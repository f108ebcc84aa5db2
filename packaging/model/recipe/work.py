"""A run's folder: where each stage leaves what the next one reads, and what a stage needs to know of the machine.

Every file appears whole or not at all, so a stage that finds its result goes on to the next.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from recipe.settings import Settings


@dataclass(frozen=True, slots=True)
class Work:
    """One run. `stop_at` is the time.monotonic() at which this call should leave what it has and end.

    `start` is a finished model of the same shape to train further, with its vocabulary; None for a new one.
    The teacher speaks and the student learns on all `devices` at once; everything else needs the first.
    """

    folder: Path
    settings: Settings
    teacher: Path
    devices: tuple[torch.device, ...]
    sample_seconds: float
    train_seconds: float
    stop_at: float
    start: Path | None = None

    @property
    def device(self) -> torch.device:
        return self.devices[0]

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
    def sampling(self) -> Path:
        """What sampling has given so far."""
        return self.folder / "sampling.json"

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

    def sequences(self, phase: int) -> list[Path]:
        """The phase's sequences, one file a shard."""
        return [self.folder / f"sequences-{phase}-{shard:02}.pt" for shard in range(self.settings.shards)]

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint.pt"

    @property
    def middle(self) -> Path:
        """The weights on the way, which are averaged with the last."""
        return self.folder / "middle.pt"

    @property
    def trained(self) -> Path:
        """Says that training is over, and how long it was."""
        return self.folder / "trained.json"

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


def write_whole(path: Path, text: str) -> None:
    """The file appears whole or not at all."""
    scratch = path.with_suffix(".part")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(path)


def report(stage: str, began: float, **figures: object) -> None:
    """One JSON line on standard output: the stage, its seconds since time.monotonic() was `began`, and figures."""
    print(json.dumps({"stage": stage, "seconds": round(time.monotonic() - began, 1), **figures}), flush=True)
