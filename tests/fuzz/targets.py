"""What is fuzzed: each target takes arbitrary bytes and may end well or in a UserError; anything else is a finding.

The hypothesis tests and the coverage-guided fuzzer run the same functions, and so does the replay of the corpus.
"""

import functools
import hashlib
import io
import json
import os
import sqlite3
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import engine
from app.chat.exchange_export import chat_json, chat_markdown
from app.chat.exchange_import import read_chats, store_chat
from app.documents.reading import read_document
from app.errors import UserError
from app.settings import Settings
from app.settings_file import SettingsFile
from app.store.schema import migrate
from engine.bench.history import load_run
from engine.bench.json_form import run_from_json, run_to_json
from engine.chat_format import Message, Role, encode_chat
from engine.config import ModelConfig
from engine.gguf.reader import GgufFile
from engine.loading import Model
from engine.session import Session
from engine.snapshot import read_header
from engine.tokenizer import CONTROL_NAMES, Tokenizer
from tests.fuzz.byte_source import ByteSource
from tests.fuzz.micro_model import micro_model
from tests.fuzz.model_edits import EDGE_INTEGERS, LARGE_INTEGERS, change

PIECES = (*sorted(CONTROL_NAMES), "Hello ", "\n\n", "é", "日本", "\u200f", "\ud800", "\x00", "0123456789", "}{")


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
        change(parts, source)
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
        read_header(io.BytesIO(blob))
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


def fuzz_chats(data: bytes) -> None:
    """Any bytes as a chat file: refused, or stored, exported in both forms, and read back with the same texts."""
    try:
        found = read_chats(_written(data, ".json"))
    except UserError:
        return
    db = _database()
    for chat in found:
        chat_id = store_chat(db, chat)
        assert chat_markdown(db, chat_id).strip()
        (again,) = read_chats(_written(chat_json(db, chat_id).encode(), ".json"))
        assert [(message.role, message.text) for message in again.messages] == [
            (message.role, message.text) for message in chat.messages
        ]
        db.execute("DELETE FROM chats WHERE id = ?", (chat_id,))


def fuzz_document(data: bytes) -> None:
    """Any bytes as a document; the first says what the file is called."""
    source = ByteSource(data)
    suffix = source.pick((".txt", ".pdf", ".docx", ".md", ""))
    try:
        assert read_document(_written(source.rest(), suffix)).text.strip()
    except UserError:
        return


TARGETS: dict[str, Callable[[bytes], None]] = {
    "gguf": fuzz_gguf,
    "model": fuzz_model,
    "chat": fuzz_chat,
    "snapshot": fuzz_snapshot,
    "settings": fuzz_settings,
    "benchmark": fuzz_benchmark,
    "chats": fuzz_chats,
    "document": fuzz_document,
}


def prepare() -> None:
    """Do what is done once per process, so that no input pays for it or has it counted as its own."""
    _saved_state()
    _database()
    fuzz_model(b"")
    import docx  # what a first document would import
    import pypdf

    assert docx and pypdf


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
def _database() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA foreign_keys = ON")
    migrate(db)
    return db


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


def _sealed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def _changed_snapshot(blob: bytes, source: ByteSource) -> bytes:
    """Change header fields, or bytes anywhere, and seal the result."""
    length = struct.unpack_from("<I", blob, 12)[0]
    header, body = json.loads(blob[16 : 16 + length]), bytearray(blob[16 + length : -32])
    for _ in range(source.number(4)):
        key = source.pick(("tokens", "fingerprint", "mode", "rounding", "points", "shapes"))
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
