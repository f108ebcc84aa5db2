"""How much memory a model needs on a GPU and how much there is: on AMD by the kernel's own counters.

An APU has a carve-out (VRAM) and may map main memory (GTT). The driver allocates from the larger one alone
(amdgpu's apu_prefer_gtt), so they do not add up. The driver's "free memory" has been wrong in both directions, so the
counters of sysfs and the system's available memory decide.
"""

from collections.abc import Sequence
from pathlib import Path

import torch

from engine.backends.gpu_placement import format_held, held_together, is_exact_in_f16
from engine.backends.memory_need import MemoryNeed, require_room
from engine.cache_shape import F16_BYTES, F32_BYTES, CacheShape
from engine.config import ModelConfig
from engine.gpu_counters import GpuCounters, read_gpus
from engine.host import available_bytes
from engine.ledger import capacity_bytes
from engine.names import Part, part_of
from engine.plan import STEP_CAP, Step
from engine.stored_weights import StoredWeights

_DESKTOP_BYTES = 4 << 30  # main memory that a model must leave to everything else
_PAGE_BYTES = 4096
USUAL_CONTEXT = 16384
_ALWAYS_FLOAT32 = ("_fn.weight", "_ape.weight")  # mixers and position biases, which no product kernel reads


def placed_bytes(stored: StoredWeights) -> int:
    """Bytes of all weights as engine.backends.gpu_placement holds them."""
    return sum(_placed(stored, names) for names in held_together(stored.source.tensors))


def available_on_gpu(device: torch.device, root: Path = Path("/")) -> int | None:
    """Bytes that can be allocated, with those that torch keeps for its next tensors; None where nothing tells (a device
    that is no GPU).
    """
    if device.type != "cuda":
        return None
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    card = _largest(read_gpus(root)) if torch.version.hip is not None else None
    if card is None:
        return int(torch.cuda.mem_get_info(device)[0]) + kept
    return available_on_card(card, available_bytes()) + kept


def available_on_card(card: GpuCounters, main_memory: int | None) -> int:
    """Free carve-out, or free GTT as far as main memory can give it: whichever of the two the driver uses."""
    if not _maps_main_memory(card):
        return max((card.vram_total or 0) - (card.vram_used or 0), 0)
    mapped = max((card.gtt_total or 0) - (card.gtt_used or 0), 0)
    return mapped if main_memory is None else min(mapped, max(main_memory - _DESKTOP_BYTES, 0))


def advice(needed: int, root: Path = Path("/")) -> str:
    """What to change on this machine so that `needed` bytes fit."""
    card = _largest(read_gpus(root))
    if card is None or not card.gtt_total or not _maps_main_memory(card):
        return "close other programs or choose a smaller model"
    wanted = needed + _DESKTOP_BYTES // 2
    if wanted <= card.gtt_total:
        return "close other programs that use the GPU or much memory"
    return (
        f"the GPU may map {card.gtt_total / (1 << 30):.1f} GiB of main memory: raise that limit with the kernel "
        f"parameter ttm.pages_limit={-(-wanted // _PAGE_BYTES)}, or choose a smaller model"
    )


def _maps_main_memory(card: GpuCounters) -> bool:
    return (card.vram_total or 0) < (card.gtt_total or 0)


def largest_usual_step(config: ModelConfig) -> tuple[Step, int]:
    """The last step of a conversation of usual length, and that length."""
    context = min(USUAL_CONTEXT, config.context_length)
    tokens = min(context, STEP_CAP)
    return Step(context - tokens, tokens), context


def require_gpu_memory(
    stored: StoredWeights, shape: CacheShape, context: int, step_bytes: int, device: torch.device
) -> None:
    """Raises UserError, with what to change, where weights, a session of `context` tokens and a step do not fit."""
    need = MemoryNeed(placed_bytes(stored), capacity_bytes(shape, context), step_bytes)
    require_room(stored.source.name, "GPU", need, available_on_gpu(device), advice(need.total))


def _placed(stored: StoredWeights, names: Sequence[str]) -> int:
    """Bytes of tensors that are held together, as matrices, exact matrices or values."""
    part, elements = part_of(names[0]), sum(stored.tensor(name).elements for name in names)
    if part is None:
        return 0  # not the model's, so not loaded
    if part.is_matrix:
        width = stored.tensor(names[0]).shape[-1]
        return elements // width * format_held(stored, names).row_bytes(width)
    is_matrix = part is Part.EXACT and not names[0].endswith(_ALWAYS_FLOAT32)
    return elements * (F16_BYTES if is_matrix and is_exact_in_f16(stored, names) else F32_BYTES)


def _largest(cards: tuple[GpuCounters, ...]) -> GpuCounters | None:
    return max(cards, key=lambda card: (card.vram_total or 0) + (card.gtt_total or 0), default=None)
