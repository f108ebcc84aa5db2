"""Which of the teacher's texts are fit to learn from. Each check is simple, and says in its name what it refuses.

A model of 135 M parameters repeats itself, names itself, contradicts itself and rambles; what is left after these
checks is most of what it says. Pure functions, any process.
"""

import re
from collections import Counter
from itertools import pairwise

_SELF_NAMES = re.compile(
    r"smol\s*lm|hugging\s*face|openai|chatgpt|\bas an? (?:\w+ )?(?:ai|language model)\b|\bi'?m an? (?:\w+ )?ai\b"
    r"|\btrained by\b|\bmy training\b|\blanguage model\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"<\|[^|]*\|>|\ufffd|<file_sep>|<jupyter|<repo|\[(?:your|name|insert|date)[^\]]*\]", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z0-9']+")
_NUMBERED = re.compile(r"^\s*(\d{1,2})[.)] ", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]")
_YES, _NO = re.compile(r"^(?:yes|sure|of course|certainly)\b", re.I), re.compile(r"^no\b", re.I)
_NO_LATER = re.compile(r"(?:^|[.!?\n] )(?:no,|i cannot|i can't|i am not able|i'm not able|it is not possible)", re.I)
_YES_LATER = re.compile(r"(?:^|[.!?\n] )yes,", re.I)
_SMALL_WORDS = frozenset(
    _WORD.findall(
        "a an and are as at be by can did do does for from had has have how i in is it its of on or that the their "
        "there they this to was were what when where which who why will with you your"
    )
)
LARGEST_REPEAT = 0.2  # share of four-word runs that may have been said before


def words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def names_itself(text: str) -> bool:
    return _SELF_NAMES.search(text) is not None


def has_leftovers(text: str) -> bool:
    """Control tokens as text, broken characters, placeholders to be filled in, or mostly no Latin letters."""
    plain = sum(character.isascii() for character in text)
    return _MARKUP.search(text) is not None or plain < 0.97 * len(text) or text.count("```") % 2 == 1


def repeats_itself(text: str) -> bool:
    """A sentence three times, two equal lines of some length, or too many four-word runs said before."""
    sentences = Counter(sentence.strip().lower() for sentence in _SENTENCE.findall(text) if len(sentence) > 20)
    lines = Counter(line.strip().lower() for line in text.splitlines() if len(line.strip()) > 25)
    if max(sentences.values(), default=0) > 2 or max(lines.values(), default=0) > 1:
        return True
    said = words(text)
    runs = list(zip(said, said[1:], said[2:], said[3:], strict=False))
    return len(runs) > 12 and 1 - len(set(runs)) / len(runs) > LARGEST_REPEAT


def contradicts_itself(answer: str) -> bool:
    """Yes and then no, no and then yes, or a numbered list that does not count."""
    if (_YES.match(answer) and _NO_LATER.search(answer)) or (_NO.match(answer) and _YES_LATER.search(answer)):
        return True
    numbers = [int(number) for number in _NUMBERED.findall(answer)]
    return len(numbers) > 1 and any(b not in (a + 1, 1) for a, b in pairwise(numbers))


def echoes(question: str, answer: str) -> bool:
    """The answer is the question again, or one of them has hardly any words."""
    asked, said = words(question), words(answer)
    return len(asked) < 1 or len(said) < 1 or asked == said or (len(asked) > 8 and said[: len(asked)] == asked)


def is_fit_answer(question: str, answer: str) -> bool:
    """All checks on one question and its answer."""
    texts = (question, answer)
    return not (
        any(names_itself(text) or has_leftovers(text) or repeats_itself(text) for text in texts)
        or contradicts_itself(answer)
        or echoes(question, answer)
        or answer.rstrip()[-1:] in ",:;-("
        or len(question) > 1200
    )


def is_fit_article(article: str) -> bool:
    return len(words(article)) >= 60 and not (
        names_itself(article) or has_leftovers(article) or repeats_itself(article) or contradicts_itself(article)
    )


def is_answered_by(article: str, question: str, answer: str) -> bool:
    """Whether most words of a short answer, small ones aside, stand in the article, and the question is one."""
    known = set(words(article))
    content = [word for word in words(answer) if word not in _SMALL_WORDS]
    asked = [word for word in words(question) if word not in _SMALL_WORDS]
    if not question.rstrip().endswith("?") or question.count("?") != 1 or not content or not asked:
        return False
    found = sum(word in known for word in content)
    return found >= 0.75 * len(content) and any(word in known for word in asked) and len(content) <= 60
