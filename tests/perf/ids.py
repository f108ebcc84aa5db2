"""The prompts of the comparisons: the beginning of one fixed document, as the oracle tests hold it."""

from safetensors.torch import load_file

from tests.support.tiny_model import DATA


def document_ids(tokens: int) -> list[int]:
    """The first `tokens` ids of the 9,133-token document. Raises ValueError for more."""
    ids: list[int] = load_file(DATA / "nano" / "oracle.safetensors")["doc_9133.input_ids"].tolist()
    if not 1 <= tokens <= len(ids):
        raise ValueError(f"the document has {len(ids)} tokens, not {tokens}")
    return ids[:tokens]
