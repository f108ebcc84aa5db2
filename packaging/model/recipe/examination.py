"""The conversations that every model is examined on, of any run and for good: nothing is trained on them.

What a run holds out is its own and is gone with its folder; figures of two runs can only be compared on the same text.
"""

from pathlib import Path

from recipe.conversations import Conversation, read_conversations

# 1,269 chats and 231 articles of SmolLM2-135M-Instruct (Apache-2.0): what the run of 30 November 2026 held out.
_FILE = Path(__file__).with_name("examination.jsonl")


def examined_conversations() -> list[Conversation]:
    return list(read_conversations(_FILE))
