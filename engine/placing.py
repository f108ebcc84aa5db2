"""Brings a model's weights onto a machine: the GPU where there is one that can run it, the CPU otherwise.

Called by engine.loading on the loading thread. The backend's note says why the other way was not taken.
"""

import logging
import threading
from dataclasses import dataclass

import torch

from engine.backends import NoGpu, cpu_backend, gpu_backend
from engine.backends.base import Backend
from engine.backends.cpu import CpuBackend
from engine.backends.failures import engine_error, forget_variables, is_out_of_memory
from engine.config import ModelConfig
from engine.errors import EngineError, ModelFileError, UserError
from engine.layers.rounding import KvRounding
from engine.stored_weights import StoredWeights
from engine.weights import ModelWeights, Progress, load_weights

log = logging.getLogger(__name__)
Placed = tuple[Backend, ModelWeights]


@dataclass(frozen=True, slots=True)
class LoadJob:
    """One load: the weights, how rows will be stored, who watches, and who may stop it."""

    stored: StoredWeights
    rounding: KvRounding
    progress: Progress | None
    stop: threading.Event | None

    def onto(self, backend: Backend) -> Placed:
        """Check memory, load, make ready; whatever raises, what was allocated so far is given back first."""
        try:
            return backend, self._loaded(backend)
        except BaseException as failure:
            forget_variables(failure)  # they hold what was placed so far
            backend.release()
            if is_out_of_memory(failure):
                raise UserError(
                    f"{self.stored.source.name}: the {backend.name.upper()} ran out of memory while the model was "
                    "loaded; close other programs or choose a smaller model"
                ) from None
            if (told := engine_error(failure)) is not None:
                raise told from failure
            raise

    def _loaded(self, backend: Backend) -> ModelWeights:
        backend.require_memory(self.stored, self.rounding)
        placement = backend.placement()
        weights = load_weights(self.stored, backend.config, placement, self.progress, self.stop)
        for note in placement.notes:
            log.info("%s: %s", self.stored.source.name, note)
        backend.prepare_decode(self.stored, weights)
        return weights


def place(job: LoadJob, config: ModelConfig, name: str, dtype: torch.dtype) -> Placed:
    """The model on "gpu" or "cpu" as asked, or with "auto" on the GPU where that works, else on the CPU in `dtype`.

    Raises UserError (also for another name), EngineError (a kernel that does not build or run), Stopped.
    """
    match name:
        case "cpu":
            return job.onto(cpu_backend(config, dtype))
        case "gpu":
            found = gpu_backend(config)
            if isinstance(found, NoGpu):
                raise UserError(f"the model cannot run on a GPU here: {found.reason}")
            return job.onto(found)
        case "auto":
            return _wherever_it_runs(job, config, dtype)
        case _:
            raise UserError(f"backend {name!r} is not one of auto, cpu, gpu")


def _wherever_it_runs(job: LoadJob, config: ModelConfig, dtype: torch.dtype) -> Placed:
    found = gpu_backend(config)
    if isinstance(found, NoGpu):
        log.log(logging.WARNING if found.failed else logging.INFO, "running on the CPU: %s", found.reason)
        return job.onto(_cpu_instead(config, dtype, found.reason) if found.failed else cpu_backend(config, dtype))
    try:
        return job.onto(found)
    except ModelFileError:
        raise
    except (UserError, EngineError) as failure:
        obstacle = failure
    log.warning("running on the CPU: %s", obstacle)
    try:
        return job.onto(_cpu_instead(config, dtype, str(obstacle)))
    except ModelFileError:
        raise
    except UserError as misfit:
        raise obstacle from misfit  # what fits neither is a matter of the GPU


def _cpu_instead(config: ModelConfig, dtype: torch.dtype, obstacle: str) -> CpuBackend:
    cpu = cpu_backend(config, dtype)
    cpu.native_note = f"{cpu.native_note}; not on the GPU: {obstacle}"
    return cpu
