"""Where the data that ships with Haloband lies. Data only; importing this costs nothing."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent


def embedded_model() -> Path:
    """The small DS4 model that answers on a fresh machine."""
    return ROOT / "models" / "ds4-nano.gguf"
