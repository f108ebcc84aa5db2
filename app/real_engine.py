"""The way from the app's records to the real engine: its loader, and a prompt in its own types.

All of it comes with torch or the tokenizers library, so each function imports what it needs when it is called: on the
worker thread, or on the counting thread once a model stands. app/engine_face.py has the shapes that the rest of the
app knows.
"""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.engine_face import EngineModel
from app.preload import import_engine
from app.protocol.requests import PromptMessage, SamplingChoice
from engine.partial_sampling import PartialSampling

if TYPE_CHECKING:
    from engine.chat_format import Message
    from engine.sampling import Sampling


def load_engine_model(
    path: Path | None,
    *,
    backend: str,
    kv_rounding: str | None,
    dtype: str,
    progress: Callable[[int, int], None],
    stop: threading.Event,
    prefix_folder: Path | None = None,
) -> EngineModel:
    """The real loader. Imports the engine, and torch with it, on the worker thread and not before.

    Long conversations are kept in `prefix_folder`, so that a document is not read again after a restart.
    """
    import_engine()
    import engine  # here and not above: what it needs is imported first, without a freeze

    model: EngineModel = engine.load(
        path,
        backend=backend,
        kv_rounding=kv_rounding,
        dtype=dtype,
        progress=progress,
        stop=stop,
        prefix_folder=prefix_folder,
    )
    return model


def engine_messages(messages: Sequence[PromptMessage]) -> "list[Message]":
    """The prompt in the engine's own type."""
    from engine.chat_format import Message, Role  # here: comes with the tokenizers library

    return [Message(Role(message.role.value), message.content) for message in messages]


def engine_sampling(choice: SamplingChoice, advice: PartialSampling) -> "Sampling":
    """The choice in the engine's own type, with a model's advice. Raises UserError for a number out of range."""
    from engine.sampling import sampling_of  # here: comes with torch

    return sampling_of(choice.wishes, advice, choice.seed)
