"""The sizes that memory accounting needs of a model: a small frozen record of integers, without torch or weights.

Built from a ModelConfig or by name; read by the ledger, the step buffers and `haloband memory`, on any thread.
Source of every size: banded-prefill sections 1, 3.5 and 5.3.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from engine.plan import RAW_WINDOW

if TYPE_CHECKING:
    from engine.config import ModelConfig

F16_BYTES = 2
F32_BYTES = 4
OVERLAP_RATIO = 4  # the ratio whose windows overlap and whose layers carry an indexer
SPARE_ROWS = 16  # rows a layer can hold beyond floor(context / ratio)


@dataclass(frozen=True, slots=True)
class CacheShape:
    """Model sizes as ModelConfig names them, plus `row_value_bytes`, the width of one stored row value (2 for F16).

    `ratios` has one entry a layer: 0 no compressed rows, 4 overlapping windows and an indexer, else plain windows.
    Raises ValueError for a size below one, a negative ratio, or no layers.
    """

    ratios: tuple[int, ...]
    hidden: int
    vocab: int
    heads: int
    head_dim: int
    q_rank: int
    index_heads: int
    index_dim: int
    index_top_k: int
    experts_used: int
    expert_hidden: int
    streams: int
    window: int = RAW_WINDOW
    row_value_bytes: int = F16_BYTES

    def __post_init__(self) -> None:
        sizes = ("hidden", "vocab", "heads", "head_dim", "q_rank", "experts_used", "expert_hidden", "streams", "window")
        indexed = ("index_heads", "index_dim", "index_top_k") if OVERLAP_RATIO in self.ratios else ()
        for name in (*sizes, *indexed, "row_value_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"a cache shape needs {name} of at least 1, not {getattr(self, name)}")
        if not self.ratios or min(self.ratios) < 0:
            raise ValueError(f"a cache shape needs one ratio a layer, none negative, not {self.ratios}")

    @classmethod
    def from_config(cls, config: "ModelConfig", row_value_bytes: int = F16_BYTES) -> "CacheShape":
        """The shape of a loaded model; rows take 4 bytes a value with kv_rounding "none", else 2."""
        return cls(
            ratios=config.ratios,
            hidden=config.hidden,
            vocab=config.vocab,
            heads=config.heads,
            head_dim=config.head_dim,
            q_rank=config.q_rank,
            index_heads=config.index_heads,
            index_dim=config.index_dim,
            index_top_k=config.index_top_k,
            experts_used=config.experts_used,
            expert_hidden=config.expert_hidden,
            streams=config.streams,
            window=config.window,
            row_value_bytes=row_value_bytes,
        )

    @classmethod
    def v4_flash(cls, row_value_bytes: int = F16_BYTES) -> "CacheShape":
        """DeepSeek V4 Flash (ds4-architecture 1.1 and 1.2): 2 plain, 21 ratio-4 and 20 ratio-128 layers."""
        return cls(
            ratios=(0, 0, *(4 if layer % 2 == 0 else 128 for layer in range(2, 43))),
            hidden=4096,
            vocab=129_280,
            heads=64,
            head_dim=512,
            q_rank=1024,
            index_heads=64,
            index_dim=128,
            index_top_k=512,
            experts_used=6,
            expert_hidden=2048,
            streams=4,
            row_value_bytes=row_value_bytes,
        )

    @property
    def ring_bytes(self) -> int:
        """The raw rows of one layer: a fixed ring of `window` rows, whether full or not (128 KiB for V4 Flash)."""
        return self.window * self.row_bytes

    @property
    def row_bytes(self) -> int:
        """One raw or compressed attention row, which is key and value at once."""
        return self.head_dim * self.row_value_bytes

    @property
    def index_row_bytes(self) -> int:
        """One row of the indexer."""
        return self.index_dim * self.row_value_bytes

    @property
    def bytes_per_token(self) -> Fraction:
        """What a session grows by with each token, all layers: one row in r tokens (6,880 for V4 Flash in F16)."""
        rows = sum(Fraction(self.row_bytes, ratio) for ratio in self.ratios if ratio)
        index = self.ratios.count(OVERLAP_RATIO) * Fraction(self.index_row_bytes, OVERLAP_RATIO)
        return rows + index

    def rolling_bytes(self, ratio: int) -> int:
        """Values and scores, float32, of the windows that a layer of this ratio has not closed for good (3.5).

        Ratio 4: the previous and the current window, both of double width, for attention and for the indexer.
        """
        if ratio == OVERLAP_RATIO:
            return 2 * ratio * 2 * (self.head_dim + self.index_dim) * 2 * F32_BYTES
        return ratio * self.head_dim * 2 * F32_BYTES

    @property
    def volatile_bytes(self) -> int:
        """Rings and rolling state of all layers: what later tokens overwrite and a checkpoint copies (3.4)."""
        return sum(self.ring_bytes + self.rolling_bytes(ratio) for ratio in self.ratios)

    def rows_bytes(self, ratio: int, rows: int) -> int:
        """`rows` compressed rows of a layer, with their index rows where the layer has an indexer."""
        return rows * (self.row_bytes + (self.index_row_bytes if ratio == OVERLAP_RATIO else 0))
