"""The mean of several states of one training: it predicts better than the last state alone, at no cost.

States of one run lie in one valley, and what they got by chance differs (stochastic weight averaging, Izmailov et al.
2018, arXiv 1803.05407; for a model trained further and its start, Wortsman et al. 2022, arXiv 2109.01903).
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

Parameters = Mapping[str, Tensor]


def average(states: Sequence[tuple[float, Parameters]]) -> dict[str, Tensor]:
    """The weighted mean, float32, of states with the same names; shares add up to 1. Integer tables are the first's.

    Raises ValueError where the shares do not add up, or where integer tables differ.
    """
    if abs(sum(share for share, _ in states) - 1) > 1e-6:
        raise ValueError("the shares of the states do not add up to 1")
    found = {}
    for name, first in states[0][1].items():
        if first.is_floating_point():
            found[name] = torch.stack([share * state[name].float() for share, state in states]).sum(dim=0)
            continue
        if not all(torch.equal(state[name].long(), first.long()) for _, state in states):
            raise ValueError(f"{name} differs between the states")
        found[name] = first
    return found
