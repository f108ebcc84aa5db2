"""Whether a conversation fits into what is left beside a model, before its state is allocated.

Asked by engine.session for each new one, on its thread.
"""

import torch

from engine.cache_shape import CacheShape
from engine.errors import UserError
from engine.host import available_bytes
from engine.ledger import capacity_bytes

_GIB = 1 << 30


def require_session_memory(shape: CacheShape, context: int, device: torch.device) -> None:
    """Raises UserError where the state of `context` tokens exceeds what can be allocated where it will live."""
    needed = capacity_bytes(shape, context)
    available = _available(device)
    if available is not None and needed > available:
        raise UserError(
            f"a conversation of {context} tokens needs {needed / _GIB:.1f} GiB of memory, and {available / _GIB:.1f} "
            "GiB are available; choose a shorter context or close other programs"
        )


def _available(device: torch.device) -> int | None:
    if device.type != "cuda":
        return available_bytes()
    from engine.backends.gpu_memory import available_on_gpu  # brings the kernels in, which a CPU does without

    return available_on_gpu(device)
