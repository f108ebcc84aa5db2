"""Do engine and window run here? The embedded model answers a few tokens in a process of its own.

A broken GPU library can take a process down with it, and torch takes seconds to import: so `haloband doctor` starts
itself once more with --self-test, which prints one line of JSON (`run_self_test`), and judges how that ended.
"""

import importlib
import json
import re
from collections.abc import Iterator
from typing import Any

from app.doctor.finding import Finding, Severity, Topic
from app.doctor.hardware import Hardware
from app.doctor.host import CommandResult, Host

_KEY, _TITLE = "engine", "Engine"
_PROMPT_TOKENS = 16
_ERROR_LINE = re.compile(r"(\w+\.)*\w*(Error|Exception|Interrupt)\b|haloband: ")


def run_self_test() -> dict[str, Any]:
    """Load the embedded model, read a few tokens, make one; what ran where. Raises whatever fails."""
    import torch

    import engine

    model = engine.load(None)
    session = model.session(context=256)
    logits = session.prefill(model.tokenizer.encode("The quick brown fox jumps over the lazy dog.")[:_PROMPT_TOKENS])
    logits = session.decode(int(logits.argmax()))
    return {
        "finite": bool(torch.isfinite(logits).all()),
        "backend": model.info.backend,
        "device": model.info.device,
        "native": model.info.native,
        "torch": torch.__version__,
        "torch_sees_gpu": bool(torch.cuda.is_available()),
        "window_error": _window_error(),
    }


def _window_error() -> str | None:
    """What stands against opening the window: its modules are imported, charts included; nothing is shown."""
    try:
        for name in ("app.main_window", "pyqtgraph"):
            importlib.import_module(name)
    except Exception as error:  # any failure of an import is an answer
        return f"{type(error).__name__}: {error}"
    return None


def check_self_test(host: Host, hardware: Hardware) -> Iterator[Finding]:
    """Findings on the engine, the window, the processor's kernels, and whether torch sees the GPU."""
    done = host.run(host.self_test_command)
    answer = _parse(done)
    if answer is None:
        yield _failed(done)
        return
    where = f"{answer.get('backend')} on {answer.get('device')}"
    if answer.get("finite") is not True:
        advice = "Report this: a model that ships with Haloband must give finite numbers on every machine."
        yield Finding(_KEY, Topic.SOFTWARE, _TITLE, Severity.PROBLEM, f"{where}: not finite", "finite numbers", advice)
        return
    yield Finding(_KEY, Topic.SOFTWARE, _TITLE, Severity.OK, f"the embedded model answers ({where})", "it answers")
    yield from _window(answer)
    yield _native(answer)
    if hardware.has_amd and answer.get("torch_sees_gpu") is not True:
        yield Finding(
            "torch_gpu",
            Topic.SOFTWARE,
            "torch and the GPU",
            Severity.PROBLEM,
            f"torch {answer.get('torch')} sees no GPU",
            "it sees the GPU",
            "Follow the lines above on access, ROCm and torch first; then see `rocminfo`.",
        )


def _window(answer: dict[str, Any]) -> Iterator[Finding]:
    error = answer.get("window_error")
    if error:
        advice = "Run `make setup`; where a library is named, install it. The commands work without the window."
        yield Finding("window", Topic.SOFTWARE, "Window", Severity.PROBLEM, str(error), "it can be opened", advice)


def _native(answer: dict[str, Any]) -> Finding:
    native = answer.get("native")
    title, wanted = "Processor kernels", "compiled kernels for this processor"
    if native:
        return Finding("cpu_kernels", Topic.SPEED, title, Severity.OK, str(native), wanted)
    advice = "Install a C++ compiler (`sudo apt install g++`) and run `make setup` again."
    found = "none: torch does the work, several times slower after short prompts"
    severity = Severity.NOTE if answer.get("backend") != "cpu" else Severity.WARNING
    return Finding("cpu_kernels", Topic.SPEED, title, severity, found, wanted, advice)


def _parse(done: CommandResult | None) -> dict[str, Any] | None:
    """The last line of the output, if the process ended by itself and it is a JSON object."""
    if done is None or done.status < 0:
        return None
    try:
        answer = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def _last_words(output: str) -> str:
    """The line that names the error; other lines may follow it."""
    lines = output.strip().splitlines() or ["no message"]
    return next((line for line in reversed(lines) if _ERROR_LINE.match(line)), lines[-1])


def _failed(done: CommandResult | None) -> Finding:
    if done is None:
        found = "did not start, or did not end in two minutes"
    elif done.status < 0:
        found = f"was killed by signal {-done.status} while loading"
    else:
        found = f"ended with status {done.status}: {_last_words(done.stderr)}"
    advice = (
        "Run `haloband doctor --self-test` to see all of it. A torch or a driver that does not fit is the usual cause."
    )
    return Finding(_KEY, Topic.SOFTWARE, _TITLE, Severity.PROBLEM, found, "the embedded model answers", advice)
