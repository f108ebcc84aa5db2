"""tokenizer.json of a Hugging Face folder as the `tokenizer.ggml.` keys that engine.tokenizer reads.

Called by engine.hf.source. Only what DS4 uses is taken: byte-level BPE with one of the two known ways of
cutting text; anything else is refused in one sentence, for text cut otherwise gives wrong tokens without a sign.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from engine.errors import ModelFileError
from engine.gguf.cursor import Value, ValueType
from engine.hf.config import Keys
from engine.strict_json import Object
from engine.tokenizer import JOYAI_PATTERNS, NORMAL_TOKEN

_CONTROL, _USER_DEFINED, _UNUSED = 3, 4, 5  # tokenizer.ggml.token_type, beside NORMAL_TOKEN
_MOST_TOKENS = 1 << 20


def tokenizer_keys(document: Object, name: str) -> Keys:
    """Keys for a parsed tokenizer.json. Raises ModelFileError naming the file and what is wrong with it."""
    model = document.get("model")
    if not isinstance(model, dict) or model.get("type", "BPE") != "BPE":
        raise ModelFileError(f"{name}: the tokenizer is not of type BPE, the only one that works.")
    _check_plain(document, name)
    tokens, types = _tokens(model.get("vocab"), document.get("added_tokens", []), name)
    merges: list[Value] = [_merge(merge, name) for merge in _list(model.get("merges"), "merges", name)]
    texts: list[Value] = list(tokens)
    return {
        "tokenizer.ggml.model": (ValueType.STRING, "gpt2"),
        "tokenizer.ggml.pre": (ValueType.STRING, _pre_tokenizer(document.get("pre_tokenizer"), name)),
        "tokenizer.ggml.tokens": (ValueType.ARRAY, texts),
        "tokenizer.ggml.token_type": (ValueType.ARRAY, np.array(types, np.int32)),
        "tokenizer.ggml.merges": (ValueType.ARRAY, merges),
    }


def _check_plain(document: Object, name: str) -> None:
    """Text must reach the model as it is: no normaliser, or an empty one."""
    normalizer = document.get("normalizer")
    if normalizer not in (None, {"type": "Sequence", "normalizers": []}):
        raise ModelFileError(f"{name}: the tokenizer changes text before reading it, which is not supported.")


def _tokens(vocab: object, added: object, name: str) -> tuple[list[str], list[int]]:
    """The token of each id with its type; ids that nothing names become unused tokens."""
    if not isinstance(vocab, dict):
        raise ModelFileError(f"{name}: the vocabulary is not an object of tokens and ids.")
    found: dict[int, tuple[str, int]] = {}
    for token, number in vocab.items():
        if not _is_id(number) or number in found:
            raise ModelFileError(f"{name}: token {token[:40]!r} has id {number!r}, which is taken or not an id.")
        found[number] = token, NORMAL_TOKEN
    for entry in _list(added, "added_tokens", name):
        number, token, special = _added(entry, name)
        if found.get(number, (token,))[0] != token or vocab.get(token, number) != number:
            raise ModelFileError(
                f"{name}: added token {token[:40]!r} has id {number}, which does not fit the vocabulary."
            )
        found[number] = token, _CONTROL if special else _USER_DEFINED
    count = max(found, default=-1) + 1
    ordered = [found.get(number, (f"[PAD{number}]", _UNUSED)) for number in range(count)]
    return [token for token, _ in ordered], [kind for _, kind in ordered]


def _added(entry: object, name: str) -> tuple[int, str, bool]:
    values: Mapping[str, object] = entry if isinstance(entry, dict) else {}
    number, token, special = values.get("id"), values.get("content"), values.get("special", False)
    if type(number) is not int or not _is_id(number) or not isinstance(token, str) or not isinstance(special, bool):
        raise ModelFileError(f"{name}: added token {str(entry)[:60]!r} is not an id with a text.")
    return number, token, special


def _is_id(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST_TOKENS


def _merge(merge: object, name: str) -> str:
    """Older files have "left right", newer ones a pair."""
    if isinstance(merge, str):
        return merge
    if isinstance(merge, list) and len(merge) == 2 and all(isinstance(part, str) and " " not in part for part in merge):
        return " ".join(merge)
    raise ModelFileError(f"{name}: merges has {str(merge)[:40]!r}, which is not a pair.")


def _list(value: object, field: str, name: str) -> Sequence[object]:
    if not isinstance(value, list):
        raise ModelFileError(f"{name}: {field} is not a list.")
    return value


def _pre_tokenizer(value: object, name: str) -> str:
    """What GGUF calls the way text is cut before merging."""
    steps = value.get("pretokenizers") if isinstance(value, dict) and value.get("type") == "Sequence" else [value]
    shapes = [_step(step) for step in steps] if isinstance(steps, list) else []
    if shapes == [*JOYAI_PATTERNS, "bytes"]:
        return "joyai-llm"
    if shapes == ["words and bytes"]:
        return "gpt-2"
    raise ModelFileError(f"{name}: the tokenizer cuts text in a way that is not known here.")


def _step(step: object) -> str | None:
    """A pattern that isolates its matches, or what a ByteLevel step does; None for anything else."""
    values: Mapping[str, object] = step if isinstance(step, dict) else {}
    if values.get("type") == "ByteLevel" and values.get("add_prefix_space") is False:
        return "words and bytes" if values.get("use_regex", True) is True else "bytes"
    pattern = values.get("pattern")
    is_split = values.get("type") == "Split" and values.get("behavior") == "Isolated" and values.get("invert") is False
    if not is_split or not isinstance(pattern, dict) or not isinstance(pattern.get("Regex"), str):
        return None
    return str(pattern["Regex"]).replace("\r", r"\r").replace("\n", r"\n")
