"""The tiny oracle model on the GPU of this machine: python3 -m pytest -m gpu tests/gpu/test_tiny.py

Every length of the oracle, prompt and sixteen decoded tokens. Rows and products are in F16, the oracle's in float32, so
the bounds are those of tests/gpu/test_models.py. Skipped, with the reason, where there is no GPU.
"""

import statistics

import pytest
import torch

import engine
from engine.backends import NoGpu, gpu_backend
from engine.config import ModelConfig
from engine.loading import Model
from engine.model_source import open_model
from tests.gpu.test_models import MOST_DIVERGENCE, MOST_MEAN_DIVERGENCE, TIE, divergence, forced

tiny = pytest.importorskip("tests.support.tiny_model", reason="the tiny model is written by the gguf package")

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def tiny_on_gpu(tmp_path_factory: pytest.TempPathFactory) -> Model:
    path = tiny.write_tiny_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf")
    found = gpu_backend(ModelConfig.from_gguf(open_model(path)))
    if isinstance(found, NoGpu):
        pytest.skip(found.reason)
    return engine.load(path, backend="gpu")


@pytest.mark.parametrize("tokens", tiny.CASES)
def test_the_tiny_model_gives_the_oracles_answers(tiny_on_gpu: Model, tokens: int) -> None:
    """Greedy ids may differ only where the oracle's two best are closer than a tie."""
    case = tiny.oracle_case(tokens)
    wanted, expected = case["greedy_logits"], case["greedy_ids"]
    logits = forced(tiny_on_gpu, case["input_ids"].tolist(), expected.tolist())
    found = [divergence(ours, theirs) for ours, theirs in zip(logits, wanted, strict=True)]
    mean, median = sum(found) / len(found), statistics.median(found)
    same = int((logits.argmax(dim=1) == expected).sum())
    print(f"{tokens}: KL {mean:.2e}, median {median:.2e}, at most {max(found):.2e}; {same} of {len(expected)} ids")
    assert mean <= MOST_MEAN_DIVERGENCE
    assert median <= MOST_DIVERGENCE
    best = wanted.topk(2, dim=1).values
    decided = best[:, 0] - best[:, 1] >= TIE
    assert torch.equal(logits.argmax(dim=1)[decided], expected[decided])
    assert int(decided.sum()) > len(expected) // 2
