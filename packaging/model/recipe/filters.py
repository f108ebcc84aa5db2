"""Which of the teacher's texts are fit to learn from. Each check is simple, and says in its name what it refuses.

A model of 135 M parameters repeats itself, names itself, contradicts itself and rambles; what is left after these
checks is most of what it says. Pure functions, any process.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

_SELF_NAMES = re.compile(
    r"smol\s*lm|hugging\s*face|openai|chatgpt|\bas an? (?:\w+ )?(?:ai|language model)\b|\bi'?m an? (?:\w+ )?ai\b"
    r"|\btrained by\b|\bmy training\b|\blanguage model\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"<\|[^|]*\|>|\ufffd|<file_sep>|<jupyter|<repo|\[(?:your|name|insert|date)[^\]]*\]", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z0-9']+")
_NUMBERED = re.compile(r"^\s*(\d{1,2})[.)] ", re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s*")
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
LARGEST_REPEAT = 0.2  # share of four-word runs that a text may say twice
LARGEST_ECHO = 0.5  # share of them that may have stood in what was said before it


def words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def names_itself(text: str) -> bool:
    return _SELF_NAMES.search(text) is not None


def has_leftovers(text: str) -> bool:
    """Control tokens as text, broken characters, placeholders to be filled in, or mostly no Latin letters."""
    plain = sum(character.isascii() for character in text)
    return _MARKUP.search(text) is not None or plain < 0.97 * len(text) or text.count("```") % 2 == 1


def _runs(text: str) -> list[tuple[str, ...]]:
    """Every four words in a row."""
    said = words(text)
    return list(zip(said, said[1:], said[2:], said[3:], strict=False))


def says_again(text: str, earlier: Sequence[str]) -> bool:
    """Whether most of the text's four-word runs were said in the conversation before."""
    known = {run for one in earlier for run in _runs(one)}
    runs = _runs(text)
    return len(runs) > 2 and sum(run in known for run in runs) > LARGEST_ECHO * len(runs)


def repeats_itself(text: str) -> bool:
    """A sentence three times, two equal lines of some length, or too many four-word runs said before."""
    sentences = Counter(sentence.strip().lower() for sentence in _SENTENCE.findall(text) if len(sentence) > 20)
    lines = Counter(_ITEM.sub("", line).strip().lower() for line in text.splitlines())
    lines = Counter({line: number for line, number in lines.items() if len(line) > 10})
    if max(sentences.values(), default=0) > 2 or max(lines.values(), default=0) > 1:
        return True
    runs = _runs(text)
    return len(runs) > 12 and 1 - len(set(runs)) / len(runs) > LARGEST_REPEAT


def contradicts_itself(answer: str) -> bool:
    """Yes and then no, no and then yes, or a numbered list that does not count."""
    if (_YES.match(answer) and _NO_LATER.search(answer)) or (_NO.match(answer) and _YES_LATER.search(answer)):
        return True
    numbers = [int(number) for number in _NUMBERED.findall(answer)]
    return len(numbers) > 1 and any(b not in (a + 1, 1) for a, b in pairwise(numbers))


def echoes(question: str, answer: str) -> bool:
    """The answer is the question again, or one of them has no words."""
    asked, said = words(question), words(answer)
    return not asked or not said or asked == said


def is_fit_question(question: str) -> bool:
    """One paragraph or two of a person's length that begin like a sentence and end like one."""
    lines = question.splitlines()
    begins, ends = question[:1], question.rstrip()[-1:]
    return (
        (begins.isupper() or begins.isdigit() or begins == '"')
        and ends in '.?!:)"`'
        and len(lines) <= 3
        and (len(question) <= 400 and "|" not in question)
    )


def is_fit_answer(question: str, answer: str) -> bool:
    """All checks on one question and its answer."""
    texts = (question, answer)
    return not (
        any(names_itself(text) or has_leftovers(text) or repeats_itself(text) for text in texts)
        or contradicts_itself(answer)
        or echoes(question, answer)
        or says_again(answer, [question])
        or answer.rstrip()[-1:] in ",:;-("
        or not is_fit_question(question)
    )


def is_fit_article(article: str) -> bool:
    return len(words(article)) >= 60 and not (
        names_itself(article) or has_leftovers(article) or repeats_itself(article) or contradicts_itself(article)
    )


def is_answered_by(article: str, answer: str) -> bool:
    """Whether most words of a short answer, small ones aside, stand in the article."""
    known = set(words(article))
    content = [word for word in words(answer) if word not in _SMALL_WORDS]
    return 0 < len(content) <= 60 and sum(word in known for word in content) >= 0.75 * len(content)
