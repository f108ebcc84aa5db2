"""From the sampler's windows to conversations: cut the rows at script ends, decode, keep what is fit.

Runs in worker processes beside the sampler, one window a call.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from recipe.conversations import Conversation, Kind
from recipe.filters import is_answered_by, is_fit_answer, is_fit_article, says_again
from recipe.scripts import END, MANNERS, WRITE_TEXT, Voice
from recipe.teacher_text import TeacherText

Ids = npt.NDArray[np.int32]
_SENTENCE = re.compile(r"[^\n]*?[.!?](?=\s|$)")
_ARTICLE_START = WRITE_TEXT.split("{", 1)[0]


@dataclass(frozen=True, slots=True)
class Harvest:
    """What a window gave: the conversations kept, how many scripts were finished, and their tokens."""

    kept: list[Conversation]
    finished: int
    tokens: int


def harvest(tokens: Ids, serials: Ids, scripts: Ids, text: TeacherText) -> Harvest:
    """Conversations of one window (tokens and serials [length, rows]) over a table of scripts [count, width]."""
    kept: list[Conversation] = []
    finished = used = 0
    for script, chosen in _finished(tokens, serials, scripts):
        finished += 1
        used += len(chosen)
        ids = [int(script[0]), *chosen.tolist()]
        if not _has_cut_turn(script, ids, text.turn_end) and (messages := _messages(ids, text)):
            kept += _conversation(messages)
    return Harvest(kept, finished, used)


def _finished(tokens: Ids, serials: Ids, scripts: Ids) -> Iterator[tuple[Ids, Ids]]:
    """Each finished script's row and the tokens chosen for it; a row's last script is not finished."""
    for row in range(tokens.shape[1]):
        changes = np.flatnonzero(np.diff(serials[:, row])) + 1
        for begin, stop in zip([0, *changes[:-1]], changes, strict=True) if len(changes) else ():
            yield scripts[serials[begin, row] % len(scripts)], tokens[begin:stop, row]


def _has_cut_turn(script: Ids, ids: Sequence[int], turn_end: int) -> bool:
    """Whether a sampled turn went on to its limit; walks script and tokens side by side.

    Articles and answers from them may: they are cut at a sentence's end.
    """
    at = 0
    for entry in script.tolist():
        if entry == END:
            return False
        if entry >= 0:
            at += 1
            continue
        stop = ids.index(turn_end, at)
        voice = Voice(-1 - entry)
        if voice not in (Voice.WRITING, Voice.READING) and stop + 1 - at >= MANNERS[voice].limit:
            return True
        at = stop + 1
    return False


def _messages(ids: list[int], text: TeacherText) -> list[str] | None:
    """The messages' texts, roles checked to alternate from the user's; None where markup is out of order.

    What the system said to the teacher is left out: the student learns the system-free form.
    """
    found: list[str] = []
    for part in text.decode(ids).split("<|im_start|>")[1:]:
        content, mark, rest = part.partition("<|im_end|>")
        role, _, content = content.partition("\n")
        if role == "system" and not found:
            continue
        if not mark or rest.strip() or role != ("user", "assistant")[len(found) % 2]:
            return None
        found.append(content.strip())
    return found


def _whole_sentences(article: str) -> str:
    """The article up to the end of its last whole sentence."""
    return article[: max(article.rfind(mark) for mark in ".?!") + 1]


def _first_sentence(answer: str) -> str:
    """The answer's first sentence, where it has a whole one."""
    found = _SENTENCE.match(answer)
    return found[0].strip() if found else ""


def _conversation(messages: Sequence[str]) -> list[Conversation]:
    """The fit part of a conversation: an article with its question, or a chat up to its first unfit answer."""
    if messages[0].startswith(_ARTICLE_START) and len(messages) == 4:
        article, question, answer = _whole_sentences(messages[1]), messages[2], _first_sentence(messages[3])
        if not is_fit_article(article):
            return []
        if is_answered_by(article, answer) and is_fit_answer(question, answer):
            return [Conversation(Kind.ARTICLE, (article, question, answer))]
        return [Conversation(Kind.CHAT, (messages[0], article))] if article == messages[1] else []
    turns: list[str] = []
    for question, answer in zip(messages[0::2], messages[1::2], strict=False):
        if not is_fit_answer(question, answer) or says_again(question, turns) or says_again(answer, turns):
            break
        turns += [question, answer]
    return [Conversation(Kind.CHAT, tuple(turns))] if turns else []
