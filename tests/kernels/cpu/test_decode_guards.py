"""What a decode program refuses: each refusal is one error with a reason, and leaves state and logits as they were."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kernels.cpu.decode import DecodeProgram
from kernels.cpu.decode_weights import Codec, DecodeLayer, DecodeModel, LayerRows, Matrix, RowRounding
from kernels.cpu.library import Library
from tests.kernels.cpu.conftest import open_kernels
from tests.kernels.cpu.decode_models import DecodeCase, build
from tests.kernels.cpu.decode_random import Shape, random_weights
from tests.kernels.cpu.decode_state import bits_of, fresh_state, guards_are_untouched, tensors_of

SHAPE = Shape(ratios=(0, 4, 128), hash_layers=1, experts=8, used=2)
CONTEXT = 40


@pytest.fixture(scope="module")
def case() -> DecodeCase:
    return build(SHAPE, random_weights(SHAPE, 2))


@pytest.fixture(scope="module")
def library(kernel_folder: Path, variant: str) -> Library:
    return open_kernels(kernel_folder, variant, 1).library


def bits(state: list[LayerRows]) -> list[bytes]:
    return [bits_of(tensor) for tensor in tensors_of(state).values()]


@pytest.mark.parametrize(
    ("token", "position", "complaint"),
    [
        (-1, 5, "token -1 is outside the vocabulary of 96"),
        (96, 5, "token 96 is outside"),
        (3, -1, "position -1 is out of range"),
        (3, 1 << 31, "position 2147483648 is out of range"),
        (3, CONTEXT + 3, "position 43 needs more compressed rows"),
        (3, 10_000, "position 10000 needs more compressed rows"),
    ],
)
def test_a_refused_token_writes_nothing(
    library: Library, case: DecodeCase, token: int, position: int, complaint: str
) -> None:
    state = fresh_state(SHAPE, CONTEXT, RowRounding.F16)
    session = DecodeProgram(library, case.model).session(state, RowRounding.F16)
    for earlier in range(5):
        session.run(earlier, earlier)
    before = bits(state)
    with pytest.raises(ValueError, match=complaint):
        session.run(token, position)
    assert bits(state) == before
    assert guards_are_untouched(state)
    session.run(3, 5)


def test_the_last_token_that_fits_is_computed_and_the_next_one_refused(library: Library, case: DecodeCase) -> None:
    state = fresh_state(SHAPE, CONTEXT, RowRounding.NONE)
    session = DecodeProgram(library, case.model).session(state, RowRounding.NONE)
    for position in range(CONTEXT + 3):  # three more open a window that has no row yet
        session.run(position % SHAPE.vocab, position)
    before = bits(state)
    with pytest.raises(ValueError, match="position 43 needs"):
        session.run(1, CONTEXT + 3)
    assert bits(state) == before
    assert guards_are_untouched(state)


@pytest.mark.parametrize("expert", [-1, 8, 1 << 20])
def test_a_table_that_names_no_expert_is_refused_before_anything_is_written(
    library: Library, case: DecodeCase, expert: int
) -> None:
    first = case.model.layers[0]
    assert first.experts.table is not None
    table = first.experts.table.clone()
    table[7, 1] = expert
    broken = replace(case.model, layers=(with_experts(first, table=table), *case.model.layers[1:]))
    state = fresh_state(SHAPE, CONTEXT, RowRounding.NONE)
    session = DecodeProgram(library, broken).session(state, RowRounding.NONE)
    session.run(6, 0)
    before = bits(state)
    with pytest.raises(RuntimeError, match=r"token-id table .* for token 7"):
        session.run(7, 1)
    assert bits(state) == before


def with_experts(layer: DecodeLayer, **changes: object) -> DecodeLayer:
    return replace(layer, experts=replace(layer.experts, **changes))  # type: ignore[arg-type]  # any field of the test


def with_attention(layer: DecodeLayer, **changes: object) -> DecodeLayer:
    return replace(layer, attention=replace(layer.attention, **changes))  # type: ignore[arg-type]  # likewise


def broken_models(model: DecodeModel) -> dict[str, DecodeModel]:
    """Models that do not fit together, by the complaint they must cause."""
    first, second, third = model.layers
    short = Matrix(torch.zeros(100, dtype=torch.uint8), first.attention.kv.rows, first.attention.kv.cols, Codec.F32)
    unknown = replace(first.attention.kv, codec=2)
    ragged = Matrix(torch.zeros(1 << 20, dtype=torch.uint8), model.output.rows, model.output.cols + 16, Codec.Q8_0)

    def layers(*changed: DecodeLayer) -> DecodeModel:
        return replace(model, layers=changed)

    return {
        "layer 0's kv has a type, size or address": layers(with_attention(first, kv=short), second, third),
        "layer 0's kv has a type, size": layers(with_attention(first, kv=unknown), second, third),
        "layer 1's kv is 32 x 64, not 64 x 64": layers(
            first, with_attention(second, kv=Matrix.dense(torch.zeros(32, 64))), third
        ),
        "the model's embedding is 96 x 64, not 96 x 80": replace(model, output=ragged),
        "layer 1's q_a norm has 5 values, not 32": layers(
            first, with_attention(second, q_a_norm=torch.zeros(5)), third
        ),
        "layer 1's compressor is 0 x 0": layers(first, with_attention(second, compressor=None), third),
        "the indexer's sizes do not fit together": layers(first, with_attention(second, indexer=None), third),
        "layer 2's router bias has 3 values": layers(first, second, with_experts(third, bias=torch.zeros(3))),
        "table has 12 entries": layers(with_experts(first, table=torch.zeros(6, 2, dtype=torch.int32)), second, third),
        "too many experts are used": replace(model, experts_used=9),
        "do not divide into the output groups": replace(model, heads=5),
        "the rotary width does not fit": replace(
            model, rotary_width=66, plain_frequencies=torch.ones(33).double(),
            compressed_frequencies=torch.ones(33).double(),
        ),
        "a model without layers": replace(model, layers=()),
    }  # fmt: skip


def test_models_that_do_not_fit_together_are_named(library: Library, case: DecodeCase) -> None:
    found = {}
    for complaint, model in broken_models(case.model).items():
        try:
            DecodeProgram(library, model)
        except ValueError as error:
            found[complaint] = str(error)
    assert {c: found.get(c, "accepted") for c in found if c not in found[c]} == {}
    assert len(found) == len(broken_models(case.model))


def test_matrices_and_states_in_the_wrong_memory_are_refused(library: Library, case: DecodeCase) -> None:
    first = case.model.layers[0]
    sideways = Matrix(torch.zeros(64, 64).T, 64, 64, Codec.F32)
    with pytest.raises(ValueError, match="contiguous"):
        DecodeProgram(library, replace(case.model, layers=(with_attention(first, kv=sideways),)))
    with pytest.raises(ValueError, match="cannot be used as it is"):
        Matrix.dense(torch.zeros(4, 4, dtype=torch.float64))
    program = DecodeProgram(library, case.model)
    good = fresh_state(SHAPE, CONTEXT, RowRounding.F16)
    with pytest.raises(ValueError, match=r"layer 0's ring has type torch\.float16"):
        program.session(good, RowRounding.NONE)
    with pytest.raises(ValueError, match="a state of 2 layers for a model of 3"):
        program.session(good[:2], RowRounding.F16)


@pytest.mark.parametrize("field", ["ring", "rows", "values", "scores", "index_rows", "index_values", "index_scores"])
def test_a_state_tensor_that_is_missing_or_of_another_shape_is_named(
    library: Library, case: DecodeCase, field: str
) -> None:
    program = DecodeProgram(library, case.model)
    whole = fresh_state(SHAPE, CONTEXT, RowRounding.NONE)
    tensor = getattr(whole[1], field)
    wrong = [tensor[:, :-16].contiguous(), tensor.flatten()]
    if field not in {"rows", "index_rows"}:
        wrong.append(tensor[:-1])
    for replacement in wrong:
        state = [whole[0], replace(whole[1], **{field: replacement}), whole[2]]
        with pytest.raises(ValueError, match=f"layer 1's {field} has shape"):
            program.session(state, RowRounding.NONE)
    if field != "ring":
        state = [whole[0], replace(whole[1], **{field: None}), whole[2]]
        with pytest.raises(ValueError, match=f"layer 1's {field} is missing"):
            program.session(state, RowRounding.NONE)
