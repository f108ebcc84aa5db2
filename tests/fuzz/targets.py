"""What is fuzzed: each target takes arbitrary bytes and may end well or in a UserError; anything else is a finding.

The hypothesis tests and the coverage-guided fuzzer run the same functions, and so does the replay of the corpus.
"""

import functools
import hashlib
import json
import os
import struct
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import engine
from app.errors import UserError
from app.settings import Settings
from app.settings_file import SettingsFile
from engine.bench_history import load_run
from engine.bench_json import run_from_json, run_to_json
from engine.chat_format import Message, Role, encode_chat
from engine.config import ModelConfig
from engine.gguf import GgufFile
from engine.loading import Model
from engine.session import Session
from engine.snapshot import read_header
from engine.tokenizer import CONTROL_NAMES, Tokenizer
from tests.engine.gguf_bytes import ARR, BOOL, F32, F64, I32, I64, STR, U32, U64, Tensor, array, scalar
from tests.fuzz.byte_source import ByteSource
from tests.fuzz.micro_model import Parts, micro_model

EDGE_INTEGERS = (0, 1, 2, 3, 4, 5, 7, 8, 100, 127, 128, 129, 255, 256, 4096, 65_535, 1 << 20, (1 << 20) + 1)
LARGE_INTEGERS = (1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
EDGE_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-30, 1e-45, 3e38, -3e38, 1e308, 5e-324, 10_000.0)
PIECES = (*sorted(CONTROL_NAMES), "Hello ", "\n\n", "é", "日本", "\u200f", "\ud800", "\x00", "0123456789", "}{")
TYPE_IDS = (0, 1, 2, 8, 10, 12, 14, 16, 26, 30, 107, 999)


def fuzz_gguf(data: bytes) -> None:
    """Any bytes as a model file: everything the reader hands out lies inside the file."""
    try:
        file = GgufFile.open(_written(data, ".gguf"))
    except UserError:
        return
    with file:
        for info in file.tensors.values():
            assert len(file.data(info)) == info.nbytes and info.offset + info.nbytes <= len(data)
        for read in (ModelConfig.from_gguf, Tokenizer.from_gguf):
            _allow_user_error(functools.partial(read, file))


def fuzz_model(data: bytes) -> None:
    """A sound model with some of its metadata and tensors changed: refused, or loaded and able to answer."""
    source, parts = ByteSource(data), micro_model()
    while not source.is_empty:
        _change(parts, source)
    try:
        model = engine.load(_written(parts.file(), ".gguf"), backend="cpu", dtype="float32")
        session = model.session(context=64)
        logits = session.prefill([2, 70, 71, 72, 3])
        session.decode(int(logits.argmax()))
    except UserError:
        return


def fuzz_chat(data: bytes) -> None:
    """Any conversation: its control tokens depend on the roles alone, and each text comes back from its ids."""
    source, tokenizer = ByteSource(data), _model().tokenizer
    thinking = source.flag()
    talk = []
    while not source.is_empty:
        content = "".join(_piece(source) for _ in range(source.number(5)))
        talk.append(Message(source.pick(list(Role)), content, _piece(source)))
    try:
        prompt = encode_chat(talk, tokenizer, thinking)
    except UserError:
        return
    control = set(tokenizer.control_ids.values())
    frame = [token for token in prompt if token in control]
    answers = sum(message.role is Role.ASSISTANT for message in talk)
    assert len(frame) == 4 * (answers + 1), "a text has changed the frame"
    said = tokenizer.decode([token for token in prompt if token not in control])
    assert len(said) >= sum(len(message.content) for message in talk), "a text is cut"


def fuzz_snapshot(data: bytes) -> None:
    """A saved state with changed bytes and a right checksum, or any bytes: restored whole, or nothing is changed."""
    source, session, before = ByteSource(data), _session(), _saved_state()
    blob = _changed_snapshot(before, source) if source.flag() else _sealed(source.rest())
    try:
        read_header(blob)
        session.restore(blob)
    except UserError:
        assert session.snapshot() == before
        return
    if session.position < session.context:
        session.decode(70)
    session.restore(before)


def fuzz_settings(data: bytes) -> None:
    """Any bytes as settings.toml: read with or without complaints, and what is then saved is read back."""
    path = _written(data, ".toml")
    file = SettingsFile(path)
    loaded = file.load()
    assert isinstance(loaded.settings, Settings) and all(problem.strip() for problem in loaded.problems)
    try:
        file.save(loaded.settings)
    except UserError:
        return
    for aside in path.parent.glob(path.name + ".damaged-*"):
        aside.unlink()
    assert SettingsFile(path).load().settings == loaded.settings


def fuzz_benchmark(data: bytes) -> None:
    """Any bytes as a saved benchmark run: refused, or the same again after a round trip."""
    try:
        run = load_run(_written(data, ".json")).run
    except UserError:
        return
    assert run_from_json(run_to_json(run)) == run


TARGETS: dict[str, Callable[[bytes], None]] = {
    "gguf": fuzz_gguf,
    "model": fuzz_model,
    "chat": fuzz_chat,
    "snapshot": fuzz_snapshot,
    "settings": fuzz_settings,
    "benchmark": fuzz_benchmark,
}


def prepare() -> None:
    """Do what is done once per process, so that no input pays for it or has it counted as its own."""
    _saved_state()
    fuzz_model(b"")


@functools.cache
def _scratch() -> Path:
    shared = Path("/dev/shm")
    folder = tempfile.mkdtemp(prefix="haloband-fuzz-", dir=shared if os.access(shared, os.W_OK) else None)
    return Path(folder)


def _written(data: bytes, suffix: str) -> Path:
    """A fresh file for each input: an earlier one may still be mapped."""
    path = _scratch() / f"input{suffix}"
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    return path


def _allow_user_error(read: Callable[[], object]) -> None:
    try:
        read()
    except UserError:
        return


@functools.cache
def _model() -> Model:
    path = _scratch() / "micro.gguf"
    path.write_bytes(micro_model().file())
    return engine.load(path, backend="cpu", dtype="float32")


@functools.cache
def _session() -> Session:
    session = _model().session(context=64)
    session.prefill([2, 70, 71])
    return session


@functools.cache
def _saved_state() -> bytes:
    return _session().snapshot()


def _piece(source: ByteSource) -> str:
    return source.pick(PIECES) if source.flag() else source.text(16)


def _change(parts: Parts, source: ByteSource) -> None:
    """One change to the model's metadata (mostly) or tensors."""
    if source.number(4):
        index = source.number(len(parts.keys))
        name, kind, _ = parts.keys[index]
        action = source.number(8)
        if action == 0:
            del parts.keys[index]
        else:
            parts.keys[index] = (name, *_value(kind, source, keep_type=action < 6))
        return
    index = source.number(len(parts.tensors))
    tensor, content = parts.tensors[index]
    if source.number(8) == 0:
        del parts.tensors[index]
        return
    ne = tuple(source.pick(EDGE_INTEGERS) if source.number(3) == 0 else size for size in tensor.ne)
    type_id = source.pick(TYPE_IDS) if source.flag() else tensor.type_id
    body = (content + bytes(1 << 14))[: source.number(1 << 14)] if source.flag() else content
    patch = source.chunk(16)
    parts.tensors[index] = (Tensor(tensor.name, ne, type_id, 0), patch + body[len(patch) :])


def _value(kind: int, source: ByteSource, keep_type: bool) -> tuple[int, bytes]:
    """A packed value; of the same type if `keep_type`."""
    chosen = kind if keep_type else source.pick((U32, I32, I64, U64, F32, F64, BOOL, STR, ARR))
    choices: dict[int, Sequence[object]] = {
        U32: EDGE_INTEGERS + LARGE_INTEGERS[:2],
        U64: EDGE_INTEGERS + LARGE_INTEGERS,
        I32: (-1, -(1 << 31), *EDGE_INTEGERS),
        I64: (-1, -(1 << 63), *EDGE_INTEGERS),
        F32: [value for value in EDGE_FLOATS if abs(value) < 3.4e38],
        F64: EDGE_FLOATS,
        BOOL: (False, True),
    }
    if chosen in choices:
        return chosen, scalar(chosen, source.pick(choices[chosen]))
    return chosen, scalar(STR, source.chunk(40)) if chosen == STR else _array(source)


def _array(source: ByteSource) -> bytes:
    count = source.pick((0, 1, 2, 3, 4, 262))
    kind = source.pick((I32, F32, STR, U64))
    if kind == STR:
        return array(STR, [source.chunk(8) for _ in range(count)])
    if kind == F32:
        return array(F32, [source.pick((0.0, 1.0, -1.0, 3e38)) for _ in range(count)])
    return array(kind, [source.pick((0, 4, 128, 1, 3, 127, 2**31 - 1)) for _ in range(count)])


def _sealed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def _changed_snapshot(blob: bytes, source: ByteSource) -> bytes:
    """Change header fields, or bytes anywhere, and seal the result."""
    length = struct.unpack_from("<I", blob, 12)[0]
    header, body = json.loads(blob[16 : 16 + length]), bytearray(blob[16 + length : -32])
    for _ in range(source.number(4)):
        key = source.pick(("tokens", "fingerprint", "rounding", "shapes"))
        header[key] = _json_value(source)
    for _ in range(source.number(4)):
        if body:
            body[source.number(len(body))] = source.number(256)
    if source.flag():
        del body[source.number(len(body) + 1) :]
    text = json.dumps(header).encode() if source.flag() else source.chunk()
    return _sealed(blob[:12] + struct.pack("<I", len(text)) + text + bytes(body))


def _json_value(source: ByteSource, depth: int = 0) -> object:
    choice = source.number(8)
    if choice == 0 and depth < 4:
        return [_json_value(source, depth + 1) for _ in range(source.number(4))]
    if choice == 1:
        return [2, 70, 71, source.pick((*EDGE_INTEGERS, *LARGE_INTEGERS, -1))][: source.number(5)]
    return source.pick((None, True, 0, -1, 1.5, 1 << 70, "", "f16", "e4m3", {}, {"a": 1}, [], [[]]))
