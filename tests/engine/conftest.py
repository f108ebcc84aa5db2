"""Models that engine tests share, loaded once."""

from pathlib import Path

import pytest

import engine
from engine.loading import Model
from tests.support.tiny_model import write_tiny_gguf


@pytest.fixture(scope="session")
def tiny_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture(scope="session")
def tiny(tiny_path: Path) -> Model:
    return engine.load(tiny_path, dtype="float32")
