"""Whole-token decode against transformers on the tiny seeded model (tests/data/oracle): logits, rows, greedy text."""

import json
from functools import cache
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from kernels.cpu.decode_weights import RowRounding
from tests.kernels.cpu.decode_models import DecodeCase, build
from tests.kernels.cpu.decode_random import Shape
from tests.kernels.cpu.test_decode import open_session

DATA = Path(__file__).parents[2] / "data" / "oracle"
CASES = (1, 5, 127, 128, 129, 300, 700)


@cache
def oracle_model() -> DecodeCase:
    c = json.loads((DATA / "config.json").read_text())
    shape = Shape(
        ratios=tuple(c["compress_ratios"]),
        hash_layers=c["num_hash_layers"],
        vocab=c["vocab_size"],
        hidden=c["hidden_size"],
        heads=c["num_attention_heads"],
        head_dim=c["head_dim"],
        rope_dim=c["qk_rope_head_dim"],
        q_rank=c["q_lora_rank"],
        groups=c["o_groups"],
        out_rank=c["o_lora_rank"],
        window=c["sliding_window"],
        index_heads=c["index_n_heads"],
        index_dim=c["index_head_dim"],
        top_k=c["index_topk"],
        experts=c["n_routed_experts"],
        used=c["num_experts_per_tok"],
        inner=c["moe_intermediate_size"],
        shared=c["moe_intermediate_size"] * c["n_shared_experts"],
        limit=c["swiglu_limit"],
        expert_scale=c["routed_scaling_factor"],
        iterations=c["hc_sinkhorn_iters"],
        eps=c["rms_norm_eps"],
    )
    return build(shape, load_file(DATA / "weights.safetensors"))


@pytest.mark.parametrize("tokens", CASES)
def test_prompt_and_greedy_continuation_are_the_oracles(kernel_folder: Path, variant: str, tokens: int) -> None:
    case = load_file(DATA / f"case_{tokens}.safetensors")
    session, state = open_session(kernel_folder, variant, 1, oracle_model(), RowRounding.NONE, context=tokens + 16)
    logits = [session.run(token, position) for position, token in enumerate(case["input_ids"].tolist())]
    last = case["logits_last8"]
    torch.testing.assert_close(torch.stack(logits[-len(last) :]), last, rtol=0, atol=1e-4)
    assert [int(row.argmax()) for row in logits] == case["argmax_all"].tolist()
    for index, layer in enumerate(state):
        for name, rows in (("comp_rows", layer.rows), ("index_rows_no_hadamard", layer.index_rows)):
            expected = case.get(f"{name}.{index}")
            if expected is not None and rows is not None:
                torch.testing.assert_close(rows[: len(expected)], expected, rtol=0, atol=1e-4)
    found, row = [], logits[-1]
    for step, expected in enumerate(case["greedy_logits"]):
        torch.testing.assert_close(row, expected, rtol=0, atol=1e-4)
        found.append(int(row.argmax()))
        row = session.run(found[-1], tokens + step)
    assert found == case["greedy_ids"].tolist()
