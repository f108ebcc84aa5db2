"""A Hugging Face folder that nobody vouches for: whatever is wrong with it gives one sentence that names the place."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import engine
from engine.errors import ModelFileError, UserError
from engine.hf.safetensors_file import SafetensorsFile
from engine.model_source import open_model
from tests.support.deepseek_folder import (
    Entry,
    copy_folder,
    entry,
    plain_entries,
    release_entries,
    safetensors_bytes,
    split_folder,
    tokenizer_document,
    write_config,
    write_folder,
    write_index,
)

Entries = dict[str, Entry]


@pytest.fixture(scope="module")
def entries() -> Entries:
    return release_entries()[0]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, entries: Entries) -> Path:
    return write_folder(tmp_path_factory.mktemp("sound") / "model", entries)


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return copy_folder(sound, tmp_path / "model")


def sentence_of(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        engine.load(path, dtype="float32")
    text = str(caught.value)
    assert str(path) in text and "\n" not in text
    return text


def rewrite(folder: Path, entries: Entries) -> None:
    (folder / "model.safetensors").write_bytes(safetensors_bytes(entries))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert name in sentence_of(folder)


@pytest.mark.parametrize(
    "name", ["embed.weight", "hc_head_scale", "layers.3.attn.wq_a.weight", "layers.6.attn.indexer.compressor.ape"]
)
def test_a_missing_tensor_is_called_by_its_own_name(folder: Path, entries: Entries, name: str) -> None:
    rewrite(folder, {key: value for key, value in entries.items() if key != name})
    assert f"tensor {name} is missing" in sentence_of(folder)


def test_missing_and_surplus_experts_are_named(folder: Path, entries: Entries) -> None:
    gone = "layers.2.ffn.experts.7.w3.weight"
    rewrite(folder, {key: value for key, value in entries.items() if key != gone})
    assert f"tensor {gone} is missing" in sentence_of(folder)
    rewrite(folder, entries)
    write_config(folder, n_routed_experts=15)
    assert "has 16 experts, but config.json says 15" in sentence_of(folder)


def test_experts_of_different_form_are_named(folder: Path, entries: Entries) -> None:
    odd = "layers.2.ffn.experts.7.w3.weight"
    changed = {key: value for key, value in entries.items() if key != odd.replace("weight", "scale")}
    rewrite(folder, changed | {odd: entry(torch.ones(32, 64))})
    assert f"tensor {odd} differs in form" in sentence_of(folder)


@pytest.mark.parametrize("name", ["norm.weight", "layers.3.attn.wq_a.weight", "layers.0.ffn.gate.tid2eid"])
def test_a_mis_shaped_tensor_is_named(folder: Path, entries: Entries, name: str) -> None:
    kept = {key: value for key, value in entries.items() if key != name.replace("weight", "scale")}
    rewrite(folder, kept | {name: entry(torch.ones(3, 5, dtype=torch.int64 if "tid2eid" in name else torch.float32))})
    text = sentence_of(folder)
    assert name in text and "[3, 5]" in text


@pytest.mark.parametrize("name", ["layers.3.attn.wq_a", "layers.3.ffn.experts.0.w1"])
def test_scales_are_required_and_checked(folder: Path, entries: Entries, name: str) -> None:
    scale = f"{name}.scale"
    rewrite(folder, {key: value for key, value in entries.items() if key != scale})
    assert f"tensor {name}.weight" in (text := sentence_of(folder)) and "scales are missing" in text
    good = entries[scale]
    for bad in (
        Entry("F8_E8M0", (*good.shape[:-1], good.shape[-1] + 1), bytes(good.shape[0] * (good.shape[-1] + 1))),
        Entry("U8", good.shape, good.raw),
    ):
        rewrite(folder, entries | {scale: bad})
        assert f"tensor {scale} is" in (text := sentence_of(folder)) and str(list(good.shape)) in text
    rewrite(folder, entries | {scale: Entry("F8_E8M0", good.shape, b"\xff" * len(good.raw))})
    assert f"tensor {scale} has a scale that is not a number" in sentence_of(folder)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (Entry("F64", (64,), bytes(8 * 64)), "F64"),
        (Entry("F8_E5M2", (8, 8), bytes(64)), "F8_E5M2"),
        (Entry("I8", (8, 8), bytes(64)), "no whole blocks"),
        (Entry("F32", (), bytes(4)), "empty"),
        (Entry("F32", (0, 4), b""), "empty"),
    ],
)
def test_forms_that_are_not_known_are_named(folder: Path, entries: Entries, bad: Entry, words: str) -> None:
    rewrite(folder, entries | {"norm.weight": bad})
    assert "norm.weight" in (text := sentence_of(folder)) and words in text


def test_a_hash_table_beyond_32_bits_is_named(folder: Path, entries: Entries) -> None:
    table = torch.full((512, 6), 1 << 33)
    rewrite(folder, entries | {"layers.0.ffn.gate.tid2eid": entry(table)})
    assert "layers.0.ffn.gate.tid2eid" in (text := sentence_of(folder)) and "32 bits" in text


def test_the_order_of_tensors_does_not_matter(folder: Path, entries: Entries) -> None:
    rewrite(folder, dict(reversed(entries.items())))
    assert engine.load(folder, dtype="float32").info.layers == 7


@pytest.mark.parametrize("length", [0, 4, 8, 5000, -1, -100_000])
def test_a_truncated_file_is_named(folder: Path, length: int) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:length])
    assert "model.safetensors" in sentence_of(folder)


def header_file(path: Path, header: object, data: bytes = bytes(8), length: int | None = None) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


def one(dtype: object = "F32", shape: object = (2,), offsets: object = (0, 8)) -> dict[str, object]:
    return {"x": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


BAD_HEADERS: dict[str, object] = {
    "no JSON": b"{",
    "no object": [1, 2],
    "not UTF-8": b'{"\xff": 1}',
    "too deep": b"[" * 100_000,
    "twice": b'{"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "x": {}}',
    "no entry": {"x": 7},
    "type missing": {"x": {"shape": [2], "data_offsets": [0, 8]}},
    "type unknown": one(dtype="F3"),
    "type no text": one(dtype=[]),
    "shape negative": one(shape=[-2]),
    "shape no numbers": one(shape=["2"]),
    "shape true": one(shape=[True, 2]),
    "shape huge": one(shape=[1 << 47, 1 << 47]),
    "shape beyond all": one(shape=[1 << 70]),
    "nine axes": one(shape=[1] * 8 + [2]),
    "offsets short": one(offsets=[8]),
    "offsets backwards": one(offsets=[8, 0]),
    "offsets beyond": one(shape=[4], offsets=[0, 16]),
    "size and shape differ": one(shape=[1]),
    "hole at the start": one(shape=[1], offsets=[4, 8]),
    "bytes left": one(shape=[1], offsets=[0, 4]),
    "overlap": one() | {"y": one(shape=[1], offsets=[4, 8])["x"]},
    "NaN": b'{"x": {"dtype": "F32", "shape": [NaN], "data_offsets": [0, 8]}}',
}


@pytest.mark.parametrize("which", BAD_HEADERS)
def test_headers_that_do_not_hold_are_refused(tmp_path: Path, which: str) -> None:
    path = header_file(tmp_path / "bad.safetensors", BAD_HEADERS[which])
    with pytest.raises(ModelFileError, match=r"bad\.safetensors"):
        SafetensorsFile.open(path)


@pytest.mark.parametrize("length", [0, 3, 1 << 20, 1 << 40, (1 << 64) - 1])
def test_header_lengths_that_do_not_hold_are_refused(tmp_path: Path, length: int) -> None:
    path = header_file(tmp_path / "bad.safetensors", one(), length=length)
    with pytest.raises(ModelFileError, match=r"bad\.safetensors"):
        SafetensorsFile.open(path)


def test_a_sound_small_file_and_the_public_library_agree(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = {
        "a": torch.arange(6.0).view(2, 3),
        "b": torch.tensor([7], dtype=torch.int64),
        "c": torch.ones(3).bfloat16(),
    }
    path = tmp_path / "small.safetensors"
    save_file(tensors, path, metadata={"format": "pt"})
    file = SafetensorsFile.open(path)
    for name, tensor in load_file(path).items():
        item = file.tensors[name]
        assert item.shape == tuple(tensor.shape)
        assert bytes(file.data(item)) == tensor.view(-1).view(torch.uint8).numpy().tobytes()
    view = file.data(file.tensors["a"])
    file.close()
    assert len(bytes(view)) == 24


def test_index_and_files_must_agree(folder: Path, entries: Entries) -> None:
    places = split_folder(folder, entries, 2)
    first, second = sorted(set(places.values()))
    moved = next(name for name, file in places.items() if file == first)
    write_index(folder, places | {moved: second})
    assert moved in sentence_of(folder)
    write_index(folder, {name: file for name, file in places.items() if name != moved})
    assert moved in sentence_of(folder)
    write_index(folder, places | {"layers.0.extra.weight": first})
    assert f"{first} lacks tensor layers.0.extra.weight" in sentence_of(folder)
    write_index(folder, places)
    (folder / second).unlink()
    assert f"names {second}, which is missing" in sentence_of(folder)


def test_a_tensor_in_two_files_is_named(folder: Path, entries: Entries) -> None:
    places = split_folder(folder, entries, 2)
    first, second = sorted(set(places.values()))
    shared = next(name for name, file in places.items() if file == first)
    again = {name: entries[name] for name, file in places.items() if file == second or name == shared}
    (folder / second).write_bytes(safetensors_bytes(again))
    assert f"tensor {shared} is in {first} and {second}" in sentence_of(folder)


@pytest.mark.parametrize("place", ["../outside.safetensors", "/etc/passwd", "config.json", "", "a/b.safetensors", 7])
def test_an_index_cannot_lead_out_of_the_folder(folder: Path, place: Any) -> None:
    write_index(folder, {"embed.weight": place})
    assert "no safetensors file of this folder" in sentence_of(folder)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"weight_map": []}', '{"weight_map": {}}', "{" * 100_000])
def test_an_index_that_is_none_is_refused(folder: Path, text: str) -> None:
    (folder / "model.safetensors.index.json").write_text(text)
    assert "model.safetensors.index.json" in sentence_of(folder)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model_type": "llama"}, "model_type is 'llama'"),
        ({"scoring_func": "softmax"}, "scoring_func"),
        ({"norm_topk_prob": False}, "norm_topk_prob"),
        ({"hidden_size": None}, "'hidden_size'"),
        ({"hidden_size": "64"}, "hidden_size must be a whole number"),
        ({"hidden_size": 64.0}, "hidden_size must be a whole number"),
        ({"hidden_size": True}, "hidden_size must be a whole number"),
        ({"hidden_size": -1}, "hidden_size must be a whole number"),
        ({"hidden_size": 1 << 40}, "hidden_size must be a whole number"),
        ({"hidden_size": 65}, "shape"),
        ({"num_hidden_layers": 0}, "block_count"),
        ({"rope_theta": "big"}, "rope_theta must be a number"),
        ({"rope_theta": 10**400}, "rope_theta must be a number"),
        ({"rms_norm_eps": 0}, "rms_eps"),
        ({"compress_ratios": 4}, "compress_ratios must be a list"),
        ({"compress_ratios": [0, 0, "4"]}, "compress_ratios must be a list"),
        ({"compress_ratios": [0, 0]}, "compression ratios"),
        ({"rope_scaling": None}, "'rope_scaling'"),
        ({"rope_scaling": []}, "rope_scaling must be an object"),
        ({"rope_scaling": {"factor": 16}}, "rope_scaling has no field"),
        ({"eos_token_id": []}, "eos_token_id"),
        ({"eos_token_id": 512}, "eos_token_id"),
        ({"bos_token_id": "0"}, "bos_token_id"),
        ({"n_shared_experts": 2}, "n_shared_experts"),
    ],
)
def test_settings_that_do_not_fit_are_named(folder: Path, changes: dict[str, object], words: str) -> None:
    write_config(folder, **changes)
    assert words in sentence_of(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1, "a": 2}', '{"hidden_size": NaN}', "\x00", "[" * 100_000])
def test_a_config_that_is_no_object_is_refused(folder: Path, text: str) -> None:
    (folder / "config.json").write_text(text)
    assert "config.json" in sentence_of(folder)


def test_half_a_character_is_refused_in_every_file(sound: Path, entries: Entries, tmp_path: Path) -> None:
    """A lone surrogate is valid JSON, but no UTF-8: the tokenizer, a converted file and a message all need that."""
    first, second, pair = "\\ud800", "\\uDFFF", "\\ud83d\\ude00"

    def written(name: str, change: Callable[[str], str]) -> Path:
        folder = copy_folder(sound, tmp_path / f"{len(list(tmp_path.iterdir()))}")
        split_folder(folder, entries, 2)
        (folder / name).write_text(change((folder / name).read_text()))
        return folder

    for name in ("config.json", "tokenizer.json", "model.safetensors.index.json"):
        for text in (f'"{first}": 1', f'"x": "a{first}b"', f'"x": [{{"{second}": 2}}]'):
            said = sentence_of(written(name, lambda old, text=text: f"{{{text}, {old[1:]}"))  # type: ignore[misc]
            assert name in said and "half a character" in said
        engine.load(written(name, lambda old: f'{{"x": "{pair}", {old[1:]}'), dtype="float32")
    header = f'{{"__metadata__": {{"x": "{second}"}}}}'.encode()
    damaged = copy_folder(sound, tmp_path / "header")
    (damaged / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    assert "half a character" in sentence_of(damaged)


def change_tokenizer(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(tokenizer_document()))
    change(document)
    return document


BAD_TOKENIZERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "another model": lambda d: d["model"].update(type="Unigram"),
    "no model": lambda d: d.pop("model"),
    "no vocabulary": lambda d: d["model"].pop("vocab"),
    "an id twice": lambda d: d["model"]["vocab"].update(zz=6),
    "an id that is text": lambda d: d["model"]["vocab"].update(zz="600"),
    "an id beyond": lambda d: d["model"]["vocab"].update(zz=1 << 30),
    "an id true": lambda d: d["model"]["vocab"].update(zz=True),
    "more tokens than the model": lambda d: d["model"]["vocab"].update(zz=600),
    "added without id": lambda d: d["added_tokens"].append({"content": "x"}),
    "added no object": lambda d: d["added_tokens"].append(7),
    "added on another token": lambda d: d["added_tokens"].append({"id": 100, "content": "x", "special": True}),
    "added twice": lambda d: d["added_tokens"].append({"id": 511, "content": "<think>", "special": True}),
    "merges no list": lambda d: d["model"].update(merges={}),
    "a merge of three": lambda d: d["model"]["merges"].append(["a", "b", "c"]),
    "a merge of numbers": lambda d: d["model"]["merges"].append([1, 2]),
    "a merge with a space": lambda d: d["model"]["merges"].append(["a ", "b"]),
    "a merge of unknown tokens": lambda d: d["model"]["merges"].append("zq qz"),
    "half a character": lambda d: d["model"]["vocab"].update({"\ud800": 511}),
    "half a character added": lambda d: d["added_tokens"].append({"id": 511, "content": "\ud800", "special": True}),
    "a normaliser": lambda d: d.update(normalizer={"type": "NFC"}),
    "another cut": lambda d: d.update(pre_tokenizer={"type": "Whitespace"}),
    "no cut": lambda d: d.update(pre_tokenizer=None),
    "a prefix space": lambda d: d["pre_tokenizer"].update(add_prefix_space=True),
    "an odd sequence": lambda d: d.update(pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "Split"}]}),
    "a sequence that is none": lambda d: d.update(pre_tokenizer={"type": "Sequence", "pretokenizers": 3}),
}


@pytest.mark.parametrize("which", BAD_TOKENIZERS)
def test_tokenizers_that_do_not_fit_are_refused(folder: Path, which: str) -> None:
    (folder / "tokenizer.json").write_text(json.dumps(change_tokenizer(BAD_TOKENIZERS[which])))
    with pytest.raises(UserError) as caught:
        engine.load(folder, dtype="float32")
    assert str(folder) in str(caught.value) and "\n" not in str(caught.value)


def test_tokenizers_in_their_other_writings(folder: Path) -> None:
    """Merges as pairs, an empty normaliser, and special tokens that the vocabulary holds as well."""
    wanted = engine.load(folder, dtype="float32").tokenizer

    def change(document: dict[str, Any]) -> None:
        document["normalizer"] = {"type": "Sequence", "normalizers": []}
        document["model"]["merges"] = [merge.split(" ") for merge in document["model"]["merges"]]
        document["model"]["vocab"]["<｜User｜>"] = 2

    (folder / "tokenizer.json").write_text(json.dumps(change_tokenizer(change)))
    found = engine.load(folder, dtype="float32").tokenizer
    assert found.encode("hello, abc 42") == wanted.encode("hello, abc 42") and found.control_ids == wanted.control_ids


def test_deepseeks_own_cut_of_text_is_known(folder: Path) -> None:
    from engine.tokenizer import JOYAI_PATTERNS

    def change(document: dict[str, Any]) -> None:
        splits = [
            {"type": "Split", "pattern": {"Regex": text}, "behavior": "Isolated", "invert": False}
            for text in JOYAI_PATTERNS[:2]
        ]
        # The release writes line ends of the third pattern as such, not as escapes.
        third = JOYAI_PATTERNS[2].replace(r"\r", "\r").replace(r"\n", "\n")
        splits.append({"type": "Split", "pattern": {"Regex": third}, "behavior": "Isolated", "invert": False})
        to_bytes = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
        document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [*splits, to_bytes]}
        del document["model"]["vocab"]["ab"]  # ids that nothing names are unused tokens
        document["model"]["merges"].remove("a b")

    (folder / "tokenizer.json").write_text(json.dumps(change_tokenizer(change)))
    source = open_model(folder)
    assert source.get_str("tokenizer.ggml.pre") == "joyai-llm"
    hole = tokenizer_document()["model"]["vocab"]["ab"]  # type: ignore[index]  # the document is plain JSON
    assert source.get_strings("tokenizer.ggml.tokens")[hole] == f"[PAD{hole}]"
    assert engine.load(folder, dtype="float32").tokenizer.encode("year 12345")


def test_plain_weights_need_no_scales(tmp_path: Path) -> None:
    extra = {"layers.0.attn.wq_a.scale": entry(torch.ones(1, 1))}
    folder = write_folder(tmp_path / "odd", plain_entries() | extra)
    assert "F32 of shape" in (text := sentence_of(folder)) and "with scales" in text
