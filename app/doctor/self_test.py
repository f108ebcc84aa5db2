"""Do engine and window run here? The embedded model answers a few tokens in a process of its own.

A broken GPU library can take a process down with it, and torch takes seconds to import: so `haloband doctor` starts
itself once more with --self-test, which prints one line of JSON (a `SelfTest`), and judges how that ended.
"""

import importlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.doctor.finding import Finding, Severity, Topic
from app.doctor.hardware import Hardware
from app.doctor.host import CommandResult, Host

_KEY, _TITLE = "engine", "Engine"
_PROMPT_TOKENS = 16
_ERROR_LINE = re.compile(r"(\w+\.)*\w*(Error|Exception|Interrupt)\b|haloband: ")
_SWITCH = "HALOBAND_NATIVE"  # the engine's reason names it where it keeps the processor's kernels off


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What ran where. `native_note` speaks of the model's run, `cpu_variant` and `cpu_reason` as in `CpuKernels`."""

    finite: bool
    backend: str
    device: str
    native_note: str
    cpu_variant: str | None
    cpu_reason: str
    torch: str
    torch_sees_gpu: bool
    window_error: str | None


def run_self_test() -> SelfTest:
    """Load the embedded model, read a few tokens, make one. Raises whatever fails."""
    import torch

    import engine
    from engine.backends.cpu_kernels import cpu_kernels

    model = engine.load(None)
    session = model.session(context=256)
    logits = session.prefill(model.tokenizer.encode("The quick brown fox jumps over the lazy dog.")[:_PROMPT_TOKENS])
    logits = session.decode(int(logits.argmax()))
    compiled = cpu_kernels()
    return SelfTest(
        finite=bool(torch.isfinite(logits).all()),
        backend=model.info.backend,
        device=model.info.device,
        native_note=model.info.native or "",
        cpu_variant=compiled.variant,
        cpu_reason=compiled.reason,
        torch=torch.__version__,
        torch_sees_gpu=bool(torch.cuda.is_available()),
        window_error=_window_error(),
    )


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
    if not answer.finite:
        found = f"{answer.backend} on {answer.device}: not finite"
        advice = "Report this: a model that ships with Haloband must give finite numbers on every machine."
        yield Finding(_KEY, Topic.SOFTWARE, _TITLE, Severity.PROBLEM, found, "finite numbers", advice)
        return
    found = f"the embedded model answers ({answer.backend} on {answer.device}; {answer.native_note})"
    yield Finding(_KEY, Topic.SOFTWARE, _TITLE, Severity.OK, found, "it answers")
    yield from _window(answer)
    yield _cpu_kernels(host, answer)
    if hardware.has_amd and not answer.torch_sees_gpu:
        yield Finding(
            "torch_gpu",
            Topic.SOFTWARE,
            "torch and the GPU",
            Severity.PROBLEM,
            f"torch {answer.torch} sees no GPU",
            "it sees the GPU",
            "Follow the lines above on access, ROCm and torch first; then see `rocminfo`.",
        )


def _window(answer: SelfTest) -> Iterator[Finding]:
    error = answer.window_error
    if error:
        advice = "Run `make setup`; where a library is named, install it. The commands work without the window."
        yield Finding("window", Topic.SOFTWARE, "Window", Severity.PROBLEM, error, "it can be opened", advice)


def _cpu_kernels(host: Host, answer: SelfTest) -> Finding:
    key, title, wanted = "cpu_kernels", "Processor kernels", "compiled kernels for this processor"
    facts = {"reason": answer.cpu_reason}
    if answer.cpu_variant:
        return Finding(key, Topic.SPEED, title, Severity.OK, answer.cpu_variant, wanted, "", facts)
    found = "none: torch does the work, several times slower after short prompts"
    severity = Severity.NOTE if answer.backend != "cpu" else Severity.WARNING
    return Finding(key, Topic.SPEED, title, severity, found, wanted, _way_to_kernels(host, answer), facts)


def _way_to_kernels(host: Host, answer: SelfTest) -> str:
    if _SWITCH in answer.cpu_reason:
        return f"Start Haloband without the variable {_SWITCH}."
    if host.is_packaged:
        return "Install Haloband again: its package brings these kernels along, and no compiler is needed."
    # A plain `make setup` sees that everything is installed, and does nothing.
    return "Install a C++ compiler (`sudo apt install g++`) and run `make -B setup`."


def _parse(done: CommandResult | None) -> SelfTest | None:
    """The last line of the output, if the process ended by itself and it is what a self-test writes."""
    if done is None or done.status < 0:
        return None
    try:
        return SelfTest(**json.loads(done.stdout.strip().splitlines()[-1]))
    except (ValueError, TypeError, IndexError, RecursionError):
        return None


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
