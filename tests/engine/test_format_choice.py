"""Type ids with several meanings: settled per family of tensors from the weights, said, or refused in one sentence."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

import engine
from engine.errors import ModelFileError
from engine.loading import Model
from engine.model_source import open_model
from engine.quant.codecs import FP2_AFFINE, FP2_CODEBOOK, FP2_S40, decode
from engine.stored_weights import StoredWeights
from tests.engine.fp2_writers import write_affine, write_levels
from tests.support.model_files import ModelParts
from tests.support.one_thread import one_torch_thread
from tests.support.tiny_model import tiny_tensors

__all__ = ["one_torch_thread"]  # a fixture for every test here

EXPERTS = ("ffn_gate_exps", "ffn_up_exps", "ffn_down_exps")
WRITERS: dict[str, Callable[[Tensor], Tensor]] = {
    FP2_CODEBOOK.name: lambda weights: write_levels(weights, (-1, 0, 1, 2)),
    FP2_S40.name: lambda weights: write_levels(weights, (-4, -1, 1, 4)),
    FP2_AFFINE.name: write_affine,
}


def stored(meaning: str, weights: Tensor) -> bytes:
    return WRITERS[meaning](weights.reshape(-1, 32)).numpy().tobytes()


def tiny_with(tiny_path: Path, meanings: dict[str, str], type_id: int = 107, layers: range = range(7)) -> ModelParts:
    """The tiny model with each family in `meanings` stored under an ambiguous type id."""
    parts, weights = ModelParts.read(tiny_path), tiny_tensors()
    for kind, meaning in meanings.items():
        for layer in layers:
            name = f"blk.{layer}.{kind}.weight"
            parts.put_raw(name, weights[name].shape, type_id, stored(meaning, weights[name]))
    return parts


@pytest.mark.parametrize("meaning", WRITERS)
def test_the_written_meaning_is_loaded_and_said(
    tiny_path: Path, tmp_path: Path, meaning: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tiny_with(tiny_path, dict.fromkeys(EXPERTS, meaning)).write(tmp_path / "fp2.gguf")
    with caplog.at_level(logging.INFO):
        model = engine.load(path, dtype="float32")
    assert model.info.quantization == f"{meaning} + F32"
    for kind in EXPERTS:
        assert f"{kind}.weight: Type 107 is read as {meaning}" in caplog.text
    loaded = StoredWeights(open_model(path))
    name = "blk.3.ffn_down_exps.weight"
    codec = next(c for c in (FP2_CODEBOOK, FP2_S40, FP2_AFFINE) if c.name == meaning)
    exact = tiny_tensors()[name]
    assert torch.equal(loaded.decode(name), decode(codec, stored(meaning, exact), exact.shape))
    assert torch.equal(model.network.weights.layers[3].experts.down, loaded.decode(name))


def test_reading_and_writing_tokens_use_the_same_meaning(tiny_path: Path, tmp_path: Path) -> None:
    """Steps of several tokens read the loaded weights, single tokens may read the stored blocks."""
    path = tiny_with(tiny_path, dict.fromkeys(EXPERTS, FP2_S40.name)).write(tmp_path / "s40.gguf")
    model = engine.load(path, dtype="float32", kv_rounding="none")
    ids = [0, 70, 71, 72, 73, 74, 75, 76]
    at_once = model.session(context=64).prefill(ids)
    one_by_one = model.session(context=64)
    for token in ids:
        logits = one_by_one.decode(token)
    assert torch.allclose(at_once, logits, atol=1e-3)


def test_each_family_is_settled_for_itself(tiny_path: Path, tmp_path: Path) -> None:
    meanings = {"ffn_gate_exps": FP2_S40.name, "ffn_up_exps": FP2_AFFINE.name}
    source = open_model(tiny_with(tiny_path, meanings).write(tmp_path / "both.gguf"))
    weights = StoredWeights(source)
    for kind, meaning in meanings.items():
        assert weights.codec(f"blk.6.{kind}.weight").name == meaning
    assert [reason.split(":")[0] for reason in weights.reasons] == [f"{kind}.weight" for kind in meanings]


def test_type_108_is_settled_too(tiny_path: Path, tmp_path: Path) -> None:
    path = tiny_with(tiny_path, {"ffn_gate_exps": FP2_AFFINE.name}, 108).write(tmp_path / "108.gguf")
    assert StoredWeights(open_model(path)).codec("blk.0.ffn_gate_exps.weight") is FP2_AFFINE


def refusal(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        engine.load(path)
    text = str(caught.value)
    assert text.startswith(str(path)) and "\n" not in text and text.count(". ") == 0
    return text


def test_weights_that_do_not_tell_are_refused_with_a_way_out(tiny_path: Path, tmp_path: Path) -> None:
    parts = tiny_with(tiny_path, {"ffn_up_exps": FP2_S40.name})
    for layer in range(7):
        name = f"blk.{layer}.ffn_up_exps.weight"
        shape, _, raw = parts.tensors[name]
        parts.put_raw(name, shape, 107, bytes(len(raw)))
    text = refusal(parts.write(tmp_path / "zeros.gguf"))
    assert "blk.0.ffn_up_exps.weight" in text and '--read-as 107="NAME"' in text


def test_one_odd_layer_does_not_stop_the_others(tiny_path: Path, tmp_path: Path) -> None:
    parts = tiny_with(tiny_path, {"ffn_up_exps": FP2_S40.name})
    shape, _, raw = parts.tensors["blk.0.ffn_up_exps.weight"]
    parts.put_raw("blk.0.ffn_up_exps.weight", shape, 107, bytes(len(raw)))
    weights = StoredWeights(open_model(parts.write(tmp_path / "odd.gguf")))
    assert weights.codec("blk.0.ffn_up_exps.weight") is FP2_S40


def test_layers_that_contradict_each_other_are_refused(tiny_path: Path, tmp_path: Path) -> None:
    parts = tiny_with(tiny_path, {"ffn_up_exps": FP2_S40.name})
    affine = tiny_with(tiny_path, {"ffn_up_exps": FP2_AFFINE.name})
    parts.tensors["blk.6.ffn_up_exps.weight"] = affine.tensors["blk.6.ffn_up_exps.weight"]
    text = refusal(parts.write(tmp_path / "two.gguf"))
    for word in (FP2_S40.name, FP2_AFFINE.name, "blk.0.ffn_up_exps.weight", "blk.6.ffn_up_exps.weight"):
        assert word in text


@pytest.mark.parametrize("type_id", [105, 106])
def test_formats_that_need_side_tables_are_refused(tiny_path: Path, tmp_path: Path, type_id: int) -> None:
    parts = ModelParts.read(tiny_path)
    shape, _, _ = parts.tensors["blk.2.ffn_up_exps.weight"]
    parts.put_raw("blk.2.ffn_up_exps.weight", shape, type_id, bytes(10_000))
    text = refusal(parts.write(tmp_path / "mix.gguf"))
    assert f"type {type_id}" in text and "blk.2.ffn_up_exps.weight" in text and "read-as" not in text


def test_a_tensor_too_short_for_its_family_is_named(tiny_path: Path, tmp_path: Path) -> None:
    """Only the first, the middle and the last layer are looked at; each tensor's size is checked when it is read."""
    parts = tiny_with(tiny_path, {"ffn_up_exps": FP2_S40.name})
    shape, _, raw = parts.tensors["blk.1.ffn_up_exps.weight"]
    parts.put_raw("blk.1.ffn_up_exps.weight", shape, 107, raw[: len(raw) // 2])
    assert "blk.1.ffn_up_exps.weight" in refusal(parts.write(tmp_path / "short.gguf"))


def test_the_persons_word_is_taken(tiny_path: Path, tmp_path: Path) -> None:
    parts = tiny_with(tiny_path, {"ffn_up_exps": FP2_S40.name})
    source = open_model(parts.write(tmp_path / "s40.gguf"))
    weights = StoredWeights(source, {107: "rocmfp2 code book"})
    assert weights.codec("blk.0.ffn_up_exps.weight") is FP2_CODEBOOK
    assert weights.reasons == ("ffn_up_exps.weight: Type 107 is read as ROCmFP2 code book, as chosen.",)
    with pytest.raises(ModelFileError, match="cannot be read as 'Q9'"):
        StoredWeights(source, {107: "Q9"})


def test_an_unambiguous_model_says_nothing(tiny: Model, tiny_path: Path) -> None:
    assert StoredWeights(open_model(tiny_path)).reasons == ()
    assert tiny.info.quantization == "F32 + I32"
