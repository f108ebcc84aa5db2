"""Loading: every way a model file can be wrong gives one sentence that names it; progress and stop work."""

import threading
from pathlib import Path

import pytest
import torch

import engine
from engine.errors import ModelFileError, Stopped, UserError
from engine.loading import Model
from tests.support.one_thread import one_torch_thread
from tests.support.tiny_model import tiny_tensors, write_tiny_gguf

__all__ = ["one_torch_thread"]  # a fixture for every test here

OPTIONAL = "exp_probs_b.bias"


def sentence_of(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        engine.load(path)
    text = str(caught.value)
    assert str(path) in text and "\n" not in text
    return text


def test_a_missing_empty_truncated_or_foreign_file_is_named(tmp_path: Path, tiny_path: Path) -> None:
    sentence_of(tmp_path / "nowhere.gguf")
    empty = tmp_path / "empty.gguf"
    empty.touch()
    sentence_of(empty)
    text = tmp_path / "text.gguf"
    text.write_text("# a readme, not a model")
    sentence_of(text)
    data = tiny_path.read_bytes()
    for length in (3, 20, 1000, len(data) // 2, len(data) - 1):
        cut = tmp_path / "cut.gguf"
        cut.write_bytes(data[:length])
        sentence_of(cut)


@pytest.mark.parametrize("name", sorted(name for name in tiny_tensors() if not name.endswith(OPTIONAL)))
def test_every_tensor_is_required_by_name(tmp_path: Path, name: str) -> None:
    assert name in sentence_of(write_tiny_gguf(tmp_path / "without.gguf", without=name))


def test_without_a_selection_bias_scores_alone_select(tmp_path: Path) -> None:
    model = engine.load(write_tiny_gguf(tmp_path / "without.gguf", without=f"blk.3.{OPTIONAL}"))
    assert model.network.weights.layers[3].router.bias is None
    assert model.session(context=64).prefill([3, 4, 5]).isfinite().all()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"block_count": 0}, "block_count"),
        ({"block_count": 8}, "ratios"),
        ({"attention__compress_ratios": [0, 0, 4, 128, 4, 128, 5]}, "compression ratios"),
        ({"embedding_length": 65}, "shape"),
        ({"attention__sliding_window": 64}, "window"),
        ({"expert_used_count": 17}, "experts"),
        ({"expert_gating_func": 2}, "expert_gating_func"),
        ({"hyper_connection__count": 2}, "streams"),
        ({"hyper_connection__epsilon": 0.0}, "hc_eps"),
        ({"attention__layer_norm_rms_epsilon": float("nan")}, "rms_eps"),
        ({"rope__dimension_count": 65}, "rotary"),
        ({"attention__indexer__key_length": 48}, "indexer width"),
        ({"vocab_size": 100_000_000}, "vocab"),
        ({"expert_count": "many"}, "expert_count"),
    ],
)
def test_metadata_that_does_not_fit_is_named(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    assert words in sentence_of(write_tiny_gguf(tmp_path / "changed.gguf", **changes))


def test_another_architecture_is_named(tmp_path: Path) -> None:
    import gguf

    writer = gguf.GGUFWriter(tmp_path / "llama.gguf", "llama")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    assert "'llama'" in sentence_of(tmp_path / "llama.gguf")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"backend": "tpu"}, "'tpu'"), ({"dtype": "int3"}, "'int3'"), ({"kv_rounding": "e9"}, "'e9'")],
)
def test_unknown_options_are_named(tiny_path: Path, arguments: dict[str, str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        engine.load(tiny_path, **arguments)  # type: ignore[arg-type]  # one option at a time


def test_too_little_memory_is_said_before_loading(tiny_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.backends.cpu.available_bytes", lambda: 1000)
    with pytest.raises(UserError, match="available"):
        engine.load(tiny_path)


def test_progress_reaches_the_end_and_a_stop_ends_loading(tiny_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    engine.load(tiny_path, progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1]
    stop = threading.Event()
    with pytest.raises(Stopped):
        engine.load(tiny_path, progress=lambda *_: stop.set(), stop=stop)


def test_the_embedded_model_loads_without_a_path(tiny: Model) -> None:
    model = engine.load()
    assert model.info.name == "DS4 nano" and model.info.layers == 9
    assert model.info.parameters == 41_277_083
    assert model.config.default_kv_rounding == "f16"
    logits = model.session().prefill([0, 2, 100, 3, 5])
    assert logits.dtype is torch.float32 and logits.shape == (16384,)
    assert model.fingerprint != tiny.fingerprint


@pytest.mark.parametrize(
    "changes",
    [
        {"attention__layer_norm_rms_epsilon": 1e-5},
        {"hyper_connection__epsilon": 1e-5},
        {"hyper_connection__sinkhorn_iterations": 3},
        {"rope__freq_base": 500.0},
        {"attention__compress_rope_freq_base": 500.0},
        {"rope__scaling__factor": 2.0},
        {"attention__indexer__top_k": 1},
        {"expert_weights_scale": 0.5},
        {"swiglu_clamp_exp": 1.0},
    ],
)
def test_a_changed_constant_is_another_model(tiny: Model, tmp_path: Path, changes: dict[str, object]) -> None:
    changed = engine.load(write_tiny_gguf(tmp_path / "changed.gguf", **changes), dtype="float32")
    assert changed.config != tiny.config
    assert changed.fingerprint != tiny.fingerprint


def test_the_same_model_has_the_same_fingerprint_and_another_vocabulary_another(tiny: Model, tmp_path: Path) -> None:
    same = write_tiny_gguf(tmp_path / "same.gguf")
    assert engine.load(same, dtype="float32").fingerprint == tiny.fingerprint
    data = same.read_bytes()
    for old, new in ((b"ja", b"JA"), (b"j a", b"J A")):  # a token and the merge that makes it
        length = len(old).to_bytes(8, "little")
        assert data.count(length + old) == 1
        data = data.replace(length + old, length + new)
    same.write_bytes(data)
    assert engine.load(same, dtype="float32").fingerprint != tiny.fingerprint
