"""The oracle's prompts as text, so that they can be put to a model with another vocabulary.

The fixture holds token ids; the vocabulary they were made with turns them back into control tokens and texts.
"""

from collections.abc import Mapping

import torch

from engine.tokenizer import Tokenizer

CASES = ("poem", "python", "gpu", "doc_1500", "doc_9133")
Piece = int | str  # a control token's id, or text


def prompt_pieces(ids: list[int], tokenizer: Tokenizer) -> list[str]:
    """Control tokens' names and the texts between them, in order; a text stands at every odd place."""
    names = {id: name for name, id in tokenizer.control_ids.items()}
    pieces, text = [], []
    for id in ids:
        if id in names:
            pieces += [tokenizer.decode(text), names[id]]
            text = []
        else:
            text.append(id)
    return [*pieces, tokenizer.decode(text)]


def encode_pieces(pieces: list[str], tokenizer: Tokenizer) -> list[int]:
    """The same prompt in another vocabulary. Raises KeyError for a control token that it lacks."""
    ids = tokenizer.encode(pieces[0])
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        ids += [tokenizer.control_ids[name], *tokenizer.encode(text)]
    return ids


def translate(fixture: Mapping[str, torch.Tensor], old: Tokenizer, new: Tokenizer) -> dict[str, list[int]]:
    """Every case's prompt, from the vocabulary of the fixture to another."""
    return {case: encode_pieces(prompt_pieces(fixture[f"{case}.input_ids"].tolist(), old), new) for case in CASES}
