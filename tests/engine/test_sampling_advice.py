"""What a model's makers advise for sampling: read from any form of a model, never trusted, and always second."""

import json
import logging
from pathlib import Path

import numpy as np
import pytest

import engine
from engine.convert import convert
from engine.gguf.cursor import Value, ValueType
from engine.gguf.metadata import Metadata
from engine.hf.generation import GENERATION, generation_keys
from engine.model_source import open_model
from engine.partial_sampling import DEFAULTS, UNSAID, PartialSampling
from engine.recipes import Recipes
from engine.sampling import Sampling, sampling_of
from engine.sampling_advice import read_advice
from tests.support.deepseek_folder import release_entries, write_folder


def metadata(**values: tuple[ValueType, Value]) -> Metadata:
    return Metadata("m.gguf", {f"general.sampling.{name}": value for name, value in values.items()})


def float32(value: float) -> tuple[ValueType, Value]:
    return ValueType.FLOAT32, float(np.float32(value))


def test_advice_is_read_as_it_was_written() -> None:
    found = read_advice(
        metadata(temp=float32(0.6), top_p=float32(0.95), top_k=(ValueType.INT32, 654_321), min_p=float32(0.05))
    )
    assert found == PartialSampling(0.6, 0.95, 654_321, 0.05)
    assert isinstance(found.top_k, int)


def test_whole_numbers_of_another_type_will_do() -> None:
    found = read_advice(metadata(temp=(ValueType.UINT32, 1), top_k=float32(20.0)))
    assert found == PartialSampling(temperature=1.0, top_k=20)


def test_where_nothing_is_said_nothing_is_advised() -> None:
    assert read_advice(metadata()) == UNSAID


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temp", float32(-0.1)),
        ("temp", float32(5.1)),
        ("temp", (ValueType.STRING, "hot")),
        ("temp", (ValueType.FLOAT32, float("nan"))),
        ("temp", (ValueType.BOOL, True)),
        ("top_p", float32(0.0)),
        ("top_p", float32(0.009)),
        ("top_p", float32(1.5)),
        ("top_k", (ValueType.INT32, -1)),
        ("top_k", float32(0.5)),
        ("top_k", (ValueType.UINT64, 1 << 40)),
        ("top_k", (ValueType.FLOAT32, float("inf"))),
        ("min_p", float32(-1.0)),
        ("min_p", (ValueType.ARRAY, np.array([0.1], np.float32))),
    ],
)
def test_senseless_advice_is_none_and_is_told_in_the_log(
    name: str, value: tuple[ValueType, Value], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert read_advice(metadata(**{name: value})) == UNSAID
    (record,) = caplog.records
    assert "m.gguf" in record.getMessage() and f"general.sampling.{name}" in record.getMessage()


def test_all_possible_advice_makes_a_sampling() -> None:
    """What read_advice lets through, Sampling must take."""
    for temperature in (0.0, 5.0):
        for top_p in (0.0101, 1.0):
            for top_k in (0, 1_000_000):
                for min_p in (0.0, 1.0):
                    values = {"temp": temperature, "top_p": top_p, "min_p": min_p}
                    stored = {name: float32(value) for name, value in values.items()}
                    advice = read_advice(metadata(**stored, top_k=(ValueType.INT32, top_k)))
                    assert None not in (advice.temperature, advice.top_p, advice.top_k, advice.min_p)
                    sampling_of(UNSAID, advice)


def test_wishes_come_first_then_advice_then_what_holds_otherwise() -> None:
    wishes, advice = PartialSampling(temperature=0.0), PartialSampling(temperature=1.0, top_p=0.5)
    assert sampling_of(wishes, advice, 7) == Sampling(temperature=0.0, top_p=0.5, seed=7)
    assert sampling_of(UNSAID, UNSAID) == Sampling() == sampling_of(DEFAULTS, advice)


def write_generation(folder: Path, values: object) -> Path:
    (folder / GENERATION).write_text(values if isinstance(values, str) else json.dumps(values))
    return folder


@pytest.mark.parametrize(
    ("values", "advice"),
    [
        ({"do_sample": True, "temperature": 0.6, "top_p": 0.95}, PartialSampling(temperature=0.6, top_p=0.95)),
        ({"temperature": 1, "top_k": 20, "min_p": 0.1}, PartialSampling(temperature=1.0, top_k=20, min_p=0.1)),
        ({"do_sample": False, "temperature": 0.6}, PartialSampling(temperature=0.0)),
        ({"temperature": "hot", "top_p": None, "top_k": 2.5, "min_p": True}, UNSAID),
        ({"temperature": 1e300, "top_k": -1}, UNSAID),
        ("{", UNSAID),
        ("[]", UNSAID),
        ("", UNSAID),
    ],
)
def test_a_folders_generation_config_is_advice(tmp_path: Path, values: object, advice: PartialSampling) -> None:
    keys = generation_keys(write_generation(tmp_path, values))
    assert read_advice(Metadata("m", keys)) == advice


def test_a_folder_without_one_advises_nothing_and_one_with_it_what_it_says(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model", release_entries()[0])
    assert read_advice(open_model(folder)) == UNSAID
    write_generation(folder, {"temperature": 1.0, "top_p": 1.0})
    advice = PartialSampling(temperature=1.0, top_p=1.0)
    assert read_advice(open_model(folder)) == advice == engine.load(folder, dtype="float32").info.advice
    converted = tmp_path / "model.gguf"
    convert(folder, converted, Recipes.Q8.value)
    assert read_advice(open_model(converted)) == advice
