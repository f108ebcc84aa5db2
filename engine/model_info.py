"""What a loaded model says of itself: a frozen record without torch, so that the window and tests can make one."""

from dataclasses import dataclass
from pathlib import Path

from engine.partial_sampling import UNSAID, PartialSampling


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """For people and reports. Sizes in bytes and tokens; `native` tells which compiled kernels run, if any; `advice` is
    what the model's files say about sampling."""

    name: str
    path: Path
    architecture: str
    parameters: int
    file_bytes: int
    quantization: str
    layers: int
    context_length: int
    backend: str
    device: str
    native: str | None
    advice: PartialSampling = UNSAID
