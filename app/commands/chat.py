"""`haloband chat`: one question to the model, the answer streamed to stdout, no window and nothing stored.

Called by app.cli on the main thread. Ctrl+C ends the answer and keeps what was said; a second one ends the program.
"""

import argparse
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from app.commands.chat_output import AnswerWriter, JsonWriter, TextWriter
from app.commands.interrupts import STOPPED_STATUS, stop_on_interrupt
from app.commands.progress_line import ProgressLine
from app.errors import UserError
from engine.partial_sampling import UNSAID, PartialSampling

if TYPE_CHECKING:
    from engine.chat_format import Message
    from engine.events import Event
    from engine.loading import Model

_MAX_TOKENS = 512


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("text", nargs="?", help='the question; "-" reads it from standard input')
    parser.add_argument(
        "--file", action="append", default=[], type=Path, metavar="F", help="put a text, PDF or DOCX file first"
    )
    parser.add_argument(
        "--model", type=Path, metavar="FILE", help="a GGUF file or a model's folder; default: the embedded model"
    )
    parser.add_argument("--system", metavar="TEXT", help="instructions that come before the conversation")
    parser.add_argument(
        "--max-tokens", type=int, default=_MAX_TOKENS, metavar="N", help=f"longest answer (default: {_MAX_TOKENS})"
    )
    parser.add_argument("--context", type=int, metavar="N", help="tokens to hold (default: what is needed)")
    parser.add_argument("--mode", choices=["sparse", "dense", "exact"], default="sparse", help="how rows are selected")
    group = parser.add_argument_group(
        "sampling", "Left out, each is what the model advises, or else the engine's default."
    )
    group.add_argument("--temperature", type=float, metavar="T", help="0 always takes the likeliest token")
    group.add_argument("--top-p", type=float, metavar="P", help="keep the likeliest tokens up to this probability")
    group.add_argument("--top-k", type=int, metavar="K", help="keep the K likeliest tokens; 0 keeps all")
    group.add_argument("--min-p", type=float, metavar="P", help="keep tokens at least P times as likely as the best")
    group.add_argument("--seed", type=int, metavar="N", help="repeat the same answer")
    parser.add_argument("--json", action="store_true", help="print text, usage and timings as JSON at the end")


def run(args: argparse.Namespace) -> int:
    """Answer; 0 when the answer is whole, 130 when it was stopped. Raises UserError and EngineError for app.cli."""
    question = read_question(args.text, args.file)
    if args.max_tokens < 1:
        raise UserError(f"--max-tokens is {args.max_tokens}, but an answer has at least 1 token.")
    writer: AnswerWriter = JsonWriter(sys.stdout) if args.json else TextWriter(sys.stdout, sys.stderr)
    stop = threading.Event()
    with stop_on_interrupt(stop), ProgressLine(sys.stderr) as progress:
        is_whole = _answer(args, question, writer, progress, stop)
    return 0 if is_whole else STOPPED_STATUS


def read_question(text: str | None, files: list[Path]) -> str:
    """The files as documents in front of the question, as the window sends them. Raises UserError when nothing is asked
    and DocumentError for a file that cannot be read."""
    if text is None and not files:
        raise UserError('Nothing was asked; give a question, "-" to read it from standard input, or --file.')
    if text == "-":
        from app.documents.plain_text import decode

        text = decode("standard input", sys.stdin.buffer.read()).strip("\n")
    if text is not None and not text.strip():
        raise UserError("The question is empty.")
    if not files:
        return text or ""
    from app.documents.prompt import question_with_documents
    from app.documents.reading import read_document  # here: it loads Qt's core for translated messages

    documents = [read_document(path) for path in files]
    return question_with_documents(text or "", [(document.name, document.text) for document in documents])


def _answer(
    args: argparse.Namespace, question: str, writer: AnswerWriter, progress: ProgressLine, stop: threading.Event
) -> bool:
    """Load, read, answer. False when it was stopped on the way."""
    from engine.chat_format import Message, Role  # here and not above: torch takes seconds, wrong usage is told before
    from engine.errors import Stopped

    wishes = _wishes(args)
    messages = [Message(Role.SYSTEM, args.system)] if args.system else []
    messages.append(Message(Role.USER, question))
    try:
        model = _load(args.model, progress.counting("loading the model"), stop)
    except Stopped:
        progress.clear()
        return False
    return writer.write(_events(model, messages, args, wishes, stop), progress, model.info.name)


def _load(path: Path | None, progress: Callable[[int, int], None], stop: threading.Event) -> "Model":
    import engine

    return engine.load(path, progress=progress, stop=stop)


def _wishes(args: argparse.Namespace) -> PartialSampling:
    """What was asked for. Raises UserError for a number out of range, before a model is loaded."""
    from engine.sampling import sampling_of

    wishes = PartialSampling(args.temperature, args.top_p, args.top_k, args.min_p)
    sampling_of(wishes, UNSAID, args.seed)
    return wishes


def _events(
    model: "Model", messages: "list[Message]", args: argparse.Namespace, wishes: PartialSampling, stop: threading.Event
) -> "Iterator[Event]":
    from engine.sampling import sampling_of

    ids = model.encode_chat(messages)
    # A session allocates its whole context, so without a wish it is as long as this answer can get.
    needed = min(len(ids) + args.max_tokens, model.info.context_length)
    context = needed if args.context is None else args.context
    sampling = sampling_of(wishes, model.info.advice, args.seed)
    return model.session(context=context, mode=args.mode).generate(ids, sampling, args.max_tokens, stop)
