"""Telling apart formats that share a type id: the right one of three, with a reason, or a refusal to guess."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from engine.errors import ModelFileError
from engine.quant.codecs import FP2_AFFINE, FP2_CODEBOOK, FP2_S40, Codec, decode
from engine.quant.infer import choose_codec, infer_codec
from tests.engine.fp2_writers import write_affine, write_levels
from tests.support.one_thread import one_torch_thread

__all__ = ["one_torch_thread"]  # a fixture for every test here

WRITERS: dict[str, tuple[Codec, Callable[[Tensor], Tensor]]] = {
    "codebook": (FP2_CODEBOOK, lambda weights: write_levels(weights, (-1, 0, 1, 2))),
    "s40": (FP2_S40, lambda weights: write_levels(weights, (-4, -1, 1, 4))),
    "affine": (FP2_AFFINE, write_affine),
}


def make_weights(kind: str, scale: float, seed: int, blocks: int = 500) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    weights = torch.randn(blocks, 32, generator=generator)
    if kind == "long tails":
        weights = weights * torch.rand(blocks, 32, generator=generator).clamp(min=1e-3).log().abs().sqrt()
    elif kind == "uneven rows":
        weights = weights * torch.exp(torch.randn(blocks, 1, generator=generator) * 0.5)
    return weights * scale


@pytest.mark.parametrize("meaning", WRITERS)
@pytest.mark.parametrize("kind", ["normal", "long tails", "uneven rows"])
@pytest.mark.parametrize("scale", [0.02, 0.3])
def test_the_written_meaning_is_found(meaning: str, kind: str, scale: float) -> None:
    codec, write = WRITERS[meaning]
    for seed in range(3):
        weights = make_weights(kind, scale, seed)
        raw = write(weights)
        for rms in (None, float(weights.square().mean().sqrt())):
            choice = infer_codec(107, raw, weights.shape, rms)
            assert choice.codec is codec
            assert choice.reason.startswith(f"Type 107 is read as {codec.name}") and "mean" in choice.reason
            assert ("size off" in choice.reason) == (rms is not None)


def test_padding_after_the_tensor_is_not_decoded() -> None:
    weights = make_weights("normal", 0.1, 0)
    padded = torch.cat((write_affine(weights), torch.full((24,), 255, dtype=torch.uint8)))
    assert infer_codec(107, memoryview(padded.numpy()).cast("B"), weights.shape).codec is FP2_AFFINE


def test_type_108_is_never_the_code_book() -> None:
    weights = make_weights("normal", 0.1, 0)
    assert infer_codec(108, WRITERS["s40"][1](weights), weights.shape).codec is FP2_S40
    with pytest.raises(ModelFileError, match="do not tell which"):
        infer_codec(108, WRITERS["codebook"][1](weights), weights.shape)


def test_bytes_that_look_like_no_weights_are_not_guessed() -> None:
    always_the_top_code = torch.full((1000, 10), 0xFF, dtype=torch.uint8)
    always_the_top_code[:, 8:] = 60
    for raw in (always_the_top_code, torch.zeros(1000, 10, dtype=torch.uint8)):
        with pytest.raises(ModelFileError, match=r"107 could be .*S40.*7-bit.*do not tell"):
            infer_codec(107, raw, (1000, 32))


def test_a_reading_of_the_wrong_size_is_not_considered() -> None:
    with pytest.raises(ModelFileError, match="107 cannot be read here"):
        infer_codec(107, bytes(240 * 1000), (1000, 256))  # the 7-bit layout
    with pytest.raises(ModelFileError, match="107 cannot be read here"):
        infer_codec(107, bytes(10), (1, 31))


@pytest.mark.parametrize("type_id", [105, 106])
def test_types_that_need_side_tables_are_refused(type_id: int) -> None:
    with pytest.raises(ModelFileError, match=f"{type_id} cannot be read here.*MIX.*TurboQuant"):
        infer_codec(type_id, bytes(1400), (100, 32))


def test_an_explicit_choice_is_taken_and_said() -> None:
    choice = choose_codec(107, "rocmfp2 s40")
    assert choice.codec is FP2_S40 and "as chosen" in choice.reason
    weights = make_weights("normal", 0.1, 0)
    assert decode(choice.codec, WRITERS["s40"][1](weights), weights.shape).shape == weights.shape


def test_an_impossible_choice_names_the_possible_ones() -> None:
    with pytest.raises(ModelFileError, match="ROCmFP2 code book, ROCmFP2 S40, ROCmFP2 affine"):
        choose_codec(107, "Q8_0")
    with pytest.raises(ModelFileError, match="nothing that can be read"):
        choose_codec(105, "ROCmFP3 MIX")


def test_ids_of_one_meaning_are_not_for_this() -> None:
    for type_id in (8, 104, 999):
        with pytest.raises(ValueError, match="one meaning or none"):
            infer_codec(type_id, b"", (0, 32))
