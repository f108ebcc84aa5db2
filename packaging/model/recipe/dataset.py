"""Training sequences: conversations and documents as token ids with a weight for each, packed without much waste.

The chat form is the engine's (engine.chat_format), so what is trained is what the program sends. Built once a phase,
deterministically from a seed, and kept as one file, so that training can stop and go on anywhere.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from recipe.conversations import Conversation, Kind
from recipe.documents import Document, among_articles, article_document, needle_document
from recipe.passages import passage
from recipe.settings import Mixture
from recipe.vocabulary import Vocabulary
from recipe.written import paste
from torch import Tensor

from engine.tokenizer import Tokenizer

FULL_WEIGHT = 4  # stored weights count quarters
_REPEATED_WEIGHT = 1  # text of articles, which documents use many times over
_ANSWER_WEIGHT = 16  # the few words of a document's answer, which are what the document is there for
_OPEN_BINS = 128
_PASSAGE_SUBJECTS = (1, 1, 1, 2, 2, 3, 4, 6)  # each as likely as it is listed


@dataclass(frozen=True, slots=True)
class Example:
    """Token ids and the weight of each as something to predict, in quarters."""

    ids: list[int]
    weights: list[int]


@dataclass(frozen=True, slots=True)
class Sequences:
    """ids int32 [S, L + 1] and weights uint8 [S, L + 1]; a sequence predicts its tokens 1 to L."""

    ids: Tensor
    weights: Tensor

    def write(self, path: Path) -> None:
        scratch = path.with_suffix(".part")
        torch.save({"ids": self.ids.short(), "weights": self.weights}, scratch)  # 16,384 tokens fit
        scratch.replace(path)

    @classmethod
    def read(cls, path: Path) -> "Sequences":
        stored = torch.load(path, weights_only=True)
        return cls(stored["ids"].int(), stored["weights"])

    @classmethod
    def read_all(cls, paths: Sequence[Path]) -> "Sequences":
        """Several files of one length as one."""
        parts = [cls.read(path) for path in paths]
        return cls(torch.cat([part.ids for part in parts]), torch.cat([part.weights for part in parts]))


class Examples:
    """Makes examples of conversations and documents with one tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        ids = (tokenizer.user, tokenizer.assistant, tokenizer.think_end)
        assert all(id is not None for id in ids), "the vocabulary of this recipe has the chat's control tokens"
        self._user, self._assistant, self._think_end = (int(id) for id in ids if id is not None)

    def chat(self, texts: Sequence[str], weights: tuple[int, int] = (FULL_WEIGHT, FULL_WEIGHT)) -> Example:
        """`BOS user Q assistant </think> A EOS user ...`; `weights` for the questions and for the answers."""
        tokenizer = self._tokenizer
        example = Example([tokenizer.bos], [0])
        for question, answer in zip(texts[0::2], texts[1::2], strict=True):
            asked = [self._user, *tokenizer.encode(question)]
            said = [*tokenizer.encode(answer), tokenizer.eos]
            example.ids.extend([*asked, self._assistant, self._think_end, *said])
            # The first control token after an answer is certain, and so are the two before one.
            example.weights.extend([0, *[weights[0]] * (len(asked) - 1), weights[0], 0, *[weights[1]] * len(said)])
        return example

    def document(self, document: Document) -> Example:
        """The paste and the first question are one message, as the program sends them."""
        (question, answer), *others = document.turns
        texts = [f"{document.text}\n\n{question}", answer, *(text for turn in others for text in turn)]
        return self.chat(texts, (_REPEATED_WEIGHT, _ANSWER_WEIGHT))


def phase_examples(
    conversations: Sequence[Conversation], tokenizer: Tokenizer, length: int, mixture: Mixture, seed: int
) -> Iterator[Example]:
    """Every conversation once, then passages and documents of up to about `length` tokens for the mixture's share."""
    random_, examples = random.Random(seed), Examples(tokenizer)
    articles = [one for one in conversations if one.kind is Kind.ARTICLE]
    texts = [one.texts[0] for one in articles]
    chat_tokens = 0
    for one in conversations:
        example = examples.chat(one.turns)
        if len(example.ids) <= length:
            chat_tokens += len(example.ids)
            yield example
    wanted = chat_tokens * mixture.document_share / (1 - mixture.document_share)
    passages = wanted * mixture.passage_share if texts else wanted
    wanted -= passages
    while passages > 0:
        example = examples.document(_passage(random_, mixture))
        passages -= len(example.ids)
        if len(example.ids) <= length:
            yield example
    while texts and wanted > 0:
        example = examples.document(_document(articles, texts, random_, length, mixture))
        if len(example.ids) <= length:
            wanted -= len(example.ids)
            yield example


def _passage(random_: random.Random, mixture: Mixture, is_whole: bool = True) -> Document:
    """A short paste, written or made.

    A made one that is a part of a longer paste is about several subjects, so that no question leaves open what it asks.
    """
    if random_.random() < mixture.written_share:
        return paste(random_, is_whole)
    return passage(random_, random_.choice(_PASSAGE_SUBJECTS) if is_whole else random_.randint(2, 6), is_whole)


def _document(
    articles: Sequence[Conversation], texts: Sequence[str], random_: random.Random, length: int, mixture: Mixture
) -> Document:
    """One of the three kinds, of a random size: half near the phase's length, for the far end must be learned."""
    share = random_.choice((random_.uniform(0.1, 0.9), random_.uniform(0.6, 0.9)))
    most_bytes = int(share * length * mixture.bytes_per_token)
    if random_.random() < mixture.needle_share:
        if random_.random() < mixture.buried_share:
            return among_articles(_passage(random_, mixture, is_whole=False), texts, random_, most_bytes)
        return needle_document(texts, random_, most_bytes, max(1, min(16, most_bytes // 400)))
    return article_document(random_.sample(articles, min(len(articles), 3)), texts, random_, most_bytes)


def pack(examples: Iterator[Example], length: int, pad: int, seed: int) -> Sequences:
    """Fill sequences of length + 1 tokens: each example goes to the fullest open one that has room for it."""
    shuffled = list(examples)
    random.Random(seed).shuffle(shuffled)
    bins: list[list[Example]] = []
    room: list[int] = []
    closed: list[list[Example]] = []
    for example in shuffled:
        size = len(example.ids)
        fitting = [number for number, left in enumerate(room) if left >= size]
        if fitting:
            best = min(fitting, key=room.__getitem__)
        else:
            if len(bins) == _OPEN_BINS:
                fullest = min(range(len(room)), key=room.__getitem__)
                closed.append(bins.pop(fullest))
                room.pop(fullest)
            bins.append([])
            room.append(length + 1)
            best = len(bins) - 1
        bins[best].append(example)
        room[best] -= size
    closed += bins
    random.Random(seed + 1).shuffle(closed)
    return _as_sequences(closed, length, pad)


def pack_chats(conversations: Iterable[Conversation], vocabulary: Vocabulary, length: int, seed: int) -> Sequences:
    """Conversations alone, without documents; those longer than `length` tokens are left out."""
    examples = Examples(vocabulary.tokenizer())
    chats = (examples.chat(one.turns) for one in conversations)
    return pack((chat for chat in chats if len(chat.ids) <= length), length, vocabulary.pad, seed)


def _as_sequences(bins: Sequence[Sequence[Example]], length: int, pad: int) -> Sequences:
    ids = torch.full((len(bins), length + 1), pad, dtype=torch.int32)
    weights = torch.zeros(len(bins), length + 1, dtype=torch.uint8)
    for row, examples in enumerate(bins):
        flat = [id for example in examples for id in example.ids]
        ids[row, : len(flat)] = torch.tensor(flat, dtype=torch.int32)
        weights[row, : len(flat)] = torch.tensor([w for e in examples for w in e.weights], dtype=torch.uint8)
    return Sequences(ids, weights)


def token_bytes(vocabulary: Vocabulary) -> Tensor:
    """int64 [vocab]: how many bytes of text each token stands for, so that losses can be told per byte."""
    tokenizer = vocabulary.tokenizer()
    return torch.tensor([len(tokenizer.piece(id)) for id in range(tokenizer.vocab_size)])
