"""Weights on their way to a GPU: as stored where the device reads the format, as F16 where it does not."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

import pytest
import torch

import engine
from engine.backends.cpu import CpuBackend
from engine.backends.gpu_matrix import BlockMatrix, GateUp
from engine.backends.gpu_memory import placed_bytes
from engine.backends.gpu_placement import BlockPlacement, held_together
from engine.config import ModelConfig
from engine.errors import ModelFileError, Stopped, UserError
from engine.model_source import open_model
from engine.names import LAYER_ROWS, Part
from engine.placement import DecodedPlacement
from engine.quant.codecs import decode
from engine.stored_weights import StoredWeights
from engine.synth.address import parse_address
from engine.synth.source import SynthSource
from engine.weights import ModelWeights, load_weights
from kernels.ops.formats import WeightFormat

CPU = torch.device("cpu")
F32, F16, BF16, FP4 = 0, 1, 30, 101  # GGUF's numbers
MATRICES = [row.gguf for row in LAYER_ROWS if row.part.is_matrix or row.part is Part.EXACT]


def stored(recipe: str) -> StoredWeights:
    return StoredWeights(open_model(f"synth:small?ratios=0,4&recipe={recipe}"))


@pytest.mark.parametrize("recipe", ["antirez-q2", "rocmfp-mix", "q8", "bf16"])
def test_blocks_are_those_of_the_file(recipe: str) -> None:
    source, placement = stored(recipe), BlockPlacement(CPU)
    weights = load_weights(source, ModelConfig.from_gguf(source.source), placement)
    down = weights.layers[1].experts.down
    assert isinstance(down, BlockMatrix)
    name = "blk.1.ffn_down_exps.weight"
    if recipe == "bf16":
        assert down.stored.kind is WeightFormat.F16
        held = down.stored.blocks.view(torch.float16).float().view(down.shape)
        torch.testing.assert_close(held, source.decode(name), rtol=2**-8, atol=2**-24)
        assert any("BF16" in note for note in placement.notes)
    else:
        assert torch.equal(down.stored.blocks.flatten(), source.blocks(name))
        assert not placement.notes
    pair = weights.layers[0].experts.gate_up
    assert isinstance(pair, GateUp)
    assert (
        pair.shape
        == DecodedPlacement(torch.float32)
        .gate_up(source, "blk.0.ffn_gate_exps.weight", "blk.0.ffn_up_exps.weight", lambda _: None)
        .shape
    )


def frequency_bytes(weights: ModelWeights) -> int:
    """Worked out from the configuration, not stored in the file: a few hundred bytes a layer."""
    return sum(layer.attention.frequencies.nbytes for layer in weights.layers)


@pytest.mark.parametrize("recipe", ["antirez-q2", "rocmfp-mix"])
def test_the_memory_forecast_counts_what_is_placed(recipe: str) -> None:
    source = stored(recipe)
    weights = load_weights(source, ModelConfig.from_gguf(source.source), BlockPlacement(CPU))
    assert placed_bytes(source) == weights.nbytes() - frequency_bytes(weights)


@pytest.mark.parametrize("other", [F32, F16, FP4, BF16])
@pytest.mark.parametrize("leaf", MATRICES)
def test_the_memory_forecast_counts_what_is_placed_where_formats_differ(leaf: str, other: int) -> None:
    """A model in Q8_0 and F16 but for one matrix of each layer, which may be one of several held together."""
    request = parse_address("synth:small?ratios=4&recipe=q8")
    recipe = replace(request.recipe, families=MappingProxyType({leaf: other}))
    source = StoredWeights(SynthSource(replace(request, recipe=recipe)))
    weights = load_weights(source, request.config, BlockPlacement(CPU))
    assert placed_bytes(source) == weights.nbytes() - frequency_bytes(weights)


def test_what_is_held_together_is_what_one_call_brings_in(monkeypatch: pytest.MonkeyPatch) -> None:
    source, seen = stored("q8"), list[list[str]]()

    def note(placement: BlockPlacement, stored: StoredWeights, names: Sequence[str], *_: object) -> torch.Tensor:
        seen.append(list(names))
        return torch.empty(0)

    def note_pair(placement: BlockPlacement, stored: StoredWeights, gate: str, up: str, *_: object) -> torch.Tensor:
        return note(placement, stored, [gate, up])

    monkeypatch.setattr(BlockPlacement, "stack", note)
    monkeypatch.setattr(BlockPlacement, "exact", note)
    monkeypatch.setattr(BlockPlacement, "gate_up", note_pair)
    load_weights(source, ModelConfig.from_gguf(source.source), BlockPlacement(CPU))
    together = [sorted(names) for names in held_together(source.source.tensors) if len(names) > 1]
    assert sorted(together) == sorted(sorted(names) for names in seen if len(names) > 1)


def test_stacked_matrices_stand_one_above_the_other() -> None:
    source = stored("q8")
    names = ["blk.0.attn_q_a.weight", "blk.0.attn_kv.weight"]
    matrix = BlockPlacement(CPU).stack(source, names, lambda _: None)
    wanted = torch.cat([source.decode(name) for name in names])
    assert matrix.shape == wanted.shape
    assert torch.equal(decode(8, matrix.stored.blocks.flatten(), tuple(wanted.shape)), wanted)


def test_matrices_of_different_formats_are_held_as_f16() -> None:
    source, placement = stored("antirez-q2"), BlockPlacement(CPU)
    pair = placement.gate_up(source, "blk.0.ffn_gate_exps.weight", "blk.0.ffn_up_exps.weight", lambda _: None)
    assert pair.gate.kind is WeightFormat.IQ2_XXS
    names = ["blk.0.attn_q_a.weight", "blk.0.ffn_gate_inp.weight"]
    mixed = placement.stack(source, names, lambda _: None)
    assert mixed.stored.kind is WeightFormat.F16
    wanted = torch.cat([source.decode(name) for name in names])
    assert torch.equal(mixed.stored.blocks.view(torch.float16).view(wanted.shape), wanted.half())


def test_weights_beyond_f16_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    source = stored("bf16")
    monkeypatch.setattr("engine.backends.gpu_placement.decode", lambda *_: torch.full((256,), 1e6))
    with pytest.raises(ModelFileError, match=r"attn_q_b\.weight has weights beyond F16"):
        BlockPlacement(CPU).stack(source, ["blk.0.attn_q_b.weight"], lambda _: None)


def test_loading_reports_all_bytes_and_stops_inside_a_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.backends.gpu_placement._PIECE_BYTES", 1 << 12)
    source, stop, seen = stored("q8"), threading.Event(), list[tuple[int, int]]()
    config = ModelConfig.from_gguf(source.source)
    load_weights(source, config, BlockPlacement(CPU), lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1]
    with pytest.raises(Stopped):
        load_weights(source, config, BlockPlacement(CPU), lambda *_: stop.set(), stop)


def test_running_out_of_memory_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[object] = []
    monkeypatch.setattr(CpuBackend, "release", lambda backend: released.append(backend))  # noqa: PLW0108  # a method

    def exhausted(*_: object) -> None:
        raise torch.OutOfMemoryError("HIP out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr("engine.placement.DecodedPlacement.stack", exhausted)
    with pytest.raises(UserError, match=r"ran out of memory while the model was loaded") as caught:
        engine.load("synth:small?ratios=0&recipe=q8", backend="cpu")
    assert "\n" not in str(caught.value)
    assert released


def test_a_gpu_is_asked_for_by_name_and_missed_in_words() -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(UserError, match="cannot run on a GPU here: this torch sees no GPU"):
        engine.load(backend="gpu")
