"""Extent checks shared by the ops: what a kernel reads or writes must lie inside the tensors it was given."""

import torch

from kernels.errors import KernelArgumentError


def require(condition: bool, message: str) -> None:
    """Raises KernelArgumentError with `message` unless `condition` holds."""
    if not condition:
        raise KernelArgumentError(message)


def require_shape(name: str, tensor: torch.Tensor, *shape: int | None) -> None:
    """The tensor has this shape; None accepts any extent."""
    fits = tensor.dim() == len(shape) and all(
        want is None or have == want for have, want in zip(tensor.shape, shape, strict=True)
    )
    require(
        fits, f"{name} has shape {list(tensor.shape)}, the kernel wants {['any' if s is None else s for s in shape]}"
    )


def require_rows(name: str, tensor: torch.Tensor, rows: int, *row_shape: int) -> None:
    """The tensor holds at least `rows` rows of this shape."""
    fits = tensor.dim() == 1 + len(row_shape) and tuple(tensor.shape[1:]) == row_shape and tensor.shape[0] >= rows
    require(fits, f"{name} has shape {list(tensor.shape)}, the kernel wants at least {[rows, *row_shape]}")
