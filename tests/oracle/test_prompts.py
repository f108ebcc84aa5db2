"""The oracle's prompts survive a change of vocabulary."""

from safetensors.torch import load_file

from engine.tokenizer import ASSISTANT, USER
from tests.engine.small_tokenizers import nano_tokenizer
from tests.oracle.prompts import CASES, encode_pieces, prompt_pieces, translate
from tests.oracle.regenerate import FIXTURE


def test_a_prompt_in_another_vocabulary_is_the_same_text_between_the_same_control_tokens() -> None:
    """Of a document that has more tokens there, only the beginning may be missing."""
    old, new = nano_tokenizer(), nano_tokenizer("joyai-llm")
    fixture = load_file(FIXTURE)
    prompts = {case: fixture[f"{case}.input_ids"].tolist() for case in CASES}
    translated = translate(fixture, old, new)
    assert translated["doc_1500"] != prompts["doc_1500"], "the other vocabulary splits no text differently"
    for case, ids in prompts.items():
        assert len(translated[case]) <= len(ids)
        pieces, wanted = prompt_pieces(translated[case], new), prompt_pieces(ids, old)
        assert pieces[1::2] == wanted[1::2]
        for text, whole in zip(pieces[0::2], wanted[0::2], strict=True):
            assert text == whole or (len(translated[case]) == len(ids) and whole.endswith(text) and text)


def test_a_prompt_that_is_too_long_loses_the_beginning_of_its_longest_text() -> None:
    tokenizer = nano_tokenizer()
    whole = encode_pieces(["", USER, "one two three four five", ASSISTANT, "six"], tokenizer)
    cut = encode_pieces(["", USER, "one two three four five", ASSISTANT, "six"], tokenizer, len(whole) - 2)
    assert cut == [whole[0], *whole[3:]]


def test_prompts_in_their_own_vocabulary_keep_their_ids() -> None:
    fixture, tokenizer = load_file(FIXTURE), nano_tokenizer()
    translated = translate(fixture, tokenizer, tokenizer)
    for case in CASES[:-1]:  # the last was joined of token ids, so its seams are split otherwise as text
        assert translated[case] == fixture[f"{case}.input_ids"].tolist()
