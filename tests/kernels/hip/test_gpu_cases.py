"""The cases of tests/gpu/run_all.py on the emulator at the embedded model's shape: each must pass its own check."""

import pytest
import torch

from kernels.launch import Launcher
from kernels.shapes import EMBEDDED
from tests.gpu import cases_attention, cases_decode, cases_rows, cases_weights
from tests.gpu.workbench import Case, Workbench, check, replays_equal


@pytest.fixture
def bench(launcher: Launcher, random: torch.Generator) -> Workbench:
    return Workbench(launcher, EMBEDDED, random, rotates=False)


def run_cases(bench: Workbench, cases: list[Case]) -> None:
    """Last case first: `--only` leaves cases out, so none may rest on what an earlier one wrote."""
    for case in reversed(cases):
        error = check(bench, case)
        assert error <= case.limit, f"{case.kernel} {case.what}: {error}"
        assert replays_equal(bench, case, 1), f"{case.kernel} {case.what}"
        assert case.nbytes > 0 or case.flops > 0


@pytest.mark.parametrize("tokens", [1, 21])
def test_cases_over_rows(bench: Workbench, tokens: int) -> None:
    run_cases(bench, list(cases_rows.row_cases(bench, tokens)))


@pytest.mark.parametrize("tokens", [1, 7])
def test_cases_of_attention(bench: Workbench, tokens: int) -> None:
    run_cases(bench, list(cases_attention.attention_cases(bench, tokens)))


def test_attention_beyond_the_selection(bench: Workbench) -> None:
    """A step that reaches tokens with more rows than they may use, as the long steps on the GPU do."""
    cases = [case for case in cases_attention.attention_cases(bench, 524) if case.what == "B, ratio 4"]
    run_cases(bench, cases)


@pytest.mark.parametrize("tokens", [1, 9, 522])
def test_cases_of_the_indexer(bench: Workbench, tokens: int) -> None:
    run_cases(bench, list(cases_attention.indexer_cases(bench, tokens)))


def test_cases_of_decode_products(bench: Workbench) -> None:
    cases = [case for case in cases_decode.decode_cases(bench) if "Q8_0" in case.what]
    assert {case.kernel for case in cases} == {"matvec", "matvec_gate_up", "matvec_down", "unpack"}
    run_cases(bench, cases)


def test_cases_of_prefill_products(bench: Workbench) -> None:
    kinds = (cases_weights.WeightFormat.MXFP4,)
    run_cases(bench, [*cases_weights.grouped_cases(bench, 9, kinds), *cases_weights.dense_cases(bench, 9)])
