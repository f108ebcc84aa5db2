"""A weight matrix as layers see it: something a backend multiplies with, of which they know the shape alone.

The CPU holds decoded tensors; a GPU keeps the file's own blocks. Only backends look inside.
"""

from typing import Protocol

import torch


class Matrix(Protocol):
    """Rows are outputs: [out, in], or [experts, out, in]. A torch.Tensor is one."""

    @property
    def shape(self) -> torch.Size: ...


def decoded(matrix: Matrix) -> torch.Tensor:
    """The tensor that a backend with decoded weights placed here. Raises TypeError for another backend's form."""
    if not isinstance(matrix, torch.Tensor):
        raise TypeError(f"{type(matrix).__name__} is not decoded: it belongs to another backend")
    return matrix
