"""Processes that train together: what each has is averaged, and the leader's word holds."""

import sys
from pathlib import Path

import torch

RECIPE = Path(__file__).resolve().parents[3] / "packaging" / "model"


def member(rank: int, meeting: Path) -> None:
    """In a process of its own; what is wrong there fails the spawn."""
    sys.path.insert(0, str(RECIPE))
    from recipe import team

    joined = team.join(rank, 2, meeting, torch.device("cpu"))
    assert joined.is_leader == (rank == 0)
    assert joined.share(torch.arange(6)).tolist() == [rank, rank + 2, rank + 4]
    tensors = [torch.full((3, 5), float(rank)), torch.tensor(float(10 * rank))]
    joined.average(tensors)
    assert torch.equal(tensors[0], torch.full((3, 5), 0.5)) and float(tensors[1]) == 5.0
    assert joined.agree(float(rank) + 7.25) == 7.25
    team.leave(joined)


def test_members_average_and_agree(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(member, (tmp_path / "meeting",), nprocs=2)
