"""Decoding of every block format on the emulator, against the engine's codecs and the published vectors."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from engine.gguf.types import BLOCK_TYPES
from kernels.launch import Launcher
from kernels.ops.formats import WeightFormat, unpack
from tests.kernels.hip.emulated import GuardedBuffers, replay
from tests.kernels.hip.test_matvec_kernels import aligned
from tests.kernels.hip.weight_blocks import CODECS, random_blocks

VECTORS = Path(__file__).parents[2] / "data" / "quant_vectors.safetensors"
NAMES = {
    WeightFormat.Q8_0: "q8_0",
    WeightFormat.Q2_K: "q2_K",
    WeightFormat.Q4_K: "q4_K",
    WeightFormat.IQ2_XXS: "iq2_xxs",
    WeightFormat.MXFP4: "mxfp4",
    WeightFormat.ROCMFP4: "rocmfp4",
    WeightFormat.ROCMFP4_FAST: "rocmfp4_fast",
    WeightFormat.ROCMFP8: "rocmfp8",
    WeightFormat.ROCMFP3: "rocmfp3",
    WeightFormat.ROCMFP2: "rocmfp2_codebook_m1_0_1_2",
    WeightFormat.ROCMFP2_S40: "rocmfp2_s40",
    WeightFormat.ROCMFP2_AFFINE: "rocmfp2_affine",
}
KINDS = list(WeightFormat)


def decoded(launcher: Launcher, buffers: GuardedBuffers, kind: WeightFormat, blocks: torch.Tensor) -> torch.Tensor:
    def run() -> torch.Tensor:
        out = buffers.new(blocks.shape[0], kind.value.block)
        unpack(launcher, kind, blocks, out)
        return out

    result: torch.Tensor = replay(launcher, run)
    return result


def assert_same(found: torch.Tensor, wanted: torch.Tensor) -> None:
    """Equal up to the order of two roundings in float32 (offset formats), exactly where a product is exact."""
    assert torch.allclose(found.double(), wanted.double(), rtol=1e-6, atol=1e-9 * float(wanted.abs().max()))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_random_blocks_decode_as_the_engines_codec(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, kind: WeightFormat
) -> None:
    blocks = random_blocks(random, kind, 37)
    assert_same(decoded(launcher, buffers, kind, blocks), CODECS[kind].decode(blocks))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("units", [8, 72, 520])
def test_halves_are_the_float32_weights_rounded_to_nearest(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, kind: WeightFormat, units: int
) -> None:
    """Fewer units than a wave takes, a few more, and more than a workgroup; blocks end at the end of their memory."""
    blocks = aligned(random_blocks(random, kind, units * 32 // kind.value.block))
    whole = decoded(launcher, buffers, kind, blocks)
    assert_same(whole, CODECS[kind].decode(blocks))
    out = buffers.new(*whole.shape, dtype=torch.float16)
    unpack(launcher, kind, blocks, out)
    assert torch.equal(out, whole.half())
    assert kind is not WeightFormat.F16 or torch.equal(out, blocks.view(torch.float16))


@pytest.mark.parametrize("kind", list(NAMES), ids=lambda kind: kind.name)
def test_published_vectors_decode_to_their_values(
    launcher: Launcher, buffers: GuardedBuffers, kind: WeightFormat
) -> None:
    vectors = load_file(VECTORS)
    raw = vectors[f"{NAMES[kind]}.raw"].view(-1, kind.value.bytes).clone()  # clones are aligned, views of a file not
    assert_same(decoded(launcher, buffers, kind, raw), vectors[f"{NAMES[kind]}.f32"].view(-1, kind.value.block))


@pytest.mark.parametrize("kind", [WeightFormat.MXFP4, WeightFormat.ROCMFP8], ids=lambda kind: kind.name)
def test_every_scale_byte(launcher: Launcher, buffers: GuardedBuffers, kind: WeightFormat) -> None:
    """The smallest exponents are below the normal floats; bytes above 0x7e are invalid in the ROCmFP formats."""
    blocks = torch.full((256, kind.value.bytes), 0x11, dtype=torch.uint8)
    blocks[:, 0 if kind is WeightFormat.MXFP4 else 32] = torch.arange(256, dtype=torch.uint8)
    found, wanted = decoded(launcher, buffers, kind, blocks), CODECS[kind].decode(blocks)
    assert torch.equal(found, wanted)


def test_geometry_is_the_engines() -> None:
    ids = {"F16": 1, "Q8_0": 8, "Q2_K": 10, "Q4_K": 12, "IQ2_XXS": 16, "MXFP4": 39}
    ids |= {"ROCMFP4": 100, "ROCMFP4_FAST": 101, "ROCMFP8": 103, "ROCMFP3": 104}
    for name, type_id in ids.items():
        geometry, block = WeightFormat[name].value, BLOCK_TYPES[type_id]
        assert geometry.bytes * block.block == block.bytes * geometry.block
    assert WeightFormat.Q2_K.row_bytes(4096) == 1344
    with pytest.raises(ValueError, match="Q2_K"):
        WeightFormat.Q2_K.row_bytes(384)
