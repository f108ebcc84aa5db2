"""How torch tensors are handed to the C interface: checks, and the argument records of the headers, field by field.

Used by kernels/cpu/native.py on the calling thread. A tensor that a kernel could not read safely is refused here with
a ValueError that names it; the C side trusts what passes. Every field of a record is eight bytes wide.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import torch

FORMATS = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}  # enum Format of simd.h
FLOATS = (torch.float32,)
ACTIVATIONS = (torch.float32, torch.bfloat16)
ROWS = (torch.float32, torch.float16)

Record = type[ctypes.Structure]


def record(name: str, fields: str) -> Record:
    """A ctypes structure from a text of `pointer:`, `integer:` and `real:` groups, in the header's order."""
    kinds = {"pointer": ctypes.c_void_p, "integer": ctypes.c_int64, "real": ctypes.c_double}
    members: list[tuple[str, Any]] = []
    for group in fields.split(";"):
        kind, _, names = group.partition(":")
        members += [(field, kinds[kind.strip()]) for field in names.split()]
    return type(name, (ctypes.Structure,), {"_fields_": members})


HbAttend = record(
    "HbAttend",
    "pointer: q; integer: q_format; pointer: cosine sine sinks raw compressed; integer: row_format;"
    "pointer: ids id_counts; integer: id_stride; pointer: out; integer: out_format;"
    "integer: tokens heads width pairs start prior window ratio compressed_rows; real: eps",
)

HbMix = record(
    "HbMix",
    "pointer: streams y; integer: y_format; pointer: y_post y_comb fn scale base norm x; integer: x_format;"
    "pointer: post comb; integer: tokens width iterations; real: rms_eps hc_eps",
)
HbHead = record(
    "HbHead",
    "pointer: streams fn scale base norm x; integer: x_format tokens width; real: rms_eps hc_eps",
)

HbSelect = record(
    "HbSelect",
    "pointer: q w rows; integer: row_format; pointer: ids counts;integer: tokens heads width row_count start ratio top",
)


def check(name: str, tensor: torch.Tensor, dtypes: Sequence[torch.dtype], shape: Sequence[int | None]) -> None:
    """Raise ValueError unless `tensor` is contiguous, on the CPU, one of `dtypes` and of `shape` (None: any size)."""
    if tensor.device.type != "cpu":
        raise ValueError(f"{name} is on {tensor.device}, the CPU kernels need it on the CPU")
    if tensor.dtype not in dtypes:
        raise ValueError(f"{name} has type {tensor.dtype}, expected {' or '.join(map(str, dtypes))}")
    same = len(tensor.shape) == len(shape) and all(
        want in (None, have) for have, want in zip(tensor.shape, shape, strict=True)
    )
    if not same:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} has shape {list(tensor.shape)}, expected [{wanted}]")
    if not tensor.is_contiguous():
        raise ValueError(f"{name} is not contiguous")


def require(condition: bool, message: str) -> None:
    """Raise ValueError with `message` unless `condition` holds."""
    if not condition:
        raise ValueError(message)


def output(name: str, given: torch.Tensor | None, dtype: torch.dtype, shape: Sequence[int]) -> torch.Tensor:
    """The tensor to write: `given` once it has passed the check against `shape`, or a new one of `dtype`."""
    if given is None:
        return torch.empty(tuple(shape), dtype=dtype)
    check(name, given, (dtype,), shape)
    return given


def pointer(tensor: torch.Tensor | None) -> int | None:
    """The address of a checked tensor's first element; None stays null."""
    return None if tensor is None else tensor.data_ptr()
