"""Matrix-vector products from stored blocks, per codec: against the dequantised matrix in float64, and bit by bit."""

import ctypes
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch

from engine.quant.codecs import decode
from kernels.cpu.decode import matrix_record
from kernels.cpu.decode_weights import Codec, Matrix
from kernels.cpu.library import Library
from tests.kernels.cpu.conftest import open_kernels
from tests.kernels.cpu.decode_models import stored

CODECS = list(Codec)
ROCMFP = (Codec.ROCMFP4, Codec.ROCMFP4_FAST)
POISON = -12345.0


@pytest.fixture(scope="module")
def library(kernel_folder: Path, variant: str) -> Library:
    return open_kernels(kernel_folder, variant, 1).library


def multiply(library: Library, matrix: Matrix, x: torch.Tensor) -> torch.Tensor:
    """y = W x through the kernel; fails if the kernel writes beside y."""
    y = torch.full((matrix.rows + 32,), POISON)
    call = library.function("hb_matvec", [ctypes.c_void_p] * 4, ctypes.c_int64)
    record = matrix_record(matrix)
    assert call(library.pool, ctypes.addressof(record), x.data_ptr(), y[16:].data_ptr()) == 1
    assert bool((y[:16] == POISON).all())
    assert bool((y[16 + matrix.rows :] == POISON).all())
    return y[16 : 16 + matrix.rows]


def unpack(library: Library, matrix: Matrix, row: int) -> torch.Tensor | None:
    out = torch.full((matrix.cols + 16,), POISON)
    call = library.function("hb_unpack_row", [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p], ctypes.c_int64)
    record = matrix_record(matrix)
    if not call(ctypes.addressof(record), row, out.data_ptr()):
        return None
    assert bool((out[matrix.cols :] == POISON).all())
    return out[: matrix.cols]


def random_matrix(codec: Codec, rows: int, cols: int, seed: int = 0) -> tuple[Matrix, torch.Tensor]:
    return stored(torch.randn(rows, cols, generator=torch.Generator().manual_seed(seed)), codec)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(("rows", "cols"), [(1, 32), (3, 64), (4, 96), (5, 384), (17, 192), (64, 1024), (130, 4096)])
def test_product_is_that_of_the_dequantised_matrix(library: Library, codec: Codec, rows: int, cols: int) -> None:
    matrix, values = random_matrix(codec, rows, cols)
    x = torch.randn(cols, generator=torch.Generator().manual_seed(1))
    exact = values.double() @ x.double()
    bound = 1e-6 * (values.double().abs() @ x.double().abs())  # some ten roundings of float32
    assert bool(((multiply(library, matrix, x).double() - exact).abs() <= bound).all())


@pytest.mark.parametrize("codec", [Codec.F32, Codec.F16, Codec.BF16])
def test_dense_rows_need_only_whole_groups_of_sixteen(library: Library, codec: Codec) -> None:
    matrix, values = random_matrix(codec, 7, 48)
    x = torch.randn(48)
    torch.testing.assert_close(multiply(library, matrix, x), values @ x, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("codec", CODECS)
def test_a_row_does_not_depend_on_its_neighbours_or_on_threads(
    kernel_folder: Path, variant: str, library: Library, codec: Codec
) -> None:
    matrix, _ = random_matrix(codec, 37, 256)
    x = torch.randn(256, generator=torch.Generator().manual_seed(2))
    whole = multiply(library, matrix, x)
    for threads in (2, 3, 8):
        assert torch.equal(multiply(open_kernels(kernel_folder, variant, threads).library, matrix, x), whole)
    assert isinstance(matrix.data, torch.Tensor)
    table = matrix.data.reshape(37, -1)
    for first, last in ((0, 1), (1, 4), (5, 37), (36, 37)):
        part = Matrix(table[first:last].contiguous(), last - first, 256, codec)
        assert torch.equal(multiply(library, part, x), whole[first:last])


def every_block(codec: Codec) -> np.ndarray:
    """Random block bytes [rows, bytes] that meet every scale: all scale bytes, all finite float16 values."""
    random = np.random.default_rng(3)
    if codec in ROCMFP:
        blocks = random.integers(0, 256, (256, 18 if codec is Codec.ROCMFP4 else 17), dtype=np.uint8)
        blocks[:, 16] = np.arange(256)
        blocks[:, -1] = np.arange(256) if codec is Codec.ROCMFP4_FAST else np.arange(256)[::-1]
        return blocks
    if codec is Codec.MXFP4:
        blocks = random.integers(0, 256, (256, 17), dtype=np.uint8)
        blocks[:, 0] = np.arange(256)
        return blocks
    scales = np.arange(65536, dtype=np.uint16)
    scales = scales[np.isfinite(scales.view(np.float16))][::7].copy()
    blocks = random.integers(0, 256, (len(scales), 34), dtype=np.uint8)
    blocks[:, :2] = scales.view(np.uint8).reshape(-1, 2)
    return blocks


def values_of(codec: Codec, blocks: np.ndarray) -> torch.Tensor:
    """By the public library where it knows the format, else by the engine's decoder in torch."""
    if codec in ROCMFP:
        return decode(codec, torch.from_numpy(blocks).flatten(), (len(blocks), 32))
    with np.errstate(over="ignore"):  # the largest exponents overflow there as they do here
        return torch.from_numpy(gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType[codec.name]))


@pytest.mark.parametrize("codec", [Codec.Q8_0, Codec.MXFP4, *ROCMFP])
def test_every_scale_is_unpacked_exactly(library: Library, codec: Codec) -> None:
    blocks = every_block(codec)
    expected = values_of(codec, blocks)
    matrix = Matrix(blocks, len(blocks), 32, codec)
    for row in range(0, len(blocks), 37 if codec is Codec.Q8_0 else 1):
        found = unpack(library, matrix, row)
        assert found is not None
        assert torch.equal(found, expected[row]), f"block {row}"


@pytest.mark.parametrize("codec", CODECS)
def test_a_row_out_of_range_or_a_matrix_without_its_bytes_is_refused(library: Library, codec: Codec) -> None:
    matrix, values = random_matrix(codec, 3, 64)
    last = unpack(library, matrix, 2)
    assert last is not None
    assert torch.equal(last, values[2])
    assert unpack(library, matrix, 3) is None
    assert unpack(library, matrix, -1) is None
    assert unpack(library, Matrix(matrix.data, 4, 64, codec), 0) is None
    assert unpack(library, Matrix(matrix.data, 1, 8, codec), 0) is None
