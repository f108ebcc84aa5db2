"""Which shapes the GPU's kernels take, and what is said of the others."""

from dataclasses import replace

import pytest

import resources
from engine.backends.gpu_shapes import misfit
from engine.config import ModelConfig
from engine.model_source import open_model


@pytest.fixture(scope="module")
def config() -> ModelConfig:
    return ModelConfig.from_gguf(open_model(resources.embedded_model()))


@pytest.mark.parametrize("heads", (4, 16, 20, 64))
def test_any_number_of_heads_fits_that_fills_whole_workgroups(config: ModelConfig, heads: int) -> None:
    assert misfit(replace(config, heads=heads)) == ""


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"heads": 6, "out_groups": 2}, "6 heads of width 64 are no multiple of 256 channels"),
        ({"head_dim": 96}, "head width 96 is no multiple of 64"),
        ({"hidden": 96}, "hidden width 96 is no multiple of 64"),
        ({"index_top_k": 513}, "a selection of 513 rows is more than 512"),
    ],
)
def test_a_width_that_the_kernels_do_not_take_is_named(
    config: ModelConfig, changed: dict[str, int], complaint: str
) -> None:
    assert misfit(replace(config, **changed)) == complaint  # type: ignore[arg-type]  # the fields are integers
