"""The comparison with transformers on a tiny model without a GPU: weights, names, rounds, and all of it end to end.

What runs transformers itself is skipped where it is not installed: it is a peer, not a dependency.
"""

import importlib.util
import json
from pathlib import Path

import pytest
import torch

from engine.backends.gpu_placement import BlockPlacement
from engine.config import ModelConfig
from engine.loading import Model, load_source
from engine.stored_weights import StoredWeights
from engine.weights import load_weights, tensors_of
from tests.gpu import compare_transformers, transformers_model
from tests.gpu.engine_rounds import Haloband, Setting, Transformers, alternate
from tests.gpu.shared_weights import SharedWeights
from tests.perf.hf_config import hf_config
from tests.perf.peers import Sample
from tests.support.one_thread import one_torch_thread

__all__ = ["one_torch_thread"]  # a fixture for every test here

ADDRESS = compare_transformers.SMALL.address
TOKENS, DECODED = 150, 3  # one window of 128, several of 4

needs_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="transformers is not installed: a peer, no dependency"
)


def loaded(rounding: str) -> tuple[SharedWeights, Model]:
    source = SharedWeights(ADDRESS)
    return source, load_source(source, backend="cpu", dtype="float32", kv_rounding=rounding)


def test_every_weight_is_the_same_number_in_every_type() -> None:
    source, _ = loaded("f16")
    assert set(source.held) == set(source.tensors)
    for name, held in source.held.items():
        if held.is_floating_point():
            exact = held.double()
            for dtype in (torch.bfloat16, torch.float16):
                assert torch.equal(held.to(dtype).double(), exact), f"{name} in {dtype}"
            assert len(exact.unique()) > 1 or exact.numel() == 1, name


def test_what_is_held_is_the_memory_that_the_kernels_read() -> None:
    source = SharedWeights(ADDRESS)
    config = ModelConfig.from_gguf(source)
    weights = load_weights(StoredWeights(source), config, BlockPlacement(torch.device("cpu")))
    blocks = {tensor.untyped_storage().data_ptr() for tensor in tensors_of(weights) if tensor.dtype == torch.uint8}
    read = {name for name, held in source.held.items() if held.untyped_storage().data_ptr() in blocks}
    assert len(blocks) > 40
    matrices = {name for name, held in source.held.items() if held.dtype == torch.float16}
    assert matrices - read == {name for name in matrices if name.endswith(("_fn.weight", "_ape.weight"))}


def test_a_piece_of_a_tensor_is_rounded_like_the_whole() -> None:
    source = SharedWeights(ADDRESS)
    for tensor in source.tensors.values():
        data = bytes(source.data(tensor))
        assert source.sample(tensor, 64) == data[:64] + data[-64:], tensor.name


def test_every_tensor_has_a_name_of_its_own_there() -> None:
    names = [transformers_model.hf_name(name) for name in SharedWeights(ADDRESS).tensors]
    shared = {name for name in names if names.count(name) > 1}
    assert shared == {f"model.layers.{layer}.mlp.experts.gate_up_proj" for layer in range(4)}
    assert all(names.count(name) == 2 for name in shared)


class Counting:
    """A peer whose seconds are the number of its run, from an order that all share."""

    def __init__(self, name: str, order: list[str], refuses: bool = False) -> None:
        self.name, self.order, self.refuses, self.runs = name, order, refuses, 0

    def run(self, ids: list[int], tokens: int) -> Sample:
        self.order.append(self.name)
        if self.refuses:
            raise torch.OutOfMemoryError
        self.runs += 1
        return Sample(self.runs, 10 * self.runs)

    def rows(self, ids: list[int], following: list[int]) -> torch.Tensor:
        raise NotImplementedError


def test_rounds_alternate_and_leave_out_a_peer_without_memory() -> None:
    order: list[str] = []
    peers = {name: Counting(name, order, refuses=name == "b") for name in "abc"}
    first, refused, last = alternate(peers, [1], 1, 5)
    assert order == [*"abc", *"ac" * 6]
    assert not refused.samples
    assert [sample.prefill_s for sample in first.samples] == [3, 4, 5, 6, 7], "two warm-ups are not counted"
    assert last.prefill_s == 5 and last.token_s == 50 and last.prefill_spread == pytest.approx(4 / 5)


@needs_transformers
def test_the_same_weights_give_the_same_answers_in_float32() -> None:
    source, model = loaded("none")
    theirs = transformers_model.same_model(source, model.config, torch.device("cpu"), torch.float32)
    ids = compare_transformers.random_ids(model, TOKENS + DECODED)
    prompt, following = ids[:TOKENS], ids[TOKENS:]
    mine = Haloband(model, len(ids)).rows(prompt, following)
    for setting in (Setting("eager", None), Setting("eager", 64, "batched_mm")):
        found = Transformers(theirs, setting).rows(prompt, following)
        assert float((found - mine).abs().max()) < 1e-4, setting.name


@needs_transformers
def test_another_number_or_angle_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    source, model = loaded("f16")
    settings = hf_config(model.config) | {"compress_rope_theta": 150_000.0}
    monkeypatch.setattr(transformers_model, "hf_config", lambda config: settings)
    with pytest.raises(ValueError, match="rotates compress rows by other angles"):
        transformers_model.same_model(source, model.config, torch.device("cpu"), torch.bfloat16)
    source.held["blk.2.attn_sinks.weight"][1] = 1 + 2**-20
    with pytest.raises(ValueError, match=r"other numbers for blk\.2\.attn_sinks\.weight"):
        transformers_model.same_model(source, model.config, torch.device("cpu"), torch.bfloat16)


@needs_transformers
def test_the_whole_comparison_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "found.json"
    sizes = ["--tokens", str(TOKENS), "--decode", str(DECODED), "--rounds", "1", "--chunks", "0,64"]
    assert compare_transformers.main(["--small", *sizes, "--out", str(out)]) == 0
    found, printed = json.loads(out.read_text()), capsys.readouterr().out
    assert found["equal_tensors"] == len(SharedWeights(ADDRESS).tensors)
    assert len(found["engines"]) == 4 and all(len(engine["samples"]) == 1 for engine in found["engines"])
    assert found["agreement"]["tokens"] == 1 + DECODED
    assert found["agreement"]["mean"] < 1e-3 and found["own_agreement"]["mean"] < 1e-3
    assert found["prefill_ratio"] > 0 and "3 layers routed by token id" in printed
    assert all(f"| {engine['name']}" in printed for engine in found["engines"])
    assert [engine["name"].split(", ")[1] for engine in found["engines"]] == ["one step", "whole", *["chunk 64"] * 2]
