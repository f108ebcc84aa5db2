"""Every field of a model's metadata with every edge value: refused in one sentence, or the model loads and answers.

Found by these: rotary constants that made the loader divide by zero, widths that the compiled kernels do not take, and
a number of Sinkhorn iterations that made one token take minutes.
"""

from pathlib import Path

import pytest

import engine
from engine.errors import UserError
from tests.engine.gguf_bytes import ARR, F32, F64, I32, STR, U32, U64, array, scalar
from tests.fuzz.limits import bounded
from tests.fuzz.micro_model import FLOATS, INTEGERS, micro_model

_INTEGER_VALUES = [
    *((U32, value) for value in (0, 3, 129, 1 << 20, (1 << 32) - 1)),
    *((U64, value) for value in (1 << 31, 1 << 63, (1 << 64) - 1)),
    *((I32, value) for value in (-1, -(1 << 31))),
]
_FLOAT_VALUES = [(F64, value) for value in (0.0, 1.0, -1.0, 1e-30, 5e-324, 1e308)]
_ARRAYS = [
    *(array(I32, [value] * count) for value in (0, 128, -1, 2**31 - 1) for count in (0, 3, 262)),
    *(array(F32, [value] * 3) for value in (-1.0, 3e38)),
    *(array(STR, texts) for texts in (["a"] * 262, ["a b", "b c"], ["ab"], [" "], [""])),
]


def answers_or_refuses(path: Path, key: str, kind: int, packed: bytes) -> bool:
    """True if the model with this one change loads and answers."""
    parts = micro_model()
    index = [name for name, _, _ in parts.keys].index(key)
    parts.keys[index] = (key, kind, packed)
    path.unlink(missing_ok=True)
    path.write_bytes(parts.file())
    with bounded():
        try:
            model = engine.load(path, backend="cpu", dtype="float32")
            session = model.session(context=64)
            session.decode(int(session.prefill([2, 70, 71, 72, 3]).argmax()))
        except UserError as error:
            assert str(error).strip()
            return False
    return True


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(tmp_path: Path, name: str) -> None:
    found = [
        answers_or_refuses(tmp_path / "m.gguf", f"deepseek4.{name}", kind, scalar(kind, value))
        for kind, value in _INTEGER_VALUES
    ]
    assert not all(found), "a number of 2^64 is sensible nowhere"


@pytest.mark.parametrize("name", FLOATS)
def test_floats(tmp_path: Path, name: str) -> None:
    found = [
        answers_or_refuses(tmp_path / "m.gguf", f"deepseek4.{name}", kind, scalar(kind, value))
        for kind, value in _FLOAT_VALUES
    ]
    assert any(found) and not all(found)


@pytest.mark.parametrize(
    "key",
    [
        "deepseek4.attention.compress_ratios",
        "deepseek4.swiglu_clamp_exp",
        "tokenizer.ggml.tokens",
        "tokenizer.ggml.token_type",
        "tokenizer.ggml.merges",
    ],
)
def test_arrays(tmp_path: Path, key: str) -> None:
    found = [answers_or_refuses(tmp_path / "m.gguf", key, ARR, packed) for packed in _ARRAYS]
    assert not all(found)


def test_the_sound_model_answers(tmp_path: Path) -> None:
    key = "deepseek4.block_count"
    assert answers_or_refuses(tmp_path / "m.gguf", key, U32, scalar(U32, INTEGERS["block_count"]))
