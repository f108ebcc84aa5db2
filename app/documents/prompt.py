"""How documents stand in a question: the template DeepSeek published for its own file uploads
(deepseek-ai/DeepSeek-R1, README, "file upload"), which the models were used with. Pure.

Texts go in verbatim. Nothing here can make control tokens: the engine encodes the result as plain text.
"""

from collections.abc import Sequence


def question_with_documents(question: str, documents: Sequence[tuple[str, str]]) -> str:
    """The user's message with (name, text) documents in front of it."""
    return "".join(document_block(name, text) for name, text in documents) + question


def document_block(name: str, text: str) -> str:
    """One document as it stands in the prompt. The name is kept to one line, so that it cannot pose as content."""
    one_line = " ".join(name.split())
    return f"[file name]: {one_line}\n[file content begin]\n{text}\n[file content end]\n"
