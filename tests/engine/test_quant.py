"""The codec table against recorded vectors, bit for bit, and its refusals."""

from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize
from safetensors.torch import load_file

from engine.errors import ModelFileError
from engine.gguf.types import AMBIGUOUS_TYPES, BLOCK_TYPES, READABLE_TYPES
from engine.quant.codecs import CODECS, FP2_AFFINE, FP2_CODEBOOK, FP2_S40, Ambiguous, Codec, codec_for, decode, encode
from engine.quant.iq2_grid import iq2_xxs_grid
from engine.quant.rocmfp import scale_table
from tests.support.one_thread import one_torch_thread

__all__ = ["one_torch_thread"]  # a fixture for every test here

VECTORS = load_file(Path(__file__).parents[1] / "data" / "quant_vectors.safetensors")
FORMATS: dict[str, int | Codec] = {
    "q8_0": 8,
    "q2_K": 10,
    "q4_K": 12,
    "iq2_xxs": 16,
    "mxfp4": 39,
    "rocmfp4": 100,
    "rocmfp4_fast": 101,
    "rocmfp6": 102,
    "rocmfp8": 103,
    "rocmfp3": 104,
    "rocmfp2_codebook_m1_0_1_2": FP2_CODEBOOK,
    "rocmfp2_s40": FP2_S40,
    "rocmfp2_affine": FP2_AFFINE,
}


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.contiguous().view(torch.int32), b.contiguous().view(torch.int32))


def test_every_recorded_format_is_tested() -> None:
    assert {key.removesuffix(".raw") for key in VECTORS if key.endswith(".raw")} == set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_decodes_bit_for_bit(name: str) -> None:
    raw, wanted = VECTORS[f"{name}.raw"], VECTORS[f"{name}.f32"]
    assert same_bits(decode(FORMATS[name], raw, wanted.shape), wanted)
    assert same_bits(decode(FORMATS[name], memoryview(raw.numpy()).cast("B"), wanted.shape), wanted)


def test_tables_equal_the_recorded_ones() -> None:
    assert torch.equal(iq2_xxs_grid(torch.device("cpu")), VECTORS["iq2_xxs.grid_u8_256x8"])
    table = scale_table(torch.device("cpu"))
    assert torch.equal(table[:127], VECTORS["ue4m3_table_f32_127"])
    assert not table[127:].any()


@pytest.mark.parametrize("type_id", [8, 10, 12, 13, 14, 16, 39])
def test_public_formats_decode_like_the_public_package(type_id: int) -> None:
    codec, generator = codec_for(type_id), torch.Generator().manual_seed(type_id)
    raw = torch.randint(0, 256, (300, codec.bytes), generator=generator, dtype=torch.uint8)
    with np.errstate(all="ignore"):
        wanted = torch.from_numpy(dequantize(raw.numpy(), GGMLQuantizationType(type_id)))
    ordinary = wanted.isfinite()  # random bytes contain scales that are no numbers
    found = decode(type_id, raw, wanted.shape)
    assert torch.equal(found.isfinite(), ordinary) and same_bits(found[ordinary], wanted[ordinary])
    assert int(ordinary.sum()) > 0.9 * ordinary.numel()


@pytest.mark.parametrize("type_id", [0, 1, 30])
def test_plain_floats_round_trip(type_id: int) -> None:
    weights = torch.randn(3, 2, 5).bfloat16().float()
    assert torch.equal(decode(type_id, encode(type_id, weights), weights.shape), weights)


def test_whole_numbers_stay_whole() -> None:
    table = torch.tensor([[0, -1, 2**31 - 1]], dtype=torch.int32)
    decoded = decode(26, encode(26, table), (1, 3))
    assert decoded.dtype == torch.int32 and torch.equal(decoded, table)


def test_large_tensors_are_decoded_in_pieces_like_small_ones() -> None:
    raw, wanted = VECTORS["q8_0.raw"], VECTORS["q8_0.f32"]
    copies = 5000  # 2.56 million weights, so that several pieces and an uneven last one are needed
    assert same_bits(decode(8, raw.repeat(copies, 1), (copies, 512)), wanted.reshape(1, 512).repeat(copies, 1))


def test_decoding_never_touches_the_stored_bytes() -> None:
    stored = bytes(range(1, 129))
    for type_id in (0, 1, 26, 30):
        codec = codec_for(type_id)
        decode(type_id, stored, (128 // codec.bytes,)).zero_()
    assert stored == bytes(range(1, 129))


@pytest.mark.parametrize(
    ("type_id", "size", "shape"),
    [(8, 33, (32,)), (8, 35, (32,)), (8, 34, (31,)), (8, 34, ()), (12, 144, (32, 8)), (0, 4, (2,)), (8, 34, (0, 32))],
)
def test_sizes_that_do_not_match_are_refused(type_id: int, size: int, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=codec_for(type_id).name):
        decode(type_id, bytes(size), shape)


def test_empty_tensors_decode_to_empty() -> None:
    assert decode(8, b"", (0, 32)).shape == (0, 32)


def test_geometry_is_that_of_the_type_table() -> None:
    for type_id, entry in CODECS.items():
        if isinstance(entry, Codec):
            assert (entry.name, entry.block, entry.bytes) == (
                BLOCK_TYPES[type_id].name,
                BLOCK_TYPES[type_id].block,
                BLOCK_TYPES[type_id].bytes,
            )


def test_ids_above_104_are_never_decoded_by_id() -> None:
    assert {type_id for type_id, entry in CODECS.items() if isinstance(entry, Ambiguous)} == set(AMBIGUOUS_TYPES)
    for type_id in AMBIGUOUS_TYPES:
        assert type_id > 104
        with pytest.raises(ModelFileError, match=f"{type_id} means different formats"):
            decode(type_id, bytes(10), (32,))


def test_unreadable_and_unknown_types_say_so() -> None:
    with pytest.raises(ModelFileError, match="Q3_K cannot be read"):
        codec_for(11)
    with pytest.raises(ModelFileError, match="type 99 are of no known"):
        codec_for(99)
    assert not set(BLOCK_TYPES) & set(AMBIGUOUS_TYPES)


def test_the_list_of_readable_types_is_that_of_the_codecs() -> None:
    assert {type_id for type_id, entry in CODECS.items() if isinstance(entry, Codec)} == READABLE_TYPES
