"""What the recipe keeps of the teacher's talk: conversations as plain text, one JSON object a line.

Sampling writes them, the tokenizer, the training data and evaluation read them.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class Kind(Enum):
    """What a conversation is about: a chat, or an article with a question that it answers."""

    CHAT = "chat"
    ARTICLE = "article"


@dataclass(frozen=True, slots=True)
class Conversation:
    """`texts` alternate: question, answer, ... For an article: (article, question, answer)."""

    kind: Kind
    texts: tuple[str, ...]

    @property
    def turns(self) -> tuple[str, ...]:
        """The texts as messages, questions and answers in turn; an article and its question are one message."""
        if self.kind is Kind.ARTICLE:
            article, question, answer = self.texts
            return f"{article}\n\n{question}", answer
        return self.texts


def write_conversations(path: Path, conversations: Iterable[Conversation]) -> None:
    """The file appears whole or not at all."""
    scratch = path.with_suffix(".part")
    with scratch.open("w", encoding="utf-8") as file:
        for one in conversations:
            file.write(json.dumps({"kind": one.kind.value, "texts": one.texts}, ensure_ascii=False) + "\n")
    scratch.replace(path)


def read_conversations(path: Path) -> Iterator[Conversation]:
    """In the order they were written."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            fields = json.loads(line)
            yield Conversation(Kind(fields["kind"]), tuple(fields["texts"]))
