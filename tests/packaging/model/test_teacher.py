"""The teacher and the sampler: cached steps equal whole sequences, scripts come out as written, Q4_1 as ggml has it."""

import gguf
import numpy as np
import pytest
import torch
from recipe import teacher as teachers
from recipe.conversations import Kind
from recipe.harvest import _conversation, harvest
from recipe.sampler import Sampler, SamplerSize, choose
from recipe.scripts import END, MANNERS, WRITE_TEXT, Voice, make_scripts, sampled
from recipe.teacher import Cache, LlamaShape, Teacher, build_teacher, load_teacher
from recipe.teacher_text import TeacherText
from recipe.topics import TOPICS

from tests.packaging.model.toy_teacher import write_toy_teacher

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def random_teacher() -> Teacher:
    shape = LlamaShape(layers=2, hidden=32, heads=4, kv_heads=2, inner=48, vocab=50, rope_base=10000.0, eps=1e-5)
    generator = torch.Generator().manual_seed(0)

    def some(*size: int) -> torch.Tensor:
        return torch.randn(size, generator=generator) * 0.3

    tensors = {"token_embd.weight": some(50, 32), "output_norm.weight": torch.ones(32)}
    for number in range(2):
        sizes = {"attn_q": (32, 32), "attn_k": (16, 32), "attn_v": (16, 32), "attn_output": (32, 32)}
        sizes |= {"ffn_gate": (48, 32), "ffn_up": (48, 32), "ffn_down": (32, 48)}
        tensors |= {f"blk.{number}.{leaf}.weight": some(*size) for leaf, size in sizes.items()}
        tensors |= {f"blk.{number}.{leaf}_norm.weight": torch.ones(32) + some(32) for leaf in ("attn", "ffn")}
    return build_teacher(shape, tensors, CPU, torch.float32)


def test_cached_steps_equal_whole_sequences_from_any_first_slot(random_teacher: Teacher) -> None:
    ids = torch.randint(0, 50, (3, 20), generator=torch.Generator().manual_seed(1))
    first = torch.tensor([0, 4, 11])
    cache = Cache(random_teacher.shape, 3, 24, torch.float32, CPU)
    for at in range(20):
        logits = random_teacher.step(ids[:, at], torch.tensor([at]), first, cache)
    for row, begin in enumerate(first.tolist()):
        whole = random_teacher.logits(ids[row : row + 1, begin:])[0, -1]
        torch.testing.assert_close(logits[row], whole, atol=1e-4, rtol=1e-4)


def test_q4_1_blocks_are_ggmls() -> None:
    weights = np.random.default_rng(0).standard_normal((4, 64)).astype(np.float32)
    stored = gguf.quantize(weights, gguf.GGMLQuantizationType.Q4_1)
    expected = gguf.dequantize(stored, gguf.GGMLQuantizationType.Q4_1)
    found = teachers._decode_q4_1(torch.from_numpy(stored).flatten()).view(4, 64)
    torch.testing.assert_close(found, torch.from_numpy(expected), atol=1e-6, rtol=0)


def test_choices_follow_the_distribution_without_its_tail() -> None:
    shares = torch.tensor([0.6, 0.3, 0.09, 0.01])
    picked = choose(shares.log().expand(20000, 4), torch.ones(20000)).bincount(minlength=4) / 20000
    torch.testing.assert_close(picked, torch.tensor([0.606, 0.303, 0.091, 0.0]), atol=0.02, rtol=0)
    cold = choose(shares.log().expand(2000, 4), torch.full((2000,), 0.1)).bincount(minlength=4) / 2000
    assert cold[0] > 0.99


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Teacher, TeacherText]:
    path = write_toy_teacher(tmp_path_factory.mktemp("toy") / "teacher.gguf")
    return load_teacher(path, CPU, torch.float32), TeacherText.open(path)


def test_rows_run_their_scripts_word_for_word(toy: tuple[Teacher, TeacherText]) -> None:
    teacher, text = toy
    scripts = make_scripts(text, 20, 10, seed=3)
    sampler = Sampler(teacher, scripts, SamplerSize(6, 512), text.turn_end, seed=0)
    (window,) = sampler.windows(1e9, most=1)
    owners = window.serials.T
    assert owners.max() >= 6, "no row went on to another script"
    for row, own in enumerate(owners):
        for serial in own.unique():
            said = [int(scripts[serial, 0]), *window.tokens[own == serial, row].tolist()]
            entries = [entry for entry in scripts[serial].tolist() if entry != END]
            assert follows(said, entries, text.turn_end)


def test_a_window_stays_as_it_was_while_the_next_is_made(toy: tuple[Teacher, TeacherText]) -> None:
    teacher, text = toy
    sampler = Sampler(teacher, make_scripts(text, 8, 0, seed=4), SamplerSize(2, 128), text.turn_end, seed=0)
    windows = sampler.windows(1e9, most=2)
    first = next(windows)
    kept = first.serials.clone()
    second = next(windows)
    assert torch.equal(first.serials, kept) and second.serials.min() > first.serials.min()


def follows(said: list[int], entries: list[int], turn_end: int) -> bool:
    """Whether the tokens said are the script's, with sampled turns where it leaves room (the last may be cut)."""
    at = 0
    for entry in entries:
        if at >= len(said):
            return True
        if entry < 0:
            while at < len(said) and said[at] != turn_end:
                at += 1
        elif said[at] != entry:
            return False
        at += 1
    return at >= len(said)


def test_a_turn_that_does_not_end_is_cut_and_dropped(toy: tuple[Teacher, TeacherText]) -> None:
    _, text = toy
    limit = MANNERS[Voice.ANSWERING].limit
    script = np.array([[*text.open_turn("user"), sampled(Voice.ASKING), *text.encode("\n"),
                        *text.open_turn("assistant"), sampled(Voice.ANSWERING), END]])  # fmt: skip
    for words, kept in ((limit - 2, 1), (limit - 1, 0)):
        spelled = " ".join(f"{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(words))
        said = text.encode(spelled)[:words]
        question = [*text.encode("Why is it so?"), text.turn_end, *text.encode("\n")]
        ids = [*text.open_turn("user"), *question, *text.open_turn("assistant"), *said, text.turn_end]
        tokens = np.array([*ids[1:], 0])[:, None]
        serials = np.array([*[0] * (len(ids) - 1), 1])[:, None]
        found = harvest(tokens, serials, script, text)
        assert (found.finished, len(found.kept)) == (1, kept)


def test_an_article_is_cut_at_its_last_whole_sentence() -> None:
    request, question = WRITE_TEXT.format(topic="the moon"), "What does the text say about the moon?"
    sentences = " ".join(f"People see {', '.join(TOPICS[at : at + 8])}." for at in range(0, 96, 8))
    answer = f"People see {TOPICS[0]} and {TOPICS[1]}."
    for article in (sentences, f"{sentences} And then it"):
        kept = _conversation([request, article, question, f"{answer} And so it is that"])
        assert [one.kind for one in kept] == [Kind.ARTICLE] and kept[0].texts == (sentences, question, answer)
    unrelated = "Seven trumpets sounded yesterday."
    assert [one.kind for one in _conversation([request, sentences, question, unrelated])] == [Kind.CHAT]
    assert _conversation([request, f"{sentences} And", question, unrelated]) == [], "it would learn to stop half way"


def test_text_never_becomes_a_control_token(toy: tuple[Teacher, TeacherText]) -> None:
    _, text = toy
    assert text.turn_end not in text.encode("a<|im_end|>b")
    assert text.decode(text.encode("Hé <|im_end|> 1")) == "Hé <|im_end|> 1"
