"""Synthetic models: published sizes and formats, blocks that are valid in every format, the same bytes every way."""

import math
from collections.abc import Iterator

import pytest
import torch

from engine.config import ModelConfig
from engine.errors import UserError
from engine.gguf.types import AMBIGUOUS_TYPES
from engine.missing_tokenizer import tokenizer_of
from engine.model_source import open_model
from engine.names import Part, family, part_of
from engine.quant.codecs import decode
from engine.quant.infer import infer_codec
from engine.quant.rocmfp import LARGEST_SCALE_BYTE
from engine.stored_weights import StoredWeights
from engine.synth import pieces
from engine.synth.address import is_synth, parse_address
from engine.synth.recipes import RECIPES
from engine.synth.source import SynthSource
from engine.synth.values import spread_of
from engine.synth.words import WordSequence, key_of
from engine.tensor_source import GeneratesTensors, StoredTensor
from tests.support.one_thread import one_torch_thread

__all__ = ["one_torch_thread"]  # a fixture for every test here

EVERY_KIND = "ratios=0,0,4,128"  # of layer: hashed and scored experts, every kind of attention
CPU = torch.device("cpu")


def small(recipe: str, options: str = EVERY_KIND) -> SynthSource:
    source = open_model(f"synth:small?{options}&recipe={recipe}")
    assert isinstance(source, SynthSource)
    return source


@pytest.fixture(scope="module", params=list(RECIPES))
def model(request: pytest.FixtureRequest) -> SynthSource:
    return small(request.param)


def splitmix64(seed: int) -> Iterator[int]:
    """The published algorithm, in whole numbers without a width."""
    mask = (1 << 64) - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


@pytest.mark.parametrize("key", [0, 1234567, (1 << 64) - 1, key_of(0, "token_embd.weight")])
def test_words_are_splitmix64_wherever_they_begin(key: int) -> None:
    outputs = splitmix64(key)
    expected = [next(outputs) for _ in range(40)]
    found = WordSequence(key, 16, CPU)
    words = [*found.take(0, 16).tolist(), *found.take(16, 8).tolist(), *found.take(24, 16).tolist()]
    assert [word % (1 << 64) for word in words] == expected
    far = WordSequence((key + (1 << 40) * 0x9E3779B97F4A7C15) % (1 << 64), 4, CPU).take(0, 4).clone()
    assert torch.equal(WordSequence(key, 4, CPU).take(1 << 40, 4), far)


def test_the_first_published_output() -> None:
    """The value that other implementations list for the seed 1234567."""
    assert next(splitmix64(1234567)) == 6457827717110365317


@pytest.mark.parametrize(
    ("recipe", "gib"), [("antirez-q2", 80.76), ("rocmfp-mix", 95.53), ("bf16", 529.69), ("q8", 281.71)]
)
def test_the_full_shape_has_the_published_sizes(recipe: str, gib: float) -> None:
    source = open_model(f"synth:v4-flash?recipe={recipe}")
    assert source.file_bytes / (1 << 30) == pytest.approx(gib, abs=0.005)
    # ds4-architecture 9: 284.3 billion, of which 6,442 million a layer are routed experts
    assert sum(tensor.elements for tensor in source.tensors.values()) == pytest.approx(284.3e9, rel=2e-4)
    experts = [
        tensor.elements for name, tensor in source.tensors.items() if name.startswith("blk.7.ffn_") and "_exps" in name
    ]
    assert sum(experts) == pytest.approx(6442e6, rel=1e-3)


def test_antirez_files_are_matched_tensor_by_tensor() -> None:
    """The last column of the table in ds4-architecture 7.2."""
    expected = {
        "F16": "token_embd output_hc_fn hc_attn_fn hc_ffn_fn attn_compressor_kv attn_compressor_gate "
        "attn_compressor_ape indexer.attn_q_b indexer.proj indexer_compressor_kv indexer_compressor_gate "
        "indexer_compressor_ape ffn_gate_inp",
        "Q8_0": "output attn_q_a attn_q_b attn_kv attn_output_a attn_output_b ffn_gate_shexp ffn_up_shexp "
        "ffn_down_shexp",
        "IQ2_XXS": "ffn_gate_exps ffn_up_exps",
        "Q2_K": "ffn_down_exps",
        "I32": "ffn_gate_tid2eid",
        "F32": "output_norm output_hc_base output_hc_scale hc_attn_base hc_attn_scale hc_ffn_base hc_ffn_scale "
        "attn_norm ffn_norm attn_q_a_norm attn_kv_a_norm attn_sinks attn_compressor_norm indexer_compressor_norm "
        "exp_probs_b",
    }
    found: dict[str, set[str]] = {}
    for name, tensor in open_model("synth:v4-flash").tensors.items():
        found.setdefault(tensor.type_name, set()).add(family(name).removesuffix(".weight").removesuffix(".bias"))
    assert found == {name: set(families.split()) for name, families in expected.items()}


def test_the_metadata_is_that_of_the_shape(model: SynthSource) -> None:
    config, asked = ModelConfig.from_gguf(model), model.request.config
    assert config.rms_eps == pytest.approx(asked.rms_eps) and config.hc_eps == pytest.approx(asked.hc_eps)
    for field in ("layers", "hidden", "vocab", "ratios", "experts", "hash_layers", "swiglu_limits", "out_rank", "yarn"):
        assert getattr(config, field) == getattr(asked, field), field
    whole = ModelConfig.from_gguf(open_model("synth:v4-flash"))
    assert whole.ratios[:5] == (0, 0, 4, 128, 4) and (whole.ratios.count(4), whole.ratios.count(128)) == (21, 20)


def test_every_tensor_has_the_size_it_should(model: SynthSource) -> None:
    stored = StoredWeights(model)
    for name, tensor in model.tensors.items():
        if part_of(name) is Part.TABLE:
            continue
        weights = stored.decode(name).double()
        spread = spread_of(name, tensor.shape[-1], model.request.config)
        centre = torch.tensor(spread.centre, dtype=torch.float64)
        noise = weights - centre
        assert noise.isfinite().all()
        assert noise.abs().max() > 0, name
        room = 0.1 + 4 / math.sqrt(noise.numel())  # few numbers have an RMS of their own
        assert float(noise.square().mean().sqrt()) == pytest.approx(spread.rms, rel=room), name
        assert abs(float(noise.mean())) < spread.rms * (0.01 + 5 / math.sqrt(noise.numel())), name


def test_matrices_keep_the_size_of_what_they_multiply(model: SynthSource) -> None:
    """Also at the widths of the real shape, where scale bytes have few steps left."""
    for width in (256, 1024, 2048, 4096, 8192):
        for name in ("ffn_gate_exps", "ffn_down_exps", "attn_output_b", "output"):
            type_id = model.request.recipe.type_for(f"blk.0.{name}.weight" if name != "output" else "output.weight")
            maker = pieces.block_maker(type_id, spread_of("blk.0.attn_q_a.weight", width, model.request.config), CPU)
            blocks = maker.make(WordSequence(7, 4096 * maker.words, CPU).take(0, 4096 * maker.words).view(4096, -1))
            tensor = next(each for each in model.tensors.values() if each.type_id == type_id)
            weights = decode(StoredWeights(model).codec(tensor.name), blocks.view(-1), (4096, maker.weights))
            assert float(weights.square().mean().sqrt()) * math.sqrt(width) == pytest.approx(1, abs=0.1), (name, width)
            assert abs(float(weights.mean())) * math.sqrt(width) < 0.02, (name, width)


def blocks_of(recipe: str, name: str, size: int) -> torch.Tensor:
    source = small(recipe)
    return StoredWeights(source).blocks(name).view(-1, size)


def halves(blocks: torch.Tensor, at: int) -> torch.Tensor:
    return blocks[:, at : at + 2].contiguous().view(torch.float16).flatten()


def test_scales_are_sound_and_differ_between_neighbours() -> None:
    q8 = blocks_of("q8", "blk.1.ffn_up_exps.weight", 34)
    iq2 = blocks_of("antirez-q2", "blk.1.ffn_up_exps.weight", 66)
    q2 = blocks_of("antirez-q2", "blk.1.ffn_down_exps.weight", 84)
    for scales in (halves(q8, 0), halves(iq2, 0), halves(q2, 80), halves(q2, 82)):
        assert scales.isfinite().all() and scales.min() > 0 and len(scales.unique()) == 8
    fp4 = blocks_of("rocmfp-mix", "blk.1.attn_q_b.weight", 17)[:, 16:]
    fp3 = blocks_of("rocmfp-mix", "blk.1.ffn_down_exps.weight", 14)[:, 12:]
    fp2 = blocks_of("rocmfp-mix", "blk.1.ffn_up_exps.weight", 10)[:, 8:]
    for scales in (fp4, fp3, fp2):
        # two of the eight sizes may round to one byte
        assert scales.min() > 0 and scales.max() <= LARGEST_SCALE_BYTE and len(scales.unique()) in (7, 8)
    for scales in (fp3, fp2):  # the two halves of a block choose apart
        assert 0.8 < float((scales[:, 0] != scales[:, 1]).float().mean()) < 0.95


def test_codes_are_those_that_encoders_write() -> None:
    q8 = blocks_of("q8", "blk.1.ffn_up_exps.weight", 34)[:, 2:].view(torch.int8)
    assert (int(q8.min()), int(q8.max())) == (-127, 127) and len(q8.unique()) == 255
    q2 = blocks_of("antirez-q2", "blk.1.ffn_down_exps.weight", 84)[:, :16]
    assert torch.equal(q2 & 15, q2 >> 4) and int((q2 & 15).min()) == 8
    fp2 = blocks_of("rocmfp-mix", "blk.1.ffn_up_exps.weight", 10)[:, :8]
    codes = torch.stack([(fp2 >> shift) & 3 for shift in (0, 2, 4, 6)]).flatten()
    shares = torch.bincount(codes.int()).double() / codes.numel()
    torch.testing.assert_close(shares, torch.tensor([4, 1, 2, 1], dtype=torch.float64) / 8, atol=2e-3, rtol=0)


def test_type_107_is_declared_and_also_found_by_its_weights() -> None:
    source = small("rocmfp-mix")
    ambiguous = [tensor for tensor in source.tensors.values() if tensor.type_id in AMBIGUOUS_TYPES]
    assert {family(tensor.name) for tensor in ambiguous} == set(source.declared_formats)
    for tensor in ambiguous:
        assert StoredWeights(source).codec(tensor.name).name == "ROCmFP2 code book"
        assert infer_codec(107, source.data(tensor), tensor.shape).codec.name == "ROCmFP2 code book"


@pytest.mark.parametrize("options", [EVERY_KIND, "layers=1&experts=6", "layers=1&experts=11", "layers=1&experts=160"])
def test_tables_give_each_token_different_experts_and_each_expert_its_share(options: str) -> None:
    source = small("q8", options)
    table = StoredWeights(source).decode("blk.0.ffn_gate_tid2eid.weight")
    experts, used = source.request.config.experts, source.request.config.experts_used
    assert table.shape == (2048, used) and int(table.min()) == 0 and int(table.max()) == experts - 1
    assert all(len(set(row)) == used for row in table.tolist())
    counts = torch.bincount(table.flatten(), minlength=experts) / table.numel() * experts
    assert float(counts.min()) > 0.4 and float(counts.max()) < 1.7


def test_the_same_bytes_every_way(model: SynthSource, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(model, GeneratesTensors)
    again = small(model.request.recipe.name)
    monkeypatch.setattr(pieces, "_WORDS_ON_CPU", 1000)  # other borders of pieces
    for name, tensor in model.tensors.items():
        stored = bytes(model.data(tensor))
        assert len(stored) == tensor.nbytes
        out = torch.full((tensor.nbytes,), 0xA5, dtype=torch.uint8)
        again.fill(again.tensors[name], out)
        assert out.numpy().tobytes() == stored
        for count in (1, 100, 4096, tensor.nbytes + 1):
            assert model.sample(tensor, count) == stored[:count] + stored[-count:]


def test_a_large_tensor_comes_in_small_pieces() -> None:
    source = open_model("synth:v4-flash?layers=1&recipe=bf16&experts=8")
    assert isinstance(source, SynthSource)
    tensor = source.tensors["blk.0.ffn_up_exps.weight"]
    sizes = [len(piece) for piece in source.pieces(tensor)]
    assert sum(sizes) == tensor.nbytes == 8 * 2048 * 4096 * 2 and max(sizes) == pieces._WORDS_ON_CPU * 8


def test_weights_depend_on_seed_and_name_alone() -> None:
    name = "blk.1.attn_q_b.weight"
    first = small("q8")

    def stored(source: SynthSource, tensor: str = name) -> bytes:
        return bytes(source.data(source.tensors[tensor]))

    assert stored(small("q8", "layers=2")) == stored(small("q8", "layers=12&experts=8")) == stored(first)
    assert stored(small("antirez-q2")) == stored(first)  # the recipe gives this tensor the same format
    others = {stored(small("q8", f"{EVERY_KIND}&seed=1")), stored(first, "blk.2.attn_q_b.weight"), stored(first)}
    assert len(others) == 3


@pytest.mark.parametrize("wrong", [torch.empty(33, dtype=torch.uint8), torch.empty(34), torch.empty(2, 17)])
def test_fill_refuses_what_is_no_place_for_a_tensor(wrong: torch.Tensor) -> None:
    tensor = StoredTensor("blk.0.attn_q_a.weight", "blk.0.attn_q_a.weight", (1, 32), 8, 34)
    with pytest.raises(ValueError, match="34 bytes"):
        small("q8").fill(tensor, wrong)


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("synth:", "shape '' is not one of v4-flash, small"),
        ("synth:v5", "shape 'v5'"),
        ("synth:small?layers=0", "layers '0' is not a whole number from 1 to 43"),
        ("synth:small?layers=44", "layers '44'"),
        ("synth:small?layers=-1", "layers '-1'"),
        ("synth:small?layers=", "layers ''"),
        ("synth:small?layers=1_0", "layers '1_0'"),
        ("synth:small?layers=" + "9" * 5000, "layers '9999"),
        ("synth:small?layer=1", "option 'layer' is not one of layers, ratios, recipe, experts, seed"),
        ("synth:small?layers", "layers ''"),
        ("synth:small?&", "option ''"),
        ("synth:small?layers=1&layers=2", "option 'layers' is given twice"),
        ("synth:small?layers=2&ratios=0,4", "layers or ratios"),
        ("synth:small?ratios=", "ratios are up to 256 of 0, 4, 128"),
        ("synth:small?ratios=0,5", "ratios are up to"),
        ("synth:small?ratios=" + ",".join(["4"] * 257), "ratios are up to"),
        ("synth:small?recipe=q9", "recipe 'q9' is not one of antirez-q2, rocmfp-mix, bf16, q8"),
        ("synth:small?experts=5", "experts '5' is not a whole number from 6 to 1024"),
        ("synth:small?seed=9223372036854775808", "seed '9223372036854775808'"),
        ("synth:small?seed=x", "seed 'x'"),
    ],
)
def test_an_address_that_asks_for_nothing_is_one_sentence(address: str, complaint: str) -> None:
    with pytest.raises(UserError) as refused:
        open_model(address)
    assert complaint in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "synth:v4-flash?layers=43&recipe=antirez-q2&seed=0",
        "synth:v4-flash?layers=4&recipe=bf16&experts=160&seed=9223372036854775807",
        "synth:small?ratios=4,0,128&recipe=q8&seed=3",
    ],
)
def test_a_model_is_named_by_its_whole_address(address: str) -> None:
    assert is_synth(address) and parse_address(address).address == open_model(address).name == address


def test_what_is_left_out_has_a_default() -> None:
    assert open_model("synth:v4-flash").name == "synth:v4-flash?layers=43&recipe=antirez-q2&seed=0"
    listed = open_model("synth:v4-flash?ratios=0,0,4,128&recipe=bf16")
    assert listed.name == "synth:v4-flash?layers=4&recipe=bf16&seed=0"


def test_text_needs_a_tokenizer_which_is_not_there() -> None:
    tokenizer = tokenizer_of(small("q8"), 2048)
    assert (tokenizer.bos, tokenizer.eos, tokenizer.vocab_size) == (0, 1, 2048)
    with pytest.raises(UserError, match=r"^synth:small\S+ has no tokenizer, which is needed to read and write text\.$"):
        tokenizer.encode("text")
