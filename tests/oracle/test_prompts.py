"""The oracle's prompts survive a change of vocabulary."""

from safetensors.torch import load_file

from tests.engine.small_tokenizers import nano_tokenizer
from tests.oracle.prompts import CASES, prompt_pieces, translate
from tests.oracle.regenerate import FIXTURE


def test_a_prompt_in_another_vocabulary_is_the_same_text_between_the_same_control_tokens() -> None:
    old, new = nano_tokenizer(), nano_tokenizer("joyai-llm")
    fixture = load_file(FIXTURE)
    prompts = {case: fixture[f"{case}.input_ids"].tolist() for case in CASES}
    translated = translate(fixture, old, new)
    assert translated["doc_1500"] != prompts["doc_1500"], "the other vocabulary splits no text differently"
    for case, ids in prompts.items():
        assert prompt_pieces(translated[case], new) == prompt_pieces(ids, old)


def test_prompts_in_their_own_vocabulary_keep_their_ids() -> None:
    fixture, tokenizer = load_file(FIXTURE), nano_tokenizer()
    translated = translate(fixture, tokenizer, tokenizer)
    for case in CASES[:-1]:  # the last was joined of token ids, so its seams are split otherwise as text
        assert translated[case] == fixture[f"{case}.input_ids"].tolist()
