"""Every published family of model files loads as the same model: names, side tensors, parts and stored forms."""

import logging
import struct
from pathlib import Path

import numpy as np
import pytest
import torch

import engine
from engine.errors import ModelFileError
from engine.gguf.cursor import ValueType
from engine.layers.rounding import KvRounding
from engine.loading import Model
from engine.model_source import open_model
from engine.stored_weights import StoredWeights
from engine.weights import tensors_of
from tests.engine.fp2_writers import write_affine
from tests.fuzz.micro_model import HEAD_DIM, micro_model
from tests.support.deepseek_folder import Entry, plain_entries, release_entries, split_folder, write_folder
from tests.support.model_files import ModelParts
from tests.support.one_thread import one_torch_thread
from tests.support.tiny_model import EXPERT_NAMES, oracle_case, tiny_tensors

__all__ = ["one_torch_thread"]  # a fixture for every test here


@pytest.fixture(scope="module")
def plain_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("families") / "tiny-plain", plain_entries())


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Entry], dict[str, torch.Tensor]]:
    entries, values = release_entries()
    return write_folder(tmp_path_factory.mktemp("families") / "tiny-release", entries), entries, values


def assert_same_weights(model: Model, tiny: Model) -> None:
    found, wanted = tensors_of(model.network.weights), tensors_of(tiny.network.weights)
    assert len(found) == len(wanted)
    assert all(torch.equal(a, b) for a, b in zip(found, wanted, strict=True))
    assert model.config == tiny.config


def load(path: Path) -> Model:
    return engine.load(path, dtype="float32")


def test_antirez_with_its_separate_draft_tensors(tiny: Model, tiny_path: Path, tmp_path: Path) -> None:
    parts = ModelParts.read(tiny_path)
    parts.put("mtp.0.attn_norm.weight", torch.ones(64), 0)
    parts.put("mtp.0.e_proj.weight", torch.ones(64, 64), 8)
    path = parts.write(tmp_path / "antirez.gguf")
    assert_same_weights(load(path), tiny)
    assert "draft heads" in open_model(path).notes[0] and "'mtp.0.attn_norm.weight'" in open_model(path).notes[0]


@pytest.mark.parametrize("counted", [True, False])
def test_llama_cpp_with_draft_blocks_after_the_last(
    tiny: Model, tiny_path: Path, tmp_path: Path, counted: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """llama.cpp counts its nextn blocks among the blocks; other writers do not."""
    parts = ModelParts.read(tiny_path)
    parts.set_number("deepseek4.block_count", 8 if counted else 7)
    parts.set_number("deepseek4.nextn_predict_layers", 1)
    parts.keys["deepseek4.attention.compress_ratios"] = (
        ValueType.ARRAY,
        np.array([0, 0, 4, 128, 4, 128, 4, 0], np.int32),
    )
    parts.keys["deepseek4.swiglu_clamp_exp"] = ValueType.FLOAT32, 2.0  # one number for all layers
    for name in ("nextn.eh_proj", "nextn.enorm", "nextn.hnorm", "nextn.shared_head_norm", "attn_norm", "attn_kv"):
        parts.put(f"blk.7.{name}.weight", torch.ones(64, 64), 0)
    with caplog.at_level(logging.INFO):
        assert_same_weights(load(parts.write(tmp_path / "llama.gguf")), tiny)
    assert "6 of the tensors, of draft heads" in caplog.text


def test_a_block_count_that_only_promises_drafts_is_taken_as_it_is(
    tiny: Model, tiny_path: Path, tmp_path: Path
) -> None:
    parts = ModelParts.read(tiny_path)
    parts.set_number("deepseek4.nextn_predict_layers", 1)
    assert_same_weights(load(parts.write(tmp_path / "promise.gguf")), tiny)


def test_without_a_vocabulary_size_the_tokens_are_counted(tiny: Model, tiny_path: Path, tmp_path: Path) -> None:
    parts = ModelParts.read(tiny_path)
    del parts.keys["deepseek4.vocab_size"]
    assert_same_weights(load(parts.write(tmp_path / "uncounted.gguf")), tiny)


def test_rocmfpx_with_its_formats(tiny_path: Path, tmp_path: Path) -> None:
    """The Strix-Lean recipe: affine ROCmFP2 experts under id 107, the rest ROCmFP4 and ROCmFP4_FAST, norms F32."""
    parts, exact = ModelParts.read(tiny_path), tiny_tensors()
    for name, weights in exact.items():
        leaf = name.split(".", 2)[-1]
        if leaf in EXPERT_NAMES.values():
            parts.put_raw(name, weights.shape, 107, write_affine(weights.view(-1, 32)).numpy().tobytes())
        elif leaf.startswith(("attn_output_b", "indexer.attn_q_b")):
            parts.put(name, weights, 100)
        elif weights.dim() == 2 and weights.shape[-1] % 32 == 0 and weights.is_floating_point():
            parts.put(name, weights, 101)
    model = load(parts.write(tmp_path / "strix.gguf"))
    assert model.info.quantization == "ROCmFP2 affine + ROCmFP4_FAST"
    assert model.session(context=64).prefill([0, 70, 71, 72]).isfinite().all()


@pytest.mark.parametrize("which", [1, 2, 3])
def test_a_model_in_parts_opens_by_any_part(tiny: Model, tiny_path: Path, tmp_path: Path, which: int) -> None:
    paths = ModelParts.read(tiny_path).write_parts(tmp_path, 3)
    model = load(paths[which - 1])
    assert_same_weights(model, tiny)
    assert model.info.file_bytes == sum(path.stat().st_size for path in paths)


def test_the_order_of_tensors_does_not_matter(tiny: Model, tiny_path: Path, tmp_path: Path) -> None:
    parts = ModelParts.read(tiny_path)
    parts.tensors = dict(reversed(parts.tensors.items()))
    assert_same_weights(load(parts.write(tmp_path / "reversed.gguf")), tiny)


@pytest.mark.parametrize("experts", [12, 6])
def test_pruned_experts_are_read_not_assumed(tiny_path: Path, tmp_path: Path, experts: int) -> None:
    parts, exact = ModelParts.read(tiny_path), tiny_tensors()
    parts.set_number("deepseek4.expert_count", experts)
    for name, weights in exact.items():
        leaf = name.split(".", 2)[-1]
        if leaf in (*EXPERT_NAMES.values(), "ffn_gate_inp.weight", "exp_probs_b.bias"):
            parts.put(name, weights[:experts], 0)
        elif leaf.startswith("ffn_gate_tid2eid"):
            parts.put(name, weights % experts, 26)
    model = load(parts.write(tmp_path / "pruned.gguf"))
    assert model.network.weights.layers[4].experts.down.shape[0] == model.config.experts == experts
    assert model.session(context=64).prefill([0, 70, 71]).isfinite().all()


@pytest.mark.parametrize("native", ["", "off"])
@pytest.mark.parametrize("rounding", [kind.value for kind in KvRounding])
def test_heads_that_are_all_rotary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rounding: str, native: str) -> None:
    """No channel is left for E4M3 then. A prompt at once and token by token come to the same."""
    if native:
        monkeypatch.setenv("HALOBAND_NATIVE", native)
    parts, key = micro_model(), "deepseek4.rope.dimension_count"
    parts.keys = [
        (name, kind, struct.pack("<I", HEAD_DIM) if name == key else value) for name, kind, value in parts.keys
    ]
    (tmp_path / "rotary.gguf").write_bytes(parts.file())
    model = engine.load(tmp_path / "rotary.gguf", dtype="float32", kv_rounding=rounding)
    assert model.config.rope_dim == model.config.head_dim
    ids = [0, *(7 + n % 250 for n in range(140))]
    whole, single = model.session(context=256), model.session(context=256)
    expected, found = whole.prefill(ids), single.prefill(ids[:1])
    for token in ids[1:]:
        found = single.decode(token)
    assert expected.isfinite().all()
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)


def test_a_folder_of_plain_weights_is_the_same_model(tiny: Model, plain_folder: Path) -> None:
    model = load(plain_folder)
    assert_same_weights(model, tiny)
    assert model.info.name == "tiny-plain" and model.info.path == plain_folder
    case = oracle_case(127)
    logits = model.session(context=256).prefill(case["input_ids"].flatten().tolist())
    assert torch.equal(logits, tiny.session(context=256).prefill(case["input_ids"].flatten().tolist()))
    text = "abc xyz, hello!"
    assert model.tokenizer.encode(text) == tiny.tokenizer.encode(text)
    assert model.tokenizer.control_ids == tiny.tokenizer.control_ids


def test_a_released_folder_reads_without_loss(
    release: tuple[Path, dict[str, Entry], dict[str, torch.Tensor]], tiny: Model
) -> None:
    folder, _, values = release
    weights = StoredWeights(open_model(folder))
    model = load(folder)
    assert {"MXFP4", "BF16", "F32", "I32"} == set(weights.weights_by_format())
    for name, tensor in weights.source.tensors.items():
        called = weights.source.called(name)
        if "{expert}" in called:
            wanted = torch.stack([values[called.format(expert=expert)] for expert in range(16)])
        else:
            wanted = values[called]
        assert tensor.shape == wanted.shape and torch.equal(weights.decode(name), wanted.to(weights.decode(name).dtype))
    assert model.config == tiny.config
    assert model.session(context=64).prefill([0, 70, 71, 72]).isfinite().all()


def test_a_folder_in_several_files_is_the_same_model(
    release: tuple[Path, dict[str, Entry], dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    """Scales may lie in another file than their weights."""
    folder, entries, _ = release
    parts = write_folder(tmp_path / "parts", entries)
    split_folder(parts, entries, 3)
    assert_same_weights(load(parts), load(folder))
    assert_same_weights(load(parts / "model-00002-of-00003.safetensors"), load(folder))


def test_drafts_in_a_folder_are_left_out(tiny: Model, tmp_path: Path) -> None:
    entries = plain_entries()
    entries["mtp.0.norm.weight"] = entries["norm.weight"]
    entries["mtp.0.attn.wq_a.scale"] = entries["norm.weight"]
    folder = write_folder(tmp_path / "drafts", entries, num_nextn_predict_layers=1)
    assert_same_weights(load(folder), tiny)
    assert "2 of the tensors, of draft heads" in open_model(folder).notes[0]


def test_more_ratios_than_layers_and_several_ends_are_fine(tiny: Model, tmp_path: Path) -> None:
    ratios = [0, 0, 4, 128, 4, 128, 4, 0, 0, 0]  # one a draft stage, as the 0731 release has
    folder = write_folder(tmp_path / "0731", plain_entries(), compress_ratios=ratios, eos_token_id=[1, 5])
    assert_same_weights(load(folder), tiny)
    assert load(folder).tokenizer.eos == 1


def test_a_folder_without_a_tokenizer_works_with_ids(tiny: Model, tmp_path: Path) -> None:
    model = load(write_folder(tmp_path / "mute", plain_entries(), tokenizer=False))
    ids = [0, 70, 71, 72]
    assert torch.equal(model.session(context=64).prefill(ids), tiny.session(context=64).prefill(ids))
    assert model.tokenizer.decode(ids) == "" and (model.tokenizer.bos, model.tokenizer.eos) == (0, 1)
    assert model.tokenizer.vocab_size == 512 and model.tokenizer.stream().push(70) == ""
    for use in (model.tokenizer.encode, model.tokenizer.count):
        with pytest.raises(ModelFileError, match=r"mute has no tokenizer\.json"):
            use("text")


def test_fingerprints_tell_models_apart(tiny: Model, plain_folder: Path, tmp_path: Path) -> None:
    entries = plain_entries()
    raw = bytearray(entries["layers.3.ffn.experts.15.w2.weight"].raw)
    raw[-1] ^= 1
    entries["layers.3.ffn.experts.15.w2.weight"].raw = bytes(raw)
    other = write_folder(tmp_path / "other", entries)
    prints = [load(plain_folder).fingerprint, load(plain_folder).fingerprint, load(other).fingerprint]
    assert prints[0] == prints[1] != prints[2]
