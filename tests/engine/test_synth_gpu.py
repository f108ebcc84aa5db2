"""Synthetic weights made on a GPU: the bytes of the CPU, in little memory beside the result. Needs any torch GPU."""

import pytest
import torch

from engine.model_source import open_model
from engine.synth.recipes import RECIPES
from engine.synth.source import SynthSource

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU"),
]


def synthetic(address: str) -> SynthSource:
    source = open_model(address)
    assert isinstance(source, SynthSource)
    return source


@pytest.mark.parametrize("recipe", list(RECIPES))
def test_a_gpu_makes_the_same_bytes(recipe: str) -> None:
    source = synthetic(f"synth:small?ratios=0,0,4,128&recipe={recipe}")
    for name, tensor in source.tensors.items():
        out = torch.empty(tensor.nbytes, dtype=torch.uint8, device="cuda")
        source.fill(tensor, out)
        assert out.cpu().numpy().tobytes() == bytes(source.data(tensor)), name


@pytest.mark.parametrize("recipe", list(RECIPES))
def test_temporaries_stay_under_64_mib(recipe: str) -> None:
    source = synthetic(f"synth:v4-flash?layers=3&recipe={recipe}&experts=32")
    for name, tensor in source.tensors.items():
        out = torch.empty(tensor.nbytes, dtype=torch.uint8, device="cuda")
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        source.fill(tensor, out)
        assert torch.cuda.max_memory_allocated() - before < 64 << 20, name
