"""Attention of one new token a row over a static cache: what the teacher spends most of its time on.

Rows run scripts of their own, so a row sees only its last few hundred slots. The kernel reads those and no others, at
bounds it finds in device memory: one CUDA graph serves every slot. Without a GPU, torch's own attention does the same.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from engine.errors import UserError

try:  # comes with torch's CUDA builds for Linux
    import triton
    import triton.language as tl
except ImportError:
    triton = None

_BLOCK = 64  # slots read at once
_LEAST_QUERIES = 16  # rows of the smallest matrix product


def attend(queries: Tensor, keys: Tensor, values: Tensor, at: Tensor, first: Tensor) -> Tensor:
    """Mixed values [rows, Hkv, G, d] of queries [rows, Hkv, G, d] over keys and values [rows, Hkv, length, d].

    G query heads share a key head. A row attends to the slots from first[row] (int64 [rows]) to `at` (int64 [1]).
    """
    if queries.is_cuda:
        return attend_by_kernel(queries, keys, values, at, first)
    stop = int(at) + 1
    visible = (torch.arange(stop, device=at.device) >= first[:, None])[:, None, None, :]
    return functional.scaled_dot_product_attention(queries, keys[:, :, :stop], values[:, :, :stop], attn_mask=visible)


def attend_by_kernel(queries: Tensor, keys: Tensor, values: Tensor, at: Tensor, first: Tensor) -> Tensor:
    """The same by the Triton kernel. Raises UserError where Triton is not installed."""
    if triton is None:
        raise UserError("The teacher speaks on a GPU by a Triton kernel, and Triton is not installed; it is for Linux.")
    rows, kv_heads, group, size = queries.shape
    queries, mixed = queries.contiguous(), torch.empty(queries.shape, dtype=queries.dtype, device=queries.device)
    _attend_kernel()[(rows, kv_heads)](
        *(queries, keys, values, mixed, at, first),
        *(keys.stride(0), keys.stride(1), keys.stride(2)),
        size**-0.5 * math.log2(math.e),
        group=group,
        padded=max(_LEAST_QUERIES, triton.next_power_of_2(group)),
        size=size,
        block=_BLOCK,
    )
    return mixed


@cache
def _attend_kernel() -> Any:
    """Compiled by Triton where it is first used, since making it needs a driver."""
    return triton.jit(_attend)


def _attend(  # type: ignore[no-untyped-def]  # Triton's language: pointers, strides and constants
    queries, keys, values, mixed, at, first, row_stride, head_stride, slot_stride, scale,
    group: tl.constexpr, padded: tl.constexpr, size: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """One key head of one row: softmax(q·k) over the slots in blocks, with a running maximum and sum (base 2)."""
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    query, channel, slot = tl.arange(0, padded), tl.arange(0, size), tl.arange(0, block)
    own = ((row * tl.num_programs(1) + head) * group + query[:, None]) * size + channel[None, :]
    q = tl.load(queries + own, mask=query[:, None] < group, other=0.0)
    base = row * row_stride + head * head_stride
    begin, last = tl.load(first + row), tl.load(at)
    most = tl.full([padded], float("-inf"), tl.float32)
    total = tl.zeros([padded], tl.float32)
    out = tl.zeros([padded, size], tl.float32)
    for start in range(begin // block * block, last + 1, block):
        slots = start + slot
        seen = (slots >= begin) & (slots <= last)
        where = base + slots[:, None] * slot_stride + channel[None, :]
        k = tl.load(keys + where, mask=seen[:, None], other=0.0)
        v = tl.load(values + where, mask=seen[:, None], other=0.0)
        scores = tl.where(seen[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
        higher = tl.maximum(most, tl.max(scores, 1))
        kept, shares = tl.exp2(most - higher), tl.exp2(scores - higher[:, None])
        out = out * kept[:, None] + tl.dot(shares.to(v.dtype), v)
        total, most = total * kept + tl.sum(shares, 1), higher
    tl.store(mixed + own, (out / total[:, None]).to(q.dtype), mask=query[:, None] < group)
