"""How `haloband chat` shows an answer: streamed text or one JSON object on stdout, progress and speeds on stderr.

Used by app.commands.chat on the main thread. stderr only speaks when a person watches it.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict
from typing import TextIO

from app.commands.progress_line import ProgressLine, bar
from app.plain_words import significant
from engine.events import Event, Finished, FinishReason, PrefillAdvanced, TokenDecoded

_REASONS = {
    FinishReason.STOPPED: "stopped",
    FinishReason.LENGTH: "stopped at the longest answer allowed (--max-tokens)",
    FinishReason.CONTEXT: "stopped because the context is full (--context)",
}


class AnswerWriter(ABC):
    """Takes the events of one answer."""

    @abstractmethod
    def write(self, events: Iterator[Event], progress: ProgressLine, model_name: str) -> bool:
        """Show the answer; False when it was stopped by the person."""


class TextWriter(AnswerWriter):
    """The answer's text as it comes, and a line of speeds for whoever watches stderr."""

    def __init__(self, out: TextIO, notes: TextIO) -> None:
        self._out, self._notes = out, notes
        _make_lenient(out)

    def write(self, events: Iterator[Event], progress: ProgressLine, model_name: str) -> bool:
        del model_name
        ends_line = True
        reason = FinishReason.STOPPED
        for event in events:
            text = ""
            if isinstance(event, PrefillAdvanced):
                progress.show(reading_line(event))
            elif isinstance(event, TokenDecoded):
                text = "" if event.thinking else event.text
            elif isinstance(event, Finished):
                text, reason = event.text_tail, event.reason
            if text:
                progress.clear()
                self._out.write(text)
                self._out.flush()
                ends_line = text.endswith("\n")
            if isinstance(event, Finished):
                progress.clear()
                self._end(event, ends_line)
        return reason is not FinishReason.STOPPED

    def _end(self, event: Finished, ends_line: bool) -> None:
        if not ends_line:
            self._out.write("\n")
            self._out.flush()
        if self._notes.isatty():
            if event.reason in _REASONS:
                print(_REASONS[event.reason], file=self._notes)
            print(speed_line(event), file=self._notes)


class JsonWriter(AnswerWriter):
    """One JSON object when the answer is finished."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, events: Iterator[Event], progress: ProgressLine, model_name: str) -> bool:
        parts: list[str] = []
        finished: Finished | None = None
        for event in events:
            if isinstance(event, PrefillAdvanced):
                progress.show(reading_line(event))
            elif isinstance(event, TokenDecoded) and not event.thinking:
                progress.clear()
                parts.append(event.text)
            elif isinstance(event, Finished):
                finished = event
        progress.clear()
        if finished is None:
            raise AssertionError("an answer ended without its last event")
        answer = {
            "model": model_name,
            "text": "".join(parts) + finished.text_tail,
            "finish_reason": finished.reason.value,
            "usage": asdict(finished.usage),
            "timings": asdict(finished.timings),
        }
        # ASCII with escapes, so that any stdout encoding carries it.
        print(json.dumps(answer, indent=2), file=self._out, flush=True)
        return finished.reason is not FinishReason.STOPPED


def reading_line(event: PrefillAdvanced) -> str:
    """`reading the prompt [####....]  34 %  3,105 of 9,133 tokens, 2,040 tok/s, 3 s left`"""
    line = f"reading the prompt {bar(event.tokens_done / event.tokens_total)}"
    line += f"  {event.tokens_done:,} of {event.tokens_total:,} tokens"
    if event.tok_s:
        line += (
            f", {significant(event.tok_s)} tok/s, {(event.tokens_total - event.tokens_done) / event.tok_s:.0f} s left"
        )
    return line


def speed_line(event: Finished) -> str:
    """`9,133 tokens read at 2,040 tok/s, 128 written at 391 tok/s`"""
    computed = event.usage.prompt_tokens - event.usage.cached_tokens
    return (
        f"{computed:,} tokens read at {significant(event.timings.prefill_tok_s)} tok/s, "
        f"{event.usage.completion_tokens:,} written at {significant(event.timings.decode_tok_s)} tok/s"
    )


def _make_lenient(out: TextIO) -> None:
    """Show a mark for characters that this terminal's encoding lacks, rather than fail in the middle of an answer."""
    reconfigure = getattr(out, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
