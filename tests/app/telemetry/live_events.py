"""Events of made-up runs for the Live panel's tests, in the shape of V4-Flash: 43 layers."""

from app.protocol.events import AnswerFinished, AnswerStarted, Event, MemoryReported, PrefillProgressed, TextArrived
from engine.events import Finished, FinishReason, PrefillAdvanced, Timings, Usage
from engine.ledger import LayerMemory, MemoryReport

LAYERS = 43


def ratio_of(layer: int) -> int:
    return 0 if layer < 2 else (4 if layer % 2 == 0 else 128)


def flash_report(tokens: int) -> MemoryReport:
    """Bytes of a V4-Flash session after one step of `tokens` tokens from an empty session."""
    layers = []
    for layer in range(LAYERS):
        ratio = ratio_of(layer)
        rows = tokens // ratio if ratio else 0
        layers.append(
            LayerMemory(
                layer, ratio, 128 * 1024, rows * 1024, rows * 256 if ratio == 4 else 0, 65536 if ratio else 0,
                tokens * 64 * 512 * 2, 4 * tokens * (tokens + rows),
            )
        )  # fmt: skip
    return MemoryReport(tokens, tuple(layers), 1 << 30, 1 << 33, 1 << 34)


def progress(layer: int, tokens: int = 9133, cached: int = 0, tok_s: float | None = 252.0) -> PrefillAdvanced:
    done = cached + (tokens - cached) * layer // LAYERS
    return PrefillAdvanced(1, 1, 1, tokens - cached, layer, LAYERS, done, tokens, cached, tok_s)


def started(tokens: int = 9133) -> Event:
    return AnswerStarted(1, 1, tokens)


def read_layer(layer: int, tokens: int = 9133, cached: int = 0, tok_s: float | None = 252.0) -> Event:
    return PrefillProgressed(1, 1, progress(layer, tokens, cached, tok_s))


def text(tokens: int, tok_s: float | None = 19.2) -> Event:
    return TextArrived(1, 1, "", "x", tokens, 0, tok_s)


def memory(tokens: int = 9133) -> Event:
    return MemoryReported(1, 1, flash_report(tokens))


def finished(
    prompt: int = 9133, cached: int = 0, answer: int = 128, reason: FinishReason = FinishReason.END
) -> AnswerFinished:
    timings = Timings(36.2, 6.6, 36.25, 252.29, 19.24)
    return AnswerFinished(1, 1, Finished(1, reason, "", Usage(prompt, cached, answer), timings))
