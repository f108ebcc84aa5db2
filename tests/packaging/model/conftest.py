"""Puts the recipe on the path, as `python packaging/model` does."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "packaging" / "model"))
