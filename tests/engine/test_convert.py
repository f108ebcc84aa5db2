"""Converting: matrices change as the recipe says, all else stays, the result loads and answers; or no file is left."""

import os
import shutil
import threading
from collections import namedtuple
from pathlib import Path
from types import MappingProxyType

import gguf
import pytest
import torch

import engine
import resources
from engine.convert import convert
from engine.divergence import compare_files, divergence
from engine.errors import ModelFileError, Stopped, UserError
from engine.gguf.cursor import ValueType
from engine.gguf.reader import GgufFile
from engine.model_source import open_model
from engine.names import Part, part_of
from engine.quant.codecs import CODECS, FP2_AFFINE, FP2_S40, Codec, decode, encode
from engine.recipes import Recipe, Recipes, uniform
from engine.sampling import Sampling
from engine.stored_weights import StoredWeights
from tests.engine.fp2_writers import write_levels
from tests.fuzz.micro_model import micro_model
from tests.support.deepseek_folder import plain_entries, split_folder, write_folder
from tests.support.model_files import ModelParts
from tests.support.one_thread import one_torch_thread
from tests.support.tiny_model import tiny_tensors

__all__ = ["one_torch_thread"]  # a fixture for every test here

ENCODERS = [i for i, codec in CODECS.items() if isinstance(codec, Codec) and codec.encode and codec.name != "I32"]
Q8, MIX = Recipes.Q8.value, Recipes.MIX.value
MEASURED_Q8, MEASURED_MIX = 1.09e-3, 1.25e-2  # nats a token on `off_the_grid`


def recipe_of(type_id: int) -> Recipe:
    return Recipe(f"all {type_id}", uniform(type_id))


@pytest.mark.parametrize("type_id", ENCODERS)
def test_every_format_with_an_encoder_loads_and_answers(tiny_path: Path, tmp_path: Path, type_id: int) -> None:
    path = tmp_path / "converted.gguf"
    convert(tiny_path, path, recipe_of(type_id))
    weights = StoredWeights(open_model(path))
    for name, exact in tiny_tensors().items():
        part = part_of(name)
        assert part is not None
        if part.is_matrix:
            assert weights.tensor(name).type_id == type_id
            assert torch.equal(weights.decode(name), decode(type_id, encode(type_id, exact), exact.shape))
        else:
            assert torch.equal(weights.decode(name), exact)
    model = engine.load(path, dtype="float32")
    session = model.session(context=64)
    events = list(session.generate([0, 70, 71, 72], Sampling(temperature=0), max_tokens=5, stop=threading.Event()))
    assert len(session.tokens) >= 4 + 4 and events[-1].usage.completion_tokens == 5  # type: ignore[union-attr]  # ends with Finished


def test_the_public_reader_agrees_on_q8(tiny_path: Path, tmp_path: Path) -> None:
    convert(tiny_path, tmp_path / "q8.gguf", Q8)
    exact = tiny_tensors()
    for tensor in gguf.GGUFReader(tmp_path / "q8.gguf").tensors:
        if tensor.tensor_type is gguf.GGMLQuantizationType.Q8_0:
            public = torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type).copy())
            assert torch.equal(public, decode(8, encode(8, exact[tensor.name]), exact[tensor.name].shape))


@pytest.mark.parametrize("recipe", [Q8, MIX])
def test_metadata_order_and_unchanged_tensors_are_kept(tiny_path: Path, tmp_path: Path, recipe: Recipe) -> None:
    source = tiny_path if recipe is Q8 else resources.embedded_model()
    path = tmp_path / "converted.gguf"
    done = convert(source, path, recipe)
    with GgufFile.open(source) as before, GgufFile.open(path) as after:
        assert [key for key, _, _ in before.typed_items()] == [key for key, _, _ in after.typed_items()]
        for (_, kind, value), (_, new_kind, new_value) in zip(before.typed_items(), after.typed_items(), strict=True):
            assert kind is new_kind and str(value) == str(new_value)
        assert list(before.tensors) == list(after.tensors)
        for name, info in before.tensors.items():
            new = after.tensors[name]
            assert new.shape == info.shape
            if new.type_id == info.type_id:
                assert after.data(new) == before.data(info)
    assert done.target_bytes == path.stat().st_size and done.source_bytes == source.stat().st_size
    assert sum(done.formats_after.values()) == sum(done.formats_before.values())


@pytest.fixture(scope="module")
def off_the_grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded model with its 4-bit matrices in F16 and moved a little, so that rounding them costs again."""
    parts = ModelParts.read(resources.embedded_model())
    weights = StoredWeights(open_model(resources.embedded_model()))
    generator = torch.Generator().manual_seed(1)
    for name in weights.source.tensors:
        if weights.codec(name).name == "ROCmFP4":
            exact = weights.decode(name)
            parts.put(name, exact + 0.06 * exact.std() * torch.randn(exact.shape, generator=generator), 1)
    return parts.write(tmp_path_factory.mktemp("fine") / "fine.gguf")


def test_what_the_recipes_cost_in_predictions(off_the_grid: Path, tmp_path: Path) -> None:
    """The bounds on the mean are four times what was measured. A tenth of the first choices may change at 4 bits."""
    convert(off_the_grid, tmp_path / "q8.gguf", Q8)
    convert(off_the_grid, tmp_path / "mix.gguf", MIX)
    q8, mix = (compare_files(off_the_grid, tmp_path / f"{name}.gguf") for name in ("q8", "mix"))
    assert 0 < q8.mean < MEASURED_Q8 * 4 and q8.same_top > 0.98
    assert q8.mean < mix.mean < MEASURED_MIX * 4 and mix.same_top > 0.9
    assert (tmp_path / "mix.gguf").stat().st_size < (tmp_path / "q8.gguf").stat().st_size


def test_mix_leaves_the_embedded_model_as_it_is(tmp_path: Path) -> None:
    """It was made by this recipe, so every matrix already has its format."""
    convert(resources.embedded_model(), tmp_path / "mix.gguf", MIX)
    before, after = (
        StoredWeights(open_model(resources.embedded_model())),
        StoredWeights(open_model(tmp_path / "mix.gguf")),
    )
    for name in before.source.tensors:
        assert before.tensor(name).type_id == after.tensor(name).type_id
        assert torch.equal(before.blocks(name), after.blocks(name))


def test_divergence_is_what_it_is_called() -> None:
    same = [torch.log_softmax(torch.randn(5, 9), dim=1), torch.log_softmax(torch.randn(2, 9), dim=1)]
    found = divergence(same, same)
    assert (found.tokens, found.mean, found.largest, found.same_top) == (7, 0, 0, 1)
    one, other = torch.tensor([[0.75, 0.25]]).log(), torch.tensor([[0.25, 0.75]]).log()
    found = divergence([one], [other])
    assert found.mean == pytest.approx(0.5 * torch.log(torch.tensor(3.0)).item()) and found.same_top == 0


def test_rows_that_are_not_whole_blocks_become_f16(tmp_path: Path) -> None:
    source, path = tmp_path / "micro.gguf", tmp_path / "converted.gguf"
    source.write_bytes(micro_model().file())  # rows of 4 to 32
    convert(source, path, Q8)
    weights = StoredWeights(open_model(path))
    assert weights.tensor("blk.0.attn_output_a.weight").type_id == 8
    assert (
        weights.tensor("blk.0.attn_q_b.weight").shape[1] == 4 and weights.tensor("blk.0.attn_q_b.weight").type_id == 0
    )
    half = ModelParts.read(source)
    half.put("blk.0.attn_q_b.weight", StoredWeights(open_model(source)).decode("blk.0.attn_q_b.weight"), 1)
    convert(half.write(tmp_path / "half.gguf"), tmp_path / "again.gguf", Q8)
    assert StoredWeights(open_model(tmp_path / "again.gguf")).tensor("blk.0.attn_q_b.weight").type_id == 1
    assert engine.load(path, dtype="float32").session(context=64).prefill([2, 70, 71]).isfinite().all()


def test_mix_does_not_write_small_tensors_again(tiny_path: Path, tmp_path: Path) -> None:
    parts, exact = ModelParts.read(tiny_path), tiny_tensors()
    parts.put("blk.0.ffn_up_exps.weight", exact["blk.0.ffn_up_exps.weight"], 39)  # 4.25 bits, ROCmFP4 has 4.5
    parts.put("blk.1.ffn_up_exps.weight", exact["blk.1.ffn_up_exps.weight"], 8)
    convert(parts.write(tmp_path / "in.gguf"), tmp_path / "mix.gguf", MIX)
    found = StoredWeights(open_model(tmp_path / "mix.gguf"))
    kept = found.blocks("blk.0.ffn_up_exps.weight").numpy().tobytes()
    assert kept == parts.tensors["blk.0.ffn_up_exps.weight"][2]
    assert found.tensor("blk.1.ffn_up_exps.weight").type_id == 100
    for name in exact:
        wanted = MIX.types.get(part_of(name) or Part.VECTOR)
        assert wanted in (None, found.tensor(name).type_id) or name == "blk.0.ffn_up_exps.weight"


def test_ambiguous_tensors_that_stay_say_what_they_are(tiny_path: Path, tmp_path: Path) -> None:
    parts, name = ModelParts.read(tiny_path), "blk.0.ffn_up_exps.weight"
    exact = tiny_tensors()[name]
    parts.put_raw(name, exact.shape, 107, write_levels(exact.view(-1, 32), (-4, -1, 1, 4)).numpy().tobytes())
    source = parts.write(tmp_path / "s40.gguf")
    told = convert(source, tmp_path / "told.gguf", MIX, read_as={107: FP2_AFFINE.name})
    assert told.notes == (f"{name.removeprefix('blk.0.')}: Type 107 is read as {FP2_AFFINE.name}, as chosen.",)
    convert(source, tmp_path / "found.gguf", MIX)
    for file, codec in (("told", FP2_AFFINE), ("found", FP2_S40)):
        again = StoredWeights(open_model(tmp_path / f"{file}.gguf"))
        assert again.codec(name) is codec and "as chosen" in again.reasons[0]
    parts.keys["haloband.format.ffn_up_exps.weight"] = ValueType.STRING, "Q9"
    with pytest.raises(ModelFileError, match=r"bad\.gguf: tensor blk\.0.*'Q9'.*ROCmFP2 S40"):
        engine.load(parts.write(tmp_path / "bad.gguf"))
    done = convert(source, tmp_path / "q8.gguf", Q8)
    assert "ROCmFP2 S40" in done.formats_before and "ROCmFP2 S40" not in done.formats_after
    with GgufFile.open(tmp_path / "q8.gguf") as file:
        assert not [key for key in file if key.startswith("haloband.")]


def test_the_file_type_is_not_left_untrue(tiny_path: Path, tmp_path: Path) -> None:
    parts = ModelParts.read(tiny_path)
    parts.set_number("general.file_type", 0)
    source = parts.write(tmp_path / "in.gguf")
    convert(source, tmp_path / "q8.gguf", Q8)
    convert(source, tmp_path / "mix.gguf", MIX)
    with GgufFile.open(tmp_path / "q8.gguf") as q8, GgufFile.open(tmp_path / "mix.gguf") as mix:
        assert q8.get_int("general.file_type") == 7 and "general.file_type" not in mix


def test_draft_heads_are_carried_along(tiny_path: Path, tmp_path: Path) -> None:
    parts = ModelParts.read(tiny_path)
    parts.set_number("deepseek4.block_count", 8)
    parts.set_number("deepseek4.nextn_predict_layers", 1)
    parts.put("blk.7.nextn.eh_proj.weight", torch.randn(64, 128), 0)
    done = convert(parts.write(tmp_path / "in.gguf"), tmp_path / "out.gguf", Q8)
    with GgufFile.open(tmp_path / "out.gguf") as file:
        assert file.get_int("deepseek4.block_count") == 8
        assert (
            bytes(file.data(file.tensors["blk.7.nextn.eh_proj.weight"]))
            == parts.tensors["blk.7.nextn.eh_proj.weight"][2]
        )
    assert "draft" in done.notes[0]
    assert engine.load(tmp_path / "out.gguf").info.layers == 7


def test_parts_become_one_file(tiny_path: Path, tmp_path: Path) -> None:
    first = ModelParts.read(tiny_path).write_parts(tmp_path, 3)[0]
    convert(first, tmp_path / "parts.gguf", Q8)
    convert(tiny_path, tmp_path / "whole.gguf", Q8)
    assert (tmp_path / "parts.gguf").read_bytes() == (tmp_path / "whole.gguf").read_bytes()


def test_an_existing_file_is_replaced_on_request_only(tiny_path: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.gguf"
    target.write_text("something of value")
    with pytest.raises(UserError, match="exists already; use --force"):
        convert(tiny_path, target, Q8)
    assert target.read_text() == "something of value"
    convert(tiny_path, target, Q8, overwrite=True)
    assert engine.load(target).info.quantization.startswith("Q8_0")


def test_targets_that_cannot_be(tiny_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = shutil.copy(tiny_path, tmp_path / "own.gguf")
    for target, words in (
        (tmp_path, "is a folder"),
        (own, "is the model itself"),
        (tmp_path / "nowhere" / "out.gguf", "is not a folder"),
    ):
        with pytest.raises(UserError, match=words):
            convert(Path(own), Path(target), Q8, overwrite=True)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1 << 40, 1 << 40, 1000))
    with pytest.raises(UserError, match="are free"):
        convert(tiny_path, tmp_path / "out.gguf", Q8)
    assert [path.name for path in tmp_path.iterdir()] == ["own.gguf"]


@pytest.mark.parametrize("name", ["itself", "symbolic link", "hard link"])
@pytest.mark.parametrize("form", ["parts", "folder"])
def test_no_file_of_the_source_is_replaced(tiny_path: Path, tmp_path: Path, form: str, name: str) -> None:
    model = tmp_path / "model"
    if form == "parts":
        model.mkdir()
        files = ModelParts.read(tiny_path).write_parts(model, 3)
        sources = files
    else:
        entries = plain_entries()
        split_folder(write_folder(model, entries), entries, 2)
        files, sources = sorted(model.iterdir()), [model]
        assert len(files) == 5
    before = {path: path.read_bytes() for path in files}
    for source in sources:
        for number, file in enumerate(files):
            target = file
            if name != "itself":
                target = tmp_path / f"{source.name} {number}.gguf"
                (target.symlink_to if name == "symbolic link" else target.hardlink_to)(file)
            with pytest.raises(UserError, match="is the model itself or a part of it"):
                convert(source, target, Q8, overwrite=True)
    assert {path: path.read_bytes() for path in model.iterdir()} == before


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file(
    tiny_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    target = tmp_path / "out.gguf"
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(UserError, match=r"out\.gguf could not be written: No space left on device"):
        convert(tiny_path, target, Q8, overwrite=True)
    assert target.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_progress_reaches_the_end_and_a_stop_leaves_nothing(tiny_path: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    convert(tiny_path, tmp_path / "out.gguf", Q8, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen) and seen[-1][0] == seen[-1][1]
    stop = threading.Event()
    with pytest.raises(Stopped):
        convert(tiny_path, tmp_path / "stopped.gguf", Q8, progress=lambda *_: stop.set(), stop=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["out.gguf"]


def test_large_tensors_are_taken_in_pieces(tiny_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    convert(tiny_path, tmp_path / "whole.gguf", Q8)
    monkeypatch.setattr("engine.convert._WEIGHTS_AT_ONCE", 10_000)
    convert(tiny_path, tmp_path / "pieces.gguf", Q8)
    assert (tmp_path / "whole.gguf").read_bytes() == (tmp_path / "pieces.gguf").read_bytes()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_numbers_are_named(tiny_path: Path, tmp_path: Path, value: float) -> None:
    parts, broken = ModelParts.read(tiny_path), tiny_tensors()["blk.1.attn_kv.weight"].clone()
    broken[3, 5] = value
    parts.put_raw("blk.1.attn_kv.weight", broken.shape, 0, broken.numpy().tobytes())
    source = parts.write(tmp_path / "in.gguf")
    with pytest.raises(
        ModelFileError, match=r"in\.gguf: tensor blk\.1\.attn_kv\.weight holds weights that are not finite"
    ):
        convert(source, tmp_path / "out.gguf", Q8)
    assert [path.name for path in tmp_path.iterdir()] == ["in.gguf"]


@pytest.mark.parametrize(
    ("recipe", "tensor", "value", "words"),
    [
        (Q8, "blk.1.attn_kv.weight", -1e9, r"beyond 8,319,008, the largest that Q8_0"),
        (Recipes.MIX.value, "blk.1.ffn_up_exps.weight", 2241.0, r"beyond 2,240, the largest that ROCmFP4"),
    ],
)
def test_weights_that_the_new_format_cannot_hold_are_named(
    tiny_path: Path, tmp_path: Path, recipe: Recipe, tensor: str, value: float, words: str
) -> None:
    parts, broken = ModelParts.read(tiny_path), tiny_tensors()[tensor].clone()
    broken.view(-1)[5] = value
    parts.put_raw(tensor, broken.shape, 0, broken.numpy().tobytes())
    source = parts.write(tmp_path / "in.gguf")
    with pytest.raises(ModelFileError, match=rf"tensor {tensor} holds weights {words}"):
        convert(source, tmp_path / "out.gguf", recipe)
    assert [path.name for path in tmp_path.iterdir()] == ["in.gguf"]


def test_sources_that_are_no_model(tmp_path: Path) -> None:
    foreign = ModelParts({"general.architecture": (ValueType.STRING, "llama")}).write(tmp_path / "llama.gguf")
    for source, words in ((foreign, "'llama'"), (tmp_path / "none.gguf", "does not exist")):
        with pytest.raises(ModelFileError, match=words):
            convert(source, tmp_path / "out.gguf", Q8)
    assert [path.name for path in tmp_path.iterdir()] == ["llama.gguf"]


def test_a_recipe_leaves_what_it_does_not_name(tiny_path: Path, tmp_path: Path) -> None:
    only_head = Recipe("head", MappingProxyType({Part.HEAD: 8}))
    done = convert(tiny_path, tmp_path / "head.gguf", only_head)
    assert done.formats_after["Q8_0"] == tiny_tensors()["output.weight"].numel()
