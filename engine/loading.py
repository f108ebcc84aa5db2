"""From a model's files to a model that answers: open, check memory, decode weights, choose the backend.

`load` is long and may run on any thread; it reports bytes and looks at a stop event between tensors.
"""

import hashlib
import threading
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import TypeVar

import torch

import resources
from engine.backends.base import Backend, TokenProgram
from engine.cache_shape import CacheShape
from engine.chat_format import Message, encode_chat
from engine.config import ModelConfig
from engine.errors import UserError
from engine.faces import PrefixKeeper
from engine.host import has_bf16_products
from engine.layers.rounding import KvRounding
from engine.ledger import MemoryReport, memory_report
from engine.missing_tokenizer import tokenizer_of
from engine.model import Network
from engine.model_info import ModelInfo
from engine.model_source import ModelSource, open_model
from engine.placing import LoadJob, place
from engine.plan import STEP_CAP, Cut, Step
from engine.prefix_store import PrefixStore
from engine.sampling_advice import read_advice
from engine.session import Mode, Session
from engine.state import SessionState
from engine.step_buffers import peak_bytes
from engine.stored_weights import StoredWeights
from engine.threads import cpu_threads
from engine.timeline import KEPT_CHECKPOINTS
from engine.tokenizer import Tokenizer

E = TypeVar("E", bound=Enum)

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
_DEFAULT_CONTEXT = 16384
_SAMPLED_BYTES = 1 << 12  # at each end of each tensor


class Model:
    """A loaded model. `session` starts a timeline; `encode_chat` and the tokenizer may be called from any thread."""

    def __init__(
        self,
        info: ModelInfo,
        network: Network,
        tokenizer: Tokenizer,
        rounding: KvRounding,
        source: ModelSource,
        prefixes: PrefixKeeper | None = None,
    ) -> None:
        self.prefixes = prefixes
        self.info, self.network, self.tokenizer, self.rounding = info, network, tokenizer, rounding
        self._source = source  # keeps the mapping that compiled programs read
        self.config = network.config
        self._weight_bytes = network.weights.nbytes() + network.backend.copied_bytes
        self.fingerprint = _fingerprint(source, self.config, network.backend.compute_dtype)

    def encode_chat(self, messages: Sequence[Message], thinking: bool = False) -> list[int]:
        """Token ids of a conversation, ready to be answered (engine.chat_format)."""
        return encode_chat(messages, self.tokenizer, thinking)

    def session(self, context: int = 16384, mode: str = "sparse", cap: int = STEP_CAP, cut: str = "equal") -> Session:
        """A new, empty timeline. Raises UserError for an unknown mode or cut, or a context the model does not have."""
        context = min(context, self.config.context_length) if context == _DEFAULT_CONTEXT else context
        return Session(self, context, _choice(Mode, mode, "mode"), cap, _choice(Cut, cut, "cut"), self.rounding)

    def memory_report(self, state: SessionState, steps: Sequence[Step], position: int) -> MemoryReport:
        """The ledger of a session of this model (engine.ledger)."""
        shape = CacheShape.from_config(self.config, state.rounding.row_dtype.itemsize)
        buffers = max((peak_bytes(self.network.backend.step_buffers(shape, step)) for step in steps), default=0)
        return memory_report(shape, position, steps, state.context, self._weight_bytes, buffers, KEPT_CHECKPOINTS)

    def token_program(self, state: SessionState, selects: bool) -> TokenProgram | None:
        """The compiled whole-token program for a session's state, or None where none runs."""
        return self.network.backend.token_program(state, selects)


def load(
    path: str | Path | None = None,
    backend: str = "auto",
    kv_rounding: str | None = None,
    dtype: str = "auto",
    progress: Callable[[int, int], None] | None = None,
    stop: threading.Event | None = None,
    prefix_folder: Path | None = None,
) -> Model:
    """Load a GGUF file or a Hugging Face folder, or the embedded model for None.

    `progress` receives (bytes done, bytes in all). With a `prefix_folder`, long conversations are kept there and found
    again, also by a later process.

    Raises ModelFileError (missing, damaged or unsuitable file), UserError (unknown option, too little memory) or
    Stopped.
    """
    source = open_model(path or resources.embedded_model())
    return load_source(source, backend, kv_rounding, dtype, progress, stop, prefix_folder)


def load_source(
    source: ModelSource,
    backend: str = "auto",
    kv_rounding: str | None = None,
    dtype: str = "auto",
    progress: Callable[[int, int], None] | None = None,
    stop: threading.Event | None = None,
    prefix_folder: Path | None = None,
) -> Model:
    """As `load`, from a source that is already open."""
    cpu_threads()
    config = ModelConfig.from_gguf(source)
    compute = _compute_dtype(dtype)
    tokenizer = tokenizer_of(source, config.vocab)
    if tokenizer.vocab_size > config.vocab:
        raise UserError(f"{source.name}: the tokenizer has {tokenizer.vocab_size} tokens, the model {config.vocab}")
    stored = StoredWeights(source)
    rounding = _choice(KvRounding, kv_rounding or config.default_kv_rounding, "kv_rounding")
    job = LoadJob(stored, rounding, progress, stop)
    engine, weights = place(job, config, backend, compute)
    prefixes = PrefixStore(prefix_folder) if prefix_folder is not None else None
    network = Network(config, weights, engine)
    return Model(_info(source, stored, config, engine), network, tokenizer, rounding, source, prefixes)


def _compute_dtype(name: str) -> torch.dtype:
    if name == "auto":
        return torch.bfloat16 if has_bf16_products() else torch.float32
    if name not in _DTYPES:
        raise UserError(f"dtype {name!r} is not one of auto, {', '.join(_DTYPES)}")
    return _DTYPES[name]


def _choice(kind: type[E], value: str, what: str) -> E:
    try:
        return kind(value)
    except ValueError:
        allowed = ", ".join(str(member.value) for member in kind)
        raise UserError(f"{what} {value!r} is not one of {allowed}") from None


def _info(source: ModelSource, stored: StoredWeights, config: ModelConfig, backend: Backend) -> ModelInfo:
    return ModelInfo(
        name=source.get_str("general.name", source.path.stem),
        path=source.path,
        architecture=source.get_str("general.architecture"),
        parameters=sum(tensor.elements for tensor in source.tensors.values()),
        file_bytes=source.file_bytes,
        quantization=" + ".join(list(stored.weights_by_format())[:2]),
        layers=config.layers,
        context_length=config.context_length,
        backend=backend.name,
        device=backend.device,
        native=backend.native_note,
        advice=read_advice(source),
    )


def _fingerprint(source: ModelSource, config: ModelConfig, dtype: torch.dtype) -> str:
    """Identifies a model and its arithmetic for saved states: compute type, constants, what the file says of number
    formats, vocabulary, tensor table, some of each tensor."""
    digest = hashlib.sha256(f"{dtype} {config} {sorted(source.declared_formats.items())}\n".encode())
    digest.update("\0".join(source.get_strings("tokenizer.ggml.tokens", [])).encode(errors="surrogatepass"))
    for tensor in source.tensors.values():
        digest.update(f"{tensor.name} {tensor.shape} {tensor.type_id}\n".encode())
        digest.update(source.sample(tensor, _SAMPLED_BYTES))
    return digest.hexdigest()
