"""What one token brings to a recorded graph, in one device buffer: position, id, and the rotations of its rows.

Filled by one copy from pinned memory before each replay; the graph reads the views.
"""

import torch

from engine.config import ModelConfig
from engine.layers.rope import inverse_frequencies, rotation
from engine.weights import ModelWeights

Rotation = tuple[torch.Tensor, torch.Tensor]  # cos and sin [1, rope_dim / 2]
_WHOLE_NUMBERS = 4  # words before the rotations, which then begin at 16 bytes


class TokenInputs:
    """`position` and `token_id` int32 [1]; `rotations` by ratio for the token's row, `window_rotations` for the row of
    its window, which stands at the window's first token.
    """

    def __init__(self, config: ModelConfig, weights: ModelWeights, device: torch.device) -> None:
        self._ratios = sorted(set(config.ratios))
        self._frequencies = {ratio: inverse_frequencies(config, ratio) for ratio in self._ratios}
        pairs = config.rope_dim // 2
        self._rotated = [(ratio, False) for ratio in self._ratios] + [(ratio, True) for ratio in self._ratios if ratio]
        words = _WHOLE_NUMBERS + 2 * pairs * len(self._rotated)
        is_gpu = device.type == "cuda"
        self._host = torch.zeros(words, dtype=torch.int32, pin_memory=is_gpu)
        self._device = torch.zeros(words, dtype=torch.int32, device=device)
        self._ready: tuple[int, torch.Tensor] | None = None  # a position and its angles, made ahead
        self._copied = torch.cuda.Event() if is_gpu else None  # type: ignore[no-untyped-call]  # torch has no stub
        self.position, self.token_id = self._device[0:1], self._device[1:2]
        found = self._device[_WHOLE_NUMBERS:].view(torch.float32).view(len(self._rotated), 2, 1, pairs)
        views = {key: (found[i, 0], found[i, 1]) for i, key in enumerate(self._rotated)}
        self.rotations: dict[int, Rotation] = {ratio: views[ratio, False] for ratio in self._ratios}
        self.window_rotations: dict[int, Rotation] = {ratio: views[ratio, True] for ratio in self._ratios if ratio}

    def set(self, token_id: int, position: int) -> None:
        """Queue the copy; waits only for the one before it."""
        if self._copied is not None:
            self._copied.synchronize()
        self._host[0], self._host[1] = position, token_id
        ready = self._ready
        angles = ready[1] if ready is not None and ready[0] == position else self._angles(position)
        self._host[_WHOLE_NUMBERS:].view(torch.float32).copy_(angles)
        self._device.copy_(self._host, non_blocking=True)
        if self._copied is not None:
            self._copied.record()

    def make_ready(self, position: int) -> None:
        """Compute a later position's angles now, while the device is busy with a token."""
        self._ready = position, self._angles(position)

    def _angles(self, position: int) -> torch.Tensor:
        parts = []
        for ratio, of_window in self._rotated:
            place = torch.tensor([position // ratio * ratio if of_window else position])
            parts += [part.flatten() for part in rotation(place, self._frequencies[ratio])]
        return torch.cat(parts)
