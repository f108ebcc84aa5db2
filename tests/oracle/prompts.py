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


def encode_pieces(pieces: list[str], tokenizer: Tokenizer, most: int | None = None) -> list[int]:
    """The same prompt in another vocabulary; of what exceeds `most` tokens, the longest text loses its beginning.

    Raises KeyError for a control token that the vocabulary lacks.
    """
    parts = [tokenizer.encode(pieces[0])]
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        parts += [[tokenizer.control_ids[name]], tokenizer.encode(text)]
    surplus = sum(map(len, parts)) - (most or sum(map(len, parts)))
    longest = max(range(len(parts)), key=lambda number: len(parts[number]))
    parts[longest] = parts[longest][max(surplus, 0) :]
    return [id for part in parts for id in part]


def translate(fixture: Mapping[str, torch.Tensor], old: Tokenizer, new: Tokenizer) -> dict[str, list[int]]:
    """Every case's prompt, from the vocabulary of the fixture to another; never longer, for lengths name the cases."""
    found = {}
    for case in CASES:
        ids = fixture[f"{case}.input_ids"].tolist()
        found[case] = encode_pieces(prompt_pieces(ids, old), new, len(ids))
    return found
