"""The engine is imported on a thread without stopping the others, and models are freed without the collector's help."""

import gc
import subprocess
import sys
import weakref
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.protocol.events import AnswerFinished, LoadFailed, ModelLoaded
from app.protocol.requests import SamplingChoice
from app.real_engine import load_engine_model
from engine.partial_sampling import PartialSampling
from tests.app.host_recorder import HostRecorder, question

ROOT = Path(__file__).parents[2]
_CHILD = """
import gc, sys
from app.preload import import_engine, preload_torch
assert "torch" not in sys.modules
opened = preload_torch()
import_engine()
import torch
assert torch.ones(3).sum().item() == 3
assert gc.get_freeze_count() > 10_000
assert not preload_torch(), "a second time there is nothing to open"
print(opened)
"""


def test_torch_works_after_its_libraries_were_opened_before() -> None:
    done = subprocess.run([sys.executable, "-c", _CHILD], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(sys.platform.startswith("linux"))


def test_the_window_does_not_wait_for_torch() -> None:
    """Nothing that a window imports brings torch or the tokenizers library with it."""
    child = "import app.chat.service, app.engine_host, sys; print({'torch', 'tokenizers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", child], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "set()", done.stderr


def test_the_real_engine_answers_behind_the_host_and_is_freed_by_a_switch(qtbot: QtBot) -> None:
    class Real:
        load = staticmethod(load_engine_model)

    host = HostRecorder(qtbot, Real())  # type: ignore[arg-type]  # the real loader in the fake's place
    try:
        host.load()
        assert host.of(ModelLoaded), host.of(LoadFailed)
        job = host.host.ask(
            1, question("Hello"), SamplingChoice(PartialSampling(temperature=0.0)), max_tokens=8, context=2048
        )
        end = host.wait_end(job)
        assert isinstance(end, AnswerFinished)
        assert end.finished.usage.completion_tokens > 0
        assert host.text(job)
        gone = weakref.ref(host.host._worker._model)
        assert not gc.isenabled()  # as in the program: a model in a reference cycle would stay
        host.load()
        host.wait(lambda: gone() is None)
    finally:
        assert host.host.shutdown()
