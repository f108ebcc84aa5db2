"""The table of names: complete, one to one, as the tests' own list, and blind to names that only look alike."""

import pytest

from engine.names import (
    GLOBAL_ROWS,
    LAYER_ROWS,
    Part,
    Place,
    canonical_order,
    deepseek_name,
    family,
    is_draft,
    part_of,
    place_deepseek,
    place_gguf,
    unused_notes,
)
from tests.support.tiny_model import EXPERT_NAMES, GLOBAL_NAMES, LAYER_NAMES, tiny_tensors

LAYERS = 7


def test_every_tensor_of_a_model_is_in_the_table_once() -> None:
    names = [row.gguf for row in (*GLOBAL_ROWS, *LAYER_ROWS)]
    assert len(names) == len(set(names)) == len({row.deepseek for row in (*GLOBAL_ROWS, *LAYER_ROWS)})
    assert {family(name) for name in tiny_tensors()} == set(names)


def test_the_table_is_the_one_the_tests_were_written_from() -> None:
    assert {row.deepseek: row.gguf for row in GLOBAL_ROWS} == GLOBAL_NAMES
    experts = {f"ffn.experts.{{expert}}.{leaf}.weight": name for leaf, name in EXPERT_NAMES.items()}
    assert {row.deepseek: row.gguf for row in LAYER_ROWS} == LAYER_NAMES | experts


@pytest.mark.parametrize("name", tiny_tensors())
def test_both_families_lead_to_the_same_place(name: str) -> None:
    assert place_gguf(name, LAYERS) == Place(name)
    called = deepseek_name(name)
    if "{expert}" in called:
        assert place_deepseek(called.format(expert=15), LAYERS) == Place(name, 15)
        assert place_deepseek(called, LAYERS) is None
    else:
        assert place_deepseek(called, LAYERS) == Place(name)


@pytest.mark.parametrize(
    "name",
    [
        "blk.7.attn_norm.weight",  # after the last layer
        "blk.07.attn_norm.weight",
        "blk.-1.attn_norm.weight",
        "blk.1.token_embd.weight",
        "blk.1.attn_norm",
        "blk.1.blk.1.attn_norm.weight",
        "attn_norm.weight",
        "blk.6.nextn.eh_proj.weight",
        "mtp.0.attn_norm.weight",
        "rope_freqs.weight",
        "",
        "blk.99999999999999999999.attn_norm.weight",
    ],
)
def test_other_gguf_names_have_no_place(name: str) -> None:
    assert place_gguf(name, LAYERS) is None


@pytest.mark.parametrize(
    "name",
    [
        "model.layers.0.attn_norm.weight",
        "layers.7.attn_norm.weight",
        "layers.0.ffn.experts.01.w1.weight",
        "layers.0.ffn.experts.1.w4.weight",
        "layers.0.ffn.experts.{expert}.w1.weight",
        "layers.0.attn.wq_a.scale",
        "mtp.0.attn.wq_a.weight",
        "layers.0.embed.weight",
        "blk.0.attn_norm.weight",
    ],
)
def test_other_deepseek_names_have_no_place(name: str) -> None:
    assert place_deepseek(name, LAYERS) is None


def test_parts_follow_what_runs_in_which_type() -> None:
    assert part_of("blk.3.ffn_down_exps.weight") is Part.ROUTED
    assert part_of("output.weight") is Part.HEAD and Part.HEAD.is_matrix
    assert part_of("blk.3.attn_compressor_kv.weight") is Part.EXACT and not Part.EXACT.is_matrix
    assert part_of("blk.3.unknown.weight") is None


def test_canonical_order_goes_layer_by_layer() -> None:
    names = sorted(tiny_tensors(), key=canonical_order)
    layers = [int(name.split(".")[1]) if name.startswith("blk.") else -1 for name in names]
    assert layers == sorted(layers) and layers[0] == -1 and layers[-1] == 6


def test_what_is_left_out_is_said() -> None:
    assert unused_notes([], LAYERS) == ()
    drafts, others = unused_notes(["blk.7.attn_norm.weight", "mtp.0.norm.weight", "rope_freqs.weight"], LAYERS)
    assert "2 of the tensors, of draft heads" in drafts and "1 of the tensors, of no known name" in others
    assert is_draft("blk.2.nextn.enorm.weight", LAYERS) and is_draft("layers.7.ffn_norm.weight", LAYERS)
    assert not is_draft("blk.2.attn_norm.weight", LAYERS)
