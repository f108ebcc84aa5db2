"""What a model says, by the program's own engine: greedy answers, needles found, texts read.

So the figures are of the file as people run it: quantised, with the indexer's selection, token by token.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from recipe.documents import Needle, hide, join_articles, make_needles
from recipe.readings import READINGS

from engine import Model
from engine.chat_format import Message, Role, encode_chat
from engine.events import TokenDecoded
from engine.sampling import Sampling
from engine.tokenizer import Tokenizer

_GREEDY = Sampling(temperature=0)
_READING_TOKENS = 32
_NEEDLE_TOKENS = 16  # the answer to a needle's question is a short sentence


@dataclass(frozen=True, slots=True)
class NeedleCase:
    """A document with one fact hidden in it."""

    text: str
    needle: Needle

    @property
    def prompt(self) -> str:
        return f"{self.text}\n\n{self.needle.question}"

    def is_found_by(self, answer: str) -> bool:
        return self.needle.key in answer.replace(",", "")


def answers(model: Model, questions: Sequence[str], most_tokens: int) -> list[str]:
    """Each question alone in a new conversation; answers of at most `most_tokens` tokens, greedy."""
    prompts = [encode_chat([Message(Role.USER, question)], model.tokenizer) for question in questions]
    session, found = model.session(max(map(len, prompts)) + most_tokens), []
    for prompt in prompts:
        session.reset()
        events = session.generate(prompt, _GREEDY, most_tokens)
        found.append("".join(event.text for event in events if isinstance(event, TokenDecoded)).strip())
    return found


def needle_cases(articles: Sequence[str], tokenizer: Tokenizer, tokens: int, count: int, seed: int) -> list[NeedleCase]:
    """`count` documents of just under `tokens` tokens, a fact in each, at depths spread over the whole document."""
    random_, cases = random.Random(seed), []
    for _ in range(count):
        (needle,) = make_needles(random_, 1)
        room = tokens - len(tokenizer.encode(f" {needle.fact} {needle.question}")) - 16
        text = tokenizer.decode(tokenizer.encode(join_articles(articles, random_, tokens * 8))[:room])
        cases.append(NeedleCase(hide(text, [needle], random_), needle))
    return cases


def needles_found(model: Model, cases: Sequence[NeedleCase]) -> int:
    """In how many answers the deciding word stands."""
    said = answers(model, [case.prompt for case in cases], _NEEDLE_TOKENS)
    return sum(case.is_found_by(answer) for case, answer in zip(cases, said, strict=True))


def readings_answered(model: Model, most_tokens: int) -> tuple[int, int]:
    """How many questions about texts in words of their own are answered, and how many there are."""
    said = answers(model, [one.prompt for one in READINGS], min(most_tokens, _READING_TOKENS))
    return sum(one.is_answered_by(answer) for one, answer in zip(READINGS, said, strict=True)), len(READINGS)
