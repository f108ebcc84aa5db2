"""The student's forward is the engine's, to 1e-4, on random and on trained weights; gradients reach every weight."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from recipe.export import export
from recipe.settings import FULL, TOY
from recipe.student import Student
from recipe.student_shape import TABLE_LEAF, is_trained, tensor_shapes
from recipe.topics import TOPICS
from recipe.vocabulary import Vocabulary, train_vocabulary

import resources
from engine.gguf.types import BLOCK_TYPES
from engine.plan import Step
from engine.recipes import Recipes
from engine.tensor_source import StoredTensor
from tests.support.running import drain, network_of, timeline_of

TOKENS = 640  # five windows of raw rows, more compressed rows than the indexer selects
CPU = torch.device("cpu")


def engine_logits(path: Path, ids: torch.Tensor, selects: bool = True) -> torch.Tensor:
    network = network_of(path)
    state = timeline_of(network).state
    return network.logits(drain(network.run_step(ids, state, Step(0, len(ids)), selects=selects)))


def student_logits(student: Student, ids: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return student.logits(student.forward(ids[None]).hidden)[0]


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return train_vocabulary(TOPICS, TOY.shape.vocab)


@pytest.fixture(scope="module")
def lively() -> Student:
    """Random weights larger than a fresh student's, so that no part of the model is silent."""
    student = Student.new(TOY.shape, 1, CPU, torch.float32)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for name, tensor in student.parameters.items():
            if not name.endswith(TABLE_LEAF):
                tensor.add_(torch.randn(tensor.shape, generator=generator), alpha=0.3)
    return student


@pytest.mark.parametrize("selects", (True, False))
def test_random_weights_give_the_engines_logits(
    lively: Student, vocabulary: Vocabulary, tmp_path: Path, selects: bool
) -> None:
    path = tmp_path / "random.gguf"
    export(path, TOY.shape, lively.parameters, vocabulary, "random", exact=True)
    ids = torch.randint(7, TOY.shape.vocab, (TOKENS,), generator=torch.Generator().manual_seed(3))
    student = lively.eager()
    student.selects = selects
    torch.testing.assert_close(student_logits(student, ids), engine_logits(path, ids, selects), atol=1e-4, rtol=1e-4)


def test_the_shipped_model_gives_the_engines_logits() -> None:
    path = resources.embedded_model()
    student = Student.load(path, CPU, torch.float32)
    ids = torch.randint(7, student.config.vocab, (TOKENS,), generator=torch.Generator().manual_seed(4))
    torch.testing.assert_close(student_logits(student, ids), engine_logits(path, ids), atol=1e-4, rtol=1e-4)


def test_a_stored_student_comes_back(lively: Student, vocabulary: Vocabulary, tmp_path: Path) -> None:
    path = tmp_path / "student.gguf"
    export(path, TOY.shape, lively.parameters, vocabulary, "stored", exact=True)
    back = Student.load(path, CPU, torch.float32)
    assert replace(back.config, context_length=0) == replace(_as_float32(TOY.shape), context_length=0)
    for name, tensor in lively.parameters.items():
        torch.testing.assert_close(back.parameters[name], tensor.detach(), atol=0, rtol=0)


def _as_float32(shape: object) -> object:
    """The shape with its constants as a file's 32 bits keep them."""
    exact = {name: torch.tensor(getattr(shape, name)).item() for name in ("hc_eps", "rms_eps")}
    return replace(shape, **exact)  # type: ignore[type-var]


def test_every_weight_learns_and_the_indexer_only_from_its_own_loss(lively: Student) -> None:
    ids = torch.randint(7, TOY.shape.vocab, (1, 257), generator=torch.Generator().manual_seed(5))
    output = lively.forward(ids[:, :-1])
    assert output.index_loss > 0
    assert torch.allclose(output.loads[-1].sum(), torch.tensor(1.0))
    lively.losses(output.hidden, ids[:, 1:]).mean().backward(retain_graph=True)
    own = {name for name in lively.parameters if "indexer" in name}
    silent = {n for n, t in lively.parameters.items() if is_trained(n) and (t.grad is None or not t.grad.any())}
    assert silent == own
    for tensor in lively.parameters.values():
        tensor.grad = None
    output.index_loss.backward()
    assert {n for n, t in lively.parameters.items() if t.grad is not None and t.grad.any()} == own


def test_the_quantised_model_fits_in_36_megabytes() -> None:
    total = 0
    for name, shape in tensor_shapes(FULL.shape):
        stored = StoredTensor(name, name, shape, 26 if name.endswith(TABLE_LEAF) else 0 if len(shape) == 1 else 1, 0)
        bits = BLOCK_TYPES[stored.type_id].bytes * 8.0
        block = BLOCK_TYPES[Recipes.MIX.value.type_for(stored, bits)]
        total += block.row_bytes(shape[-1]) * (stored.elements // shape[-1])
    assert 30e6 < total < 35.4e6, "with the vocabulary's half a megabyte"
