"""The exec-mask analysis on hand-written assembly: what it must find, and what it must leave alone."""

import pytest

from kernels.exec_mask import masked_exchanges

EXCHANGE = "v_permlanex16_b32 v2, v1, s3, s4"
MATRIX = "v_wmma_f32_16x16x16_f16 v[142:149], v[1:8], v[78:85], v[65:72]"
NEIGHBOUR = "v_add_f32_dpp v2, v1, v1 row_xmask:1 row_mask:0xf bank_mask:0xf bound_ctrl:1"


def assembly(*lines: str) -> str:
    return "\n".join(line if line.endswith(":") else f"\t{line}" for line in lines)


@pytest.mark.parametrize("exchange", [EXCHANGE, MATRIX, NEIGHBOUR, "ds_bpermute_b32 v1, v12, v9"])
def test_an_exchange_sunk_under_the_mask_of_a_lane_0_store_is_found(exchange: str) -> None:
    store = ("global_store_b32 v3, v2, s[0:1]", "s_endpgm")
    saved = assembly("v_cmp_eq_u32_e32 vcc_lo, 0, v0", "s_and_saveexec_b32 s2, vcc_lo", exchange, *store)
    compared = assembly("v_cmpx_eq_u32_e32 0, v0", exchange, *store)
    assert masked_exchanges(saved) == [exchange]
    assert masked_exchanges(compared) == [exchange]
    assert masked_exchanges(assembly(exchange, "v_cmpx_eq_u32_e32 0, v0", *store)) == []


def test_writing_the_saved_mask_back_ends_the_region() -> None:
    region = ("s_mov_b32 s5, exec_lo", "v_cmpx_eq_u32_e32 0, v0", "v_mov_b32_e32 v1, 0")
    assert masked_exchanges(assembly(*region, "s_or_b32 exec_lo, exec_lo, s5", EXCHANGE)) == []
    assert masked_exchanges(assembly(*region, "s_mov_b32 exec_lo, s5", EXCHANGE)) == []
    assert masked_exchanges(assembly(*region, "s_or_b32 exec_lo, exec_lo, s6", EXCHANGE)) == [EXCHANGE]
    clobbered = ("s_add_i32 s5, s5, 1", "s_or_b32 exec_lo, exec_lo, s5")
    assert masked_exchanges(assembly(*region, *clobbered, EXCHANGE)) == [EXCHANGE]


def test_an_inner_mask_does_not_restore_the_outer_one() -> None:
    nest = ("s_mov_b32 s4, exec_lo", "v_cmpx_gt_u32_e32 3, v0", "s_mov_b32 s0, exec_lo", "v_cmpx_gt_u32_e32 2, v0")
    assert masked_exchanges(assembly(*nest, "s_or_b32 exec_lo, exec_lo, s0", MATRIX)) == [MATRIX]
    assert masked_exchanges(assembly(*nest, "s_or_b32 exec_lo, exec_lo, s4", MATRIX)) == []


def test_both_branches_of_a_lane_condition_are_masked_and_what_follows_is_not() -> None:
    code = assembly(
        "s_and_saveexec_b32 s0, vcc_lo",
        "s_xor_b32 s0, exec_lo, s0",
        NEIGHBOUR,
        "s_or_saveexec_b32 s0, s0",
        "s_xor_b32 exec_lo, exec_lo, s0",
        MATRIX,
        "s_or_b32 exec_lo, exec_lo, s0",
        EXCHANGE,
        "s_endpgm",
    )
    assert masked_exchanges(code) == [NEIGHBOUR, MATRIX]


def test_the_other_branch_in_one_instruction() -> None:
    code = assembly(
        "s_and_saveexec_b32 s0, vcc_lo",
        "s_xor_b32 s0, exec_lo, s0",
        "s_and_not1_saveexec_b32 s0, s0",
        NEIGHBOUR,
        "s_or_b32 exec_lo, exec_lo, s0",
        EXCHANGE,
    )
    assert masked_exchanges(code) == [NEIGHBOUR]


def test_a_complement_in_another_register() -> None:
    code = assembly(
        "s_and_saveexec_b32 s1, s0",
        "s_xor_b32 s0, exec_lo, s1",
        "s_and_not1_saveexec_b32 s0, s0",
        NEIGHBOUR,
        "s_or_b32 exec_lo, exec_lo, s0",
        EXCHANGE,
    )
    assert masked_exchanges(code) == [NEIGHBOUR]


def test_a_loop_whose_lanes_end_one_by_one_is_masked_inside_and_not_after() -> None:
    loop = (
        "s_mov_b32 s0, 0",
        ".LBB0_1:",
        NEIGHBOUR,
        "v_cmp_lt_u32_e32 vcc_lo, 3, v0",
        "s_or_b32 s0, vcc_lo, s0",
        "s_and_not1_b32 exec_lo, exec_lo, s0",
        "s_cbranch_execnz .LBB0_1",
        "s_or_b32 exec_lo, exec_lo, s0",
        EXCHANGE,
        "s_endpgm",
    )
    assert masked_exchanges(assembly(*loop)) == [NEIGHBOUR]


def test_blocks_out_of_order_are_followed_along_the_branches() -> None:
    """Compilers put the end of a region before its body."""
    code = assembly(
        "s_branch .LBB0_2",
        ".LBB0_1:",
        "s_or_b32 exec_lo, exec_lo, s1",
        MATRIX,
        "s_endpgm",
        ".LBB0_2:",
        "s_mov_b32 s1, exec_lo",
        "v_cmpx_gt_u32_e64 s13, v5",
        "s_cbranch_execz .LBB0_1",
        EXCHANGE,
        "s_branch .LBB0_1",
    )
    assert masked_exchanges(code) == [EXCHANGE]


def test_scalar_branches_move_whole_waves() -> None:
    code = assembly("s_cmp_eq_u32 s2, 0", "s_cbranch_scc1 .LBB0_1", EXCHANGE, ".LBB0_1:", MATRIX, "s_endpgm")
    assert masked_exchanges(code) == []
