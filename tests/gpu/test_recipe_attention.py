"""The recipe's Triton kernel for the teacher's decode attention agrees with torch's, on the GPU of this machine."""

import sys
from pathlib import Path

import pytest
import torch

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")]


def test_the_kernel_agrees_with_torchs_attention() -> None:
    """At the teacher's sizes, rows beginning anywhere; a graph replayed at another slot reads other bounds."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "packaging" / "model"))
    from recipe.teacher_attention import attend

    generator, rows, length = torch.Generator().manual_seed(0), 96, 640
    queries = torch.randn(rows, 3, 3, 64, generator=generator).bfloat16()
    keys, values = torch.randn(2, rows, 3, length, 64, generator=generator).bfloat16()
    first = torch.randint(0, 200, (rows,), generator=generator)
    at = torch.tensor([200])
    on_gpu = tuple(part.cuda() for part in (queries, keys, values, at, first))
    attend(*on_gpu)  # compiles
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = attend(*on_gpu)
    for slot in (200, 255, 256, 639):
        on_gpu[3].fill_(slot)
        graph.replay()
        expected = attend(queries.float(), keys.float(), values.float(), torch.tensor([slot]), first)
        torch.testing.assert_close(found.cpu().float(), expected, atol=2e-2, rtol=2e-2)
