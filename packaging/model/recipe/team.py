"""Processes that train one student together, one a device, on one machine: each takes a share of every batch.

All of them make the same step, from the mean of their gradients. Alone, nothing is sent.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, distributed


@dataclass(frozen=True, slots=True)
class Team:
    """The member `rank` of `size`."""

    rank: int
    size: int

    @property
    def is_leader(self) -> bool:
        """The leader writes files and measures."""
        return self.rank == 0

    def share(self, rows: Tensor) -> Tensor:
        """This member's part of a batch's rows [n · size, ...]."""
        return rows[self.rank :: self.size]

    def average(self, tensors: Sequence[Tensor]) -> None:
        """Set every tensor (float32, one device, same sizes for all members) to its mean over the members."""
        if self.size == 1:
            return
        flat = torch.cat([tensor.flatten() for tensor in tensors])
        distributed.all_reduce(flat)
        flat /= self.size
        for tensor, mean in zip(tensors, flat.split([tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(mean.view_as(tensor))

    def agree(self, value: float) -> float:
        """The leader's value. It goes over the processor, so no device is waited for."""
        if self.size == 1:
            return value
        told = torch.tensor([value], dtype=torch.float64)
        distributed.broadcast(told, src=0)
        return float(told)


ALONE = Team(0, 1)


def join(rank: int, size: int, meeting: Path, device: torch.device) -> Team:
    """Meet the other members through the file `meeting`, which the first to come makes; returns when all are there."""
    for library in ("GLOO", "NCCL"):
        os.environ.setdefault(f"{library}_SOCKET_IFNAME", "lo")
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    if device.type == "cuda":
        torch.cuda.set_device(device)
    distributed.init_process_group(backend, init_method=f"file://{meeting}", rank=rank, world_size=size)
    return Team(rank, size)


def leave(team: Team) -> None:
    """End the meeting; a member that was alone never joined one."""
    if team.size > 1:
        distributed.destroy_process_group()
