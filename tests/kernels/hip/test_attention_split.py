"""Decode attention in splits, in both matrix layouts, against float64: what the host cannot know must not matter."""

from dataclasses import replace

import pytest
import torch

from kernels.errors import KernelArgumentError
from kernels.launch import Launcher
from kernels.ops.attention import AttentionRows, HeadShape, Plan, attend_split, split_form, split_work_shape
from tests.kernels.hip.attention_reference import Case, random_case, reference
from tests.kernels.hip.emulated import GuardedBuffers, nmse, replay

FLASH = HeadShape(heads=64, width=512, rotary=64)
SMALL = HeadShape(heads=16, width=64, rotary=16)


def decode_case(
    random: torch.Generator,
    buffers: GuardedBuffers,
    shape: HeadShape,
    position: int,
    ratio: int = 0,
    top_k: int | None = None,
    room: int = 90,
) -> Case:
    """A token on a ring, with poison in ring slots and in `room` compressed rows that do not exist yet."""
    case = random_case(random, buffers, shape, position, 1, ratio, top_k)
    ring = buffers.new(shape.window, shape.width, dtype=torch.float16)
    last = case.rows.raw[-shape.window :]
    ring[torch.arange(position + 1 - last.shape[0], position + 1) % shape.window] = last
    stored = case.rows.compressed.shape[0]
    compressed = buffers.new(stored + room if ratio else 0, shape.width, dtype=torch.float16)
    compressed[:stored] = case.rows.compressed
    rows = replace(case.rows, raw=ring, compressed=compressed, is_ring=True, selected_from=0)
    return replace(case, rows=rows)


def run_case(launcher: Launcher, buffers: GuardedBuffers, case: Case) -> torch.Tensor:
    form = split_form(case.shape, launcher.device.target)
    out, work = buffers.new(*case.q.shape), buffers.new(*split_work_shape(form, case.rows))
    attend_split(launcher, form, case.q, case.rows, case.form, out, case.start, work)
    return out


@pytest.mark.parametrize(
    ("position", "ratio", "top_k"),
    [
        (0, 0, None),
        (31, 0, None),
        (32, 0, None),
        (127, 0, None),
        (1001, 0, None),
        (0, 4, None),
        (2, 4, None),
        (300, 4, None),
        (5000, 4, None),
        (126, 128, None),
        (500, 128, None),
        (700, 4, 24),
        (2300, 4, 512),
    ],
)
def test_one_token_matches_float64(
    matrix_launcher: Launcher,
    buffers: GuardedBuffers,
    random: torch.Generator,
    position: int,
    ratio: int,
    top_k: int | None,
) -> None:
    case = decode_case(random, buffers, SMALL, position, ratio, top_k)
    found = replay(matrix_launcher, lambda: run_case(matrix_launcher, buffers, case))
    assert nmse(found, reference(case)) <= 1e-6


@pytest.mark.parametrize("heads", (4, 20))
def test_heads_need_not_fill_the_last_tile(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, heads: int
) -> None:
    case = decode_case(random, buffers, HeadShape(heads, 64, 16), 300, 4, 24)
    found = replay(matrix_launcher, lambda: run_case(matrix_launcher, buffers, case))
    assert nmse(found, reference(case)) <= 1e-6


@pytest.mark.parametrize(("position", "ratio", "top_k"), [(3, 0, None), (170, 4, None), (150, 4, 7)])
def test_flash_heads_match_float64(
    matrix_launcher: Launcher,
    buffers: GuardedBuffers,
    random: torch.Generator,
    position: int,
    ratio: int,
    top_k: int | None,
) -> None:
    case = decode_case(random, buffers, FLASH, position, ratio, top_k)
    assert nmse(run_case(matrix_launcher, buffers, case), reference(case)) <= 1e-6


def test_a_list_of_no_rows_leaves_the_window(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    case = decode_case(random, buffers, SMALL, 200, 4, 8)
    window = run_case(matrix_launcher, buffers, replace(case, rows=_window_only(case.rows)))
    assert case.rows.counts is not None
    case.rows.counts.zero_()
    assert torch.equal(run_case(matrix_launcher, buffers, case), window)


def test_room_for_more_rows_changes_no_bit(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    case = decode_case(random, buffers, SMALL, 421, 4)
    found = run_case(matrix_launcher, buffers, case)
    exact = replace(case, rows=replace(case.rows, compressed=case.rows.compressed[: 422 // 4]))
    assert torch.equal(run_case(matrix_launcher, buffers, exact), found)


def test_a_launch_follows_the_position_on_the_device(
    matrix_launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    """As in a replayed graph: the same host arguments and work buffer, first at a later position, then an earlier."""
    later = decode_case(random, buffers, SMALL, 300, 4, room=8)
    earlier = replace(later, position=90)
    form = split_form(SMALL, matrix_launcher.device.target)
    start, work = later.start, buffers.new(*split_work_shape(form, later.rows))
    for case in (later, earlier, later):
        start.fill_(case.position)
        out = buffers.new(*case.q.shape)
        rows, rotation = later.rows, later.form
        rows.raw.copy_(torch.randn(rows.raw.shape, generator=random))
        attend_split(matrix_launcher, form, case.q, rows, rotation, out, start, work)
        assert nmse(out, reference(case)) <= 1e-6


def test_the_answer_may_replace_the_query(launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator) -> None:
    case = decode_case(random, buffers, SMALL, 300, 4)
    wanted = run_case(launcher, buffers, case)
    form = split_form(SMALL, launcher.device.target)
    work = buffers.new(*split_work_shape(form, case.rows))
    attend_split(launcher, form, case.q, case.rows, case.form, case.q, case.start, work)
    assert torch.equal(case.q, wanted)


def test_wrong_extents_are_refused(launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator) -> None:
    case = decode_case(random, buffers, SMALL, 300, 4)
    form = split_form(SMALL, launcher.device.target)
    splits, heads, columns = split_work_shape(form, case.rows)

    def run(rows: AttentionRows, work: torch.Tensor) -> None:
        attend_split(launcher, form, case.q, rows, case.form, torch.empty_like(case.q), case.start, work)

    with pytest.raises(KernelArgumentError, match="work"):
        run(case.rows, torch.empty(splits - 1, heads, columns))
    work = torch.empty(splits, heads, columns)
    with pytest.raises(KernelArgumentError, match="ring"):
        run(replace(case.rows, is_ring=False), work)
    with pytest.raises(KernelArgumentError, match="id list"):
        run(replace(case.rows, plan=Plan.INDEXED), work)
    with pytest.raises(KernelArgumentError, match="ratio"):
        run(replace(case.rows, plan=Plan.WINDOW), work)


def _window_only(rows: AttentionRows) -> AttentionRows:
    return replace(rows, plan=Plan.WINDOW, ratio=0, ids=None, counts=None)
