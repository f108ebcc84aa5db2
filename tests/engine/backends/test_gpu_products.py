"""The trial of the torch library: it multiplies only where it is right, keeps rows' bits, and refuses nothing."""

from collections.abc import Callable

import pytest
import torch

from engine.backends import gpu_products
from engine.backends.gpu_products import PIECE_ROWS, library_is_usable

CPU = torch.device("cpu")
Product = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], None]
exact: Product = gpu_products._into


def in_f16(x: torch.Tensor, weights: torch.Tensor, out: torch.Tensor) -> None:
    exact(x, weights, out)
    out.copy_(out.half())


def one_wrong(x: torch.Tensor, weights: torch.Tensor, out: torch.Tensor) -> None:
    """A value in each row, by a hundredth of the largest."""
    exact(x, weights, out)
    out[..., 7] += 1


def last_piece_missing(x: torch.Tensor, weights: torch.Tensor, out: torch.Tensor) -> None:
    exact(x[..., :-32], weights[..., :-32, :], out)


def nothing(x: torch.Tensor, weights: torch.Tensor, out: torch.Tensor) -> None:
    out.zero_()


def not_numbers(x: torch.Tensor, weights: torch.Tensor, out: torch.Tensor) -> None:
    out.fill_(torch.nan)


def by_place(x: torch.Tensor, weights: torch.Tensor, out: torch.Tensor) -> None:
    """Rows in the second half of a piece are added up the other way round."""
    exact(x, weights, out)
    half = PIECE_ROWS // 2
    out[..., half:, :] = torch.matmul(x[..., half:, :].double(), weights.double()).float()


def refuse(x: torch.Tensor, weights: torch.Tensor, out: torch.Tensor) -> None:
    raise RuntimeError("HIPBLAS_STATUS_NOT_SUPPORTED")


def only(dimensions: int, wrong: Product) -> Product:
    """Wrong in the products of a piece (2) or of its groups (3) alone."""

    def product(x: torch.Tensor, weights: torch.Tensor, out: torch.Tensor) -> None:
        (wrong if x.dim() == dimensions else exact)(x, weights, out)

    return product


@pytest.mark.parametrize("right", [exact, in_f16])
def test_a_library_that_is_right_is_used(monkeypatch: pytest.MonkeyPatch, right: Product) -> None:
    monkeypatch.setattr(gpu_products, "_into", right)
    assert library_is_usable(CPU)


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("wrong", [one_wrong, last_piece_missing, nothing, not_numbers, by_place, refuse])
def test_a_library_that_is_wrong_in_either_product_is_not_used(
    monkeypatch: pytest.MonkeyPatch, wrong: Product, dimensions: int
) -> None:
    monkeypatch.setattr(gpu_products, "_into", only(dimensions, wrong))
    assert not library_is_usable(CPU)


def test_a_library_that_has_no_random_numbers_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object, **__: object) -> None:
        raise RuntimeError("HIP error: invalid device function")

    monkeypatch.setattr(torch, "randn", refuses)
    assert not library_is_usable(CPU)
