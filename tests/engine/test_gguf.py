"""The GGUF reader: what a sound file says, and one clear sentence for every kind of unsound one."""

import re
from pathlib import Path

import pytest

from engine.convert import convert
from engine.errors import ModelFileError
from engine.gguf.reader import GgufFile
from engine.recipes import Recipes
from tests.engine.gguf_bytes import small_file

NANO = Path(__file__).parents[2] / "resources" / "models" / "ds4-nano.gguf"


@pytest.fixture
def small_path(tmp_path: Path) -> Path:
    path = tmp_path / "small.gguf"
    path.write_bytes(small_file().pack())
    return path


def test_reads_every_value_type(small_path: Path) -> None:
    with GgufFile.open(small_path) as file:
        assert file.get_str("general.architecture") == "deepseek4"
        assert file.get_int("a.u8") == 200
        assert file.get_int("a.i64") == -5
        assert file.get_float("a.f32") == 0.5
        assert file.get_float("a.u8") == 200.0
        assert file.get_bool("a.yes") is True
        assert file.get_ints("a.ints") == [1, -2, 3]
        assert file.get_floats("a.floats") == [1.5, 2.5]
        assert file.get_array("a.bools").tolist() == [True, False]
        assert file.get_strings("a.texts") == ["", "é", "abc"]
        assert file.is_array("a.nested") and not file.is_array("a.u8") and not file.is_array("absent")
        assert "a.u8" in file and "absent" not in file and len(list(file)) == 10


def test_places_tensors_in_torch_order_and_gives_their_bytes(small_path: Path) -> None:
    with GgufFile.open(small_path) as file:
        x, q, h = file.tensors.values()
        assert (x.name, x.shape, x.type_name, x.nbytes, x.elements) == ("x", (2, 4), "F32", 32, 8)
        assert (q.shape, q.type_name, q.nbytes, q.offset - x.offset) == ((2, 1, 32), "Q8_0", 68, 32)
        assert bytes(file.data(q)) == bytes(range(32, 100))
        assert bytes(file.data(h)) == bytes(range(6)) and h.offset + h.nbytes == file.file_bytes
        assert file.data(x).readonly


@pytest.mark.parametrize(
    ("getter", "key", "wanted"),
    [
        ("get_int", "a.f32", "a whole number"),
        ("get_int", "a.yes", "a whole number"),
        ("get_float", "general.architecture", "a number"),
        ("get_float", "a.yes", "a number"),
        ("get_str", "a.u8", "text"),
        ("get_bool", "a.u8", "true or false"),
        ("get_ints", "a.floats", "a list of whole numbers"),
        ("get_ints", "a.bools", "a list of whole numbers"),
        ("get_ints", "a.u8", "a list of whole numbers"),
        ("get_floats", "a.texts", "a list of finite numbers"),
        ("get_strings", "a.nested", "a list of texts"),
        ("get_array", "a.texts", "a list of numbers"),
    ],
)
def test_wrong_type_names_file_and_key(small_path: Path, getter: str, key: str, wanted: str) -> None:
    with GgufFile.open(small_path) as file:
        with pytest.raises(ModelFileError, match=re.escape(f"{small_path}: metadata key '{key}' must be {wanted}")):
            getattr(file, getter)(key)
        with pytest.raises(ModelFileError, match=f"{re.escape(str(small_path))}.*'gone'"):
            getattr(file, getter)("gone")
        assert getattr(file, getter)("gone", None) is None


def test_views_outlive_the_file(small_path: Path) -> None:
    with GgufFile.open(small_path) as file:
        view = file.data(file.tensors["h"])
    assert bytes(view) == bytes(range(6))
    file.close()  # a second close does nothing


def test_embedded_model_agrees_with_the_public_reader(tmp_path: Path) -> None:
    """In Q8_0, for the public reader does not know ROCmFP4."""
    from gguf import GGUFReader  # slow to import, needed here only

    path = tmp_path / "q8.gguf"
    convert(NANO, path, Recipes.Q8.value)
    reference = GGUFReader(path)
    with GgufFile.open(path) as file:
        assert len(file.tensors) == len(reference.tensors) == 274
        for tensor in reference.tensors:
            info = file.tensors[tensor.name]
            assert (info.offset, info.nbytes) == (tensor.data_offset, tensor.n_bytes)
            assert info.shape == tuple(int(size) for size in reversed(tensor.shape))
        for key, entry in reference.fields.items():
            if not key.startswith("GGUF."):
                value = entry.contents()
                getter = {str: file.get_str, bool: file.get_bool, int: file.get_int, float: file.get_float}
                if isinstance(value, list):
                    assert (
                        file.get_strings(key) if isinstance(value[0], str) else file.get_array(key).tolist()
                    ) == value
                else:
                    assert getter[type(value)](key) == value
