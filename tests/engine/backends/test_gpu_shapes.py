"""Which shapes the GPU's kernels take, and what is said of the others."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import resources
from engine.backends.gpu_shapes import misfit
from engine.config import ModelConfig
from engine.model_source import open_model
from engine.synth.shapes import SHAPES
from kernels.errors import KernelArgumentError, KernelBuildError
from kernels.ops.attention_forms import HeadShape, matrix_form, split_form
from kernels.ops.formats import WeightFormat
from kernels.ops.indexer import IndexerShape
from kernels.ops.matvec import Matrix, down_source, multiply
from kernels.ops.residual import TOKENS_A_GROUP, ResidualShape
from kernels.ops.routing import RouterShape
from kernels.source import KernelSource
from kernels.zig_builder import ZigBuilder
from tests.kernels.hip.emulated import emulated_launcher

GFX = "gfx1151"


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
        ({"head_dim": 320}, "head width 320 is more than 256 and not 512"),
        ({"head_dim": 768}, "head width 768 is more than 256 and not 512"),
        ({"q_rank": 48}, "query rank 48 is no multiple of 32"),
        ({"out_rank": 48}, "output rank 48 is no multiple of 32"),
        ({"expert_hidden": 144}, "expert width 144 is no multiple of 32"),
        ({"experts": 257}, "257 experts are more than 256"),
        ({"experts": 256, "experts_used": 33}, "33 experts a token are more than 32"),
        ({"index_heads": 6}, "6 indexer heads are no multiple of 4"),
        ({"index_dim": 256}, "indexer width 256 is no multiple of 32 up to 128"),
        ({"index_dim": 16}, "indexer width 16 is no multiple of 32 up to 128"),
        ({"hidden": 4160}, "hidden width 4160 needs more LDS than there is"),
        ({"expert_hidden": 4096}, "6 experts a token of width 4096 need more LDS than there is"),
        ({"index_heads": 160, "index_dim": 128}, "160 indexer heads of width 128 need more LDS than there is"),
    ],
)
def test_a_width_that_the_kernels_do_not_take_is_named(
    config: ModelConfig, changed: dict[str, int], complaint: str
) -> None:
    assert misfit(replace(config, **changed)) == complaint  # type: ignore[arg-type]  # the fields are integers


@pytest.mark.parametrize(
    "changed",
    [
        *({"head_dim": width} for width in (64, 128, 192, 256, 512)),
        {"experts": 256, "experts_used": 32},
        *({"index_heads": heads} for heads in (1, 3, 4, 8, 64)),
        *({"index_dim": width} for width in (32, 64, 128)),
        {"index_heads": 144, "index_dim": 128},
        *({"hidden": width} for width in (4096, 7168, 8192)),
    ],
)
def test_up_to_the_borders_a_shape_fits(config: ModelConfig, changed: dict[str, int]) -> None:
    assert misfit(replace(config, **changed)) == ""  # type: ignore[arg-type]  # as above


def test_v4_flash_fits() -> None:
    assert misfit(SHAPES["v4-flash"]) == ""


def test_without_compressed_layers_the_indexer_does_not_matter(config: ModelConfig) -> None:
    plain = replace(config, ratios=(0,) * config.layers, index_heads=6, index_dim=16)
    assert misfit(plain) == ""


Sources = list[KernelSource]


def attention(width: int) -> Sources:
    heads = HeadShape(64, width, 64)
    split = split_form(heads, GFX)
    return [matrix_form(heads, GFX).source, split.source, split.combine]


def router(experts: int, used: int) -> Sources:
    return [RouterShape(experts, used, hashed=False).source()]


def scores(heads: int, width: int) -> Sources:
    shape = IndexerShape(heads, width, 512)
    return [shape.scores_source(), shape.single_scores_source()]


def projection(hidden: int) -> Sources:
    return [ResidualShape(hidden).project_source(tokens=TOKENS_A_GROUP)]


def down(width: int) -> Sources:
    return [down_source(WeightFormat.IQ2_XXS, width, 6, GFX)]


@pytest.mark.parametrize(
    ("within", "beyond"),
    [
        (attention(256), attention(320)),
        (attention(512), attention(576)),
        ([], attention(768)),
        (router(256, 32), router(257, 32)),
        ([], router(256, 33)),
        (scores(8, 32), scores(6, 32)),
        (scores(8, 128), scores(8, 256)),
        (scores(144, 128), scores(160, 128)),
        (projection(8192), projection(8256)),
        (projection(4096), projection(4160)),
        (down(3072), down(3584)),
    ],
)
def test_the_kernels_refuse_beyond_and_not_within(within: Sources, beyond: Sources) -> None:
    """So that a shape is kept from the GPU only where a kernel of it does not build."""
    pytest.importorskip("ziglang", reason="the gfx compiler (ziglang) is not installed")
    builder = ZigBuilder(GFX)
    for source in within:
        assert builder.build(source)
    assert any(refuses(builder, source) for source in beyond)


def refuses(builder: ZigBuilder, source: KernelSource) -> bool:
    try:
        builder.build(source)
    except KernelBuildError as refusal:
        return "static assertion" in refusal.log or "exceeds limit" in refusal.log
    return False


@pytest.mark.parametrize(("rank", "fits"), [(64, True), (48, False)])
def test_the_products_of_output_groups_take_whole_workgroups_of_rows(
    emulator_folder: Path, rank: int, fits: bool
) -> None:
    kind, groups, width = WeightFormat.MXFP4, 2, 128
    blocks = torch.zeros(groups * rank, kind.row_bytes(width), dtype=torch.uint8)
    matrix, x = Matrix(kind, blocks, groups * rank, width), torch.zeros(1, groups, width)
    launcher = emulated_launcher(emulator_folder)
    with nullcontext() if fits else pytest.raises(KernelArgumentError, match="do not fill workgroups"):
        multiply(launcher, matrix, x, torch.zeros(1, groups * rank))
