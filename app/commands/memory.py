"""`haloband memory`: what a prompt of some length would hold, layer by layer, from a model's shape alone.

Called by app.cli on the main thread. It reads at most the headers of a model's files: no weights, no torch.
"""

import argparse
import contextlib
import json
from pathlib import Path

from app.commands.memory_views import MemoryForecast, as_json, as_text
from engine.cache_shape import F16_BYTES, F32_BYTES, CacheShape
from engine.config import ModelConfig
from engine.errors import UserError
from engine.ledger import memory_report
from engine.model_source import open_model
from engine.plan import STEP_CAP, Cut, cut_prompt
from engine.step_buffers import BufferStyle, peak_bytes, step_buffers

LONGEST_CONTEXT = 1 << 20  # tokens: what DS4 models were made for
_NAMED_SHAPES = {"v4-flash": CacheShape.v4_flash}
_ROW_BYTES = {"f16": F16_BYTES, "f32": F32_BYTES}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--config", choices=sorted(_NAMED_SHAPES), help="a known shape (default: v4-flash)")
    which.add_argument(
        "--model", type=Path, metavar="FILE", help="the shape of a GGUF file or a model's folder; only headers are read"
    )
    parser.add_argument("--tokens", type=int, required=True, metavar="N", help="length of the prompt")
    parser.add_argument(
        "--context", type=int, metavar="N", help="tokens to allocate a session for (default: the prompt)"
    )
    parser.add_argument(
        "--cap", type=int, default=STEP_CAP, metavar="N", help=f"most tokens in a step (default: {STEP_CAP})"
    )
    parser.add_argument(
        "--cut",
        choices=[cut.value for cut in Cut],
        default=Cut.EQUAL.value,
        help="how a prompt becomes steps (default: equal)",
    )
    parser.add_argument(
        "--rows", choices=sorted(_ROW_BYTES), default="f16", help="type of the stored rows (default: f16)"
    )
    parser.add_argument("--json", action="store_true", help="every number of every layer, for programs")


def run(args: argparse.Namespace) -> int:
    """Print the ledger. Raises UserError for numbers that make no sense, ModelFileError for an unsuitable file."""
    forecast = make_forecast(args)
    print(json.dumps(as_json(forecast), indent=2) if args.json else as_text(forecast))
    return 0


def make_forecast(args: argparse.Namespace) -> MemoryForecast:
    """The numbers behind both views."""
    name, shape, weight_bytes, longest = _read_shape(args)
    context = args.tokens if args.context is None else args.context
    _require(1 <= args.tokens <= longest, f"--tokens {args.tokens} is outside 1 to {longest}")
    _require(args.tokens <= context <= longest, f"--context {context} is outside {args.tokens} to {longest}")
    _require(1 <= args.cap <= STEP_CAP, f"--cap {args.cap} is outside 1 to {STEP_CAP}")
    steps = cut_prompt(0, args.tokens, args.cap, Cut(args.cut))
    buffers = max((step_buffers(shape, step, BufferStyle()) for step in steps), key=peak_bytes)
    report = memory_report(shape, args.tokens, steps, context, weight_bytes or 0, peak_bytes(buffers))
    return MemoryForecast(name, shape, context, steps, report, buffers, weight_bytes)


def _read_shape(args: argparse.Namespace) -> tuple[str, CacheShape, int | None, int]:
    """Name, shape, bytes of the weights as stored (None without a file), and the longest context."""
    row_bytes = _ROW_BYTES[args.rows]
    if args.model is None:
        name = args.config or "v4-flash"
        return name, _NAMED_SHAPES[name](row_bytes), None, LONGEST_CONTEXT
    with contextlib.closing(open_model(args.model)) as source:
        config = ModelConfig.from_gguf(source)
        name = source.get_str("general.name", args.model.stem)
        weights = sum(tensor.nbytes for tensor in source.tensors.values())
    return name, CacheShape.from_config(config, row_bytes), weights, config.context_length


def _require(holds: bool, complaint: str) -> None:
    if not holds:
        raise UserError(complaint)
