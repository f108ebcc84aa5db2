"""Muon for the hidden matrices, AdamW for everything else, with one learning rate for both.

Muon orthogonalises each matrix's momentum by a Newton-Schulz iteration; in small models it needs markedly fewer tokens
than AdamW for the same loss. The update is scaled to AdamW's usual size, so rate and decay are shared (Jordan et al.
2024, https://kellerjordan.github.io/posts/muon; scaling: Liu et al. 2025, arXiv 2502.16982). Matrices of one shape,
experts included, are updated as one batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

_MOMENTUM = 0.95
_BETAS, _EPS = (0.9, 0.95), 1e-8
_UPDATE_RMS = 0.2  # the root mean square of an AdamW update, which Muon's is scaled to
_ITERATION = (3.4445, -4.7750, 2.0315)  # coefficients of the quintic Newton-Schulz step


@dataclass(frozen=True, slots=True)
class Rates:
    """Of one step: the learning rate and the decay of matrices, per unit of rate."""

    rate: float
    decay: float


class Optimiser:
    """Moves `matrices` (at least two axes, the last two rows and columns) by Muon and `others` by AdamW, in place."""

    def __init__(self, matrices: Mapping[str, Tensor], others: Mapping[str, Tensor]) -> None:
        self._matrices, self._others = dict(matrices), dict(others)
        self._momentum = {name: torch.zeros_like(tensor) for name, tensor in matrices.items()}
        self._first = {name: torch.zeros_like(tensor) for name, tensor in others.items()}
        self._second = {name: torch.zeros_like(tensor) for name, tensor in others.items()}
        self._steps = 0

    def state(self) -> dict[str, object]:
        """Everything that a later run needs; tensors are the live ones."""
        return {"momentum": self._momentum, "first": self._first, "second": self._second, "steps": self._steps}

    def restore(self, state: Mapping[str, dict[str, Tensor]], steps: int) -> None:
        for mine, key in ((self._momentum, "momentum"), (self._first, "first"), (self._second, "second")):
            for name, tensor in mine.items():
                tensor.copy_(state[key][name])
        self._steps = steps

    @torch.no_grad()
    def step(self, rates: Rates, clip: float) -> Tensor:
        """Clip the gradients to a norm of `clip`, move every parameter, drop the gradients; returns the norm before."""
        parameters = [*self._matrices.values(), *self._others.values()]
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
        torch._foreach_mul_(gradients, (clip / (norm + 1e-6)).clamp(max=1.0))
        self._steps += 1
        self._move_matrices(rates)
        self._move_others(rates)
        for parameter in parameters:
            parameter.grad = None
        return norm

    def _move_matrices(self, rates: Rates) -> None:
        shapes: dict[tuple[int, ...], list[str]] = {}
        for name, tensor in self._matrices.items():
            if tensor.grad is not None:
                shapes.setdefault(tuple(tensor.shape[-2:]), []).append(name)
        for (rows, columns), names in shapes.items():
            for name in names:
                self._momentum[name].lerp_(self._grad(self._matrices[name]), 1 - _MOMENTUM)
            looked_ahead = [
                self._grad(self._matrices[name]).lerp(self._momentum[name], _MOMENTUM).view(-1, rows, columns)
                for name in names
            ]
            updates = orthogonalise(torch.cat(looked_ahead)) * (_UPDATE_RMS * max(rows, columns) ** 0.5)
            for name, update in zip(names, updates.split([len(part) for part in looked_ahead]), strict=True):
                tensor = self._matrices[name]
                tensor.mul_(1 - rates.rate * rates.decay).sub_(update.view_as(tensor), alpha=rates.rate)

    def _move_others(self, rates: Rates) -> None:
        first_left, second_left = 1 - _BETAS[0] ** self._steps, 1 - _BETAS[1] ** self._steps
        for name, tensor in self._others.items():
            if tensor.grad is None:
                continue
            first = self._first[name].lerp_(tensor.grad, 1 - _BETAS[0])
            second = self._second[name].lerp_(tensor.grad.square(), 1 - _BETAS[1])
            if tensor.dim() > 1:
                tensor.mul_(1 - rates.rate * rates.decay)
            tensor.addcdiv_(first / first_left, (second / second_left).sqrt() + _EPS, value=-rates.rate)

    @staticmethod
    def _grad(tensor: Tensor) -> Tensor:
        assert tensor.grad is not None
        return tensor.grad


def orthogonalise(matrices: Tensor, iterations: int = 5) -> Tensor:
    """About the nearest semi-orthogonal matrix of each of [K, rows, columns]: singular values near 1, same vectors."""
    a, b, c = _ITERATION
    is_tall = matrices.shape[1] > matrices.shape[2]
    dtype = torch.bfloat16 if matrices.device.type == "cuda" else torch.float32
    x = (matrices.mT if is_tall else matrices).to(dtype)
    x = x / (torch.linalg.vector_norm(x, dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(iterations):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x.mT if is_tall else x).float()
