"""Two GPUs train together: what the members send one another is right through NCCL too."""

import sys
from pathlib import Path

import pytest
import torch

RECIPE = Path(__file__).resolve().parents[2] / "packaging" / "model"

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")]


def member(rank: int, meeting: Path) -> None:
    """In a process of its own; what is wrong there fails the spawn."""
    sys.path.insert(0, str(RECIPE))
    from recipe import team

    device = torch.device("cuda", rank)
    joined = team.join(rank, 2, meeting, device)
    tensors = [torch.full((3, 5), float(rank), device=device), torch.tensor(float(10 * rank), device=device)]
    joined.average(tensors)
    assert torch.equal(tensors[0].cpu(), torch.full((3, 5), 0.5)) and float(tensors[1]) == 5.0
    assert joined.agree(float(rank) + 7.25) == 7.25
    team.leave(joined)


def test_members_on_two_gpus_average_and_agree(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(member, (tmp_path / "meeting",), nprocs=2)
