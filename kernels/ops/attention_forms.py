"""The forms of attention: which kernel, at which shape, with which workgroup. kernels.ops.attention launches them.

Shapes B and C are one source (device/attention_matrix.hip) and give the same bits for a query; A
(device/attention_rows.hip) is the reference form in F32; the split form (device/attention_split.hip and
attention_combine.hip) is that of decode.
"""

from dataclasses import dataclass

from kernels.source import KernelSource

HEADS_A_GROUP = 16
MOST_IDS = 512  # the longest id list a token may have
SPLIT_ROWS = 32  # rows of a split of decode attention; a token's bits depend on it
SPLIT_HEADS = 16
SPLIT_PARTIALS = 4  # beside a head's channels in the work buffer, of which two are used (device/attention_splits.h)
COMBINE_THREADS = 128


@dataclass(frozen=True, slots=True)
class HeadShape:
    """Query heads of a layer and the rows they share as key and value."""

    heads: int
    width: int
    rotary: int
    window: int = 128

    def defines(self) -> tuple[tuple[str, int], ...]:
        return (("HEADS", self.heads), ("WIDTH", self.width), ("ROTARY", self.rotary), ("WINDOW", self.window))


@dataclass(frozen=True, slots=True)
class AttentionForm:
    """One way to attend: a kernel, and how many queries and heads a workgroup of it takes."""

    source: KernelSource
    shape: HeadShape
    queries: int
    group_heads: int


@dataclass(frozen=True, slots=True)
class MatrixTiling:
    """Shape of a workgroup of the matrix form: (query, head) pairs are the 16-row tiles of A."""

    queries: int
    group_heads: int
    waves: int
    rows: int  # cache rows at a time, 16 or 32
    buffers: int  # of those rows in LDS; 1 or 2, or for the pipelined form 4 or 5
    parts: int = 0  # parts of a dot product, added in order (0: one a wave)
    stages: int = 1  # buffers of scores and weights; 2: the pipelined form

    def defines(self) -> tuple[tuple[str, int], ...]:
        return (
            ("QUERIES", self.queries),
            ("GROUP_HEADS", self.group_heads),
            ("WAVES", self.waves),
            ("ROWS", self.rows),
            ("BUFFERS", self.buffers),
            ("PARTS", self.parts or self.waves),
            ("STAGES", self.stages),
        )


def scalar_form(shape: HeadShape) -> AttentionForm:
    """Shape A."""
    source = KernelSource("attention_rows", "attention_rows", shape.defines(), HEADS_A_GROUP * 32)
    return AttentionForm(source, shape, 1, HEADS_A_GROUP)


def matrix_form(shape: HeadShape, target: str, queries: int = 1) -> AttentionForm:
    """Shape B (one query) or C (several, with as many fewer heads) for a target: gfx..., sm_... or the emulator's."""
    return tiled_form(shape, target, tiling_for(shape, target, queries))


def tiling_for(shape: HeadShape, target: str, queries: int) -> MatrixTiling:
    """The tiling we use. gfx11 has 64 KiB of LDS a workgroup and gathers values; NVIDIA has more and a copy engine."""
    is_amd = is_amd_layout(target)
    wide = shape.width >= 512
    pairs = 16 if not wide else 32 if is_amd else 64
    group_heads = max(min(shape.heads, pairs // queries), 16)
    waves = 4 if not wide else 16 if is_amd else 8
    return MatrixTiling(queries, group_heads, waves, rows=16 if is_amd else 32, buffers=1 if is_amd and wide else 2)


def tiled_form(shape: HeadShape, target: str, tiling: MatrixTiling) -> AttentionForm:
    """The matrix form with a given tiling (for comparisons; matrix_form chooses)."""
    defines: tuple[tuple[str, int], ...] = (*shape.defines(), *tiling.defines(), ("MOST_IDS", MOST_IDS))
    name = "attention_matrix"
    if tiling.stages == 2:
        name, pairs = "attention_pipeline", tiling.queries * tiling.group_heads
        defines = (*defines, ("SIMD_WAVES", 2 if pairs >= 64 else 4))
    pool = pool_bytes(shape, tiling, is_amd_layout(target))
    source = KernelSource(name, name, defines, tiling.waves * 32, pool)
    return AttentionForm(source, shape, tiling.queries, tiling.group_heads)


def is_amd_layout(target: str) -> bool:
    """Whether a target has AMD's matrix layout."""
    return target.startswith("gfx") or target.endswith("-amd")


def pool_bytes(shape: HeadShape, tiling: MatrixTiling, is_amd: bool, most_ids: int = MOST_IDS) -> int:
    """LDS of the matrix forms: rows, the waves' shares of the scores, weights, softmax state, an id list."""
    pairs = tiling.queries * tiling.group_heads
    share_stride = tiling.rows if is_amd else tiling.rows + 8
    rows = tiling.buffers * tiling.rows * (shape.width + 8) * 2
    shares = (tiling.parts or tiling.waves) * pairs * share_stride * 4
    weights = pairs * (tiling.rows + 8) * 2 + pairs * 4
    return rows + tiling.stages * (shares + weights) + 2 * pairs * 4 + most_ids * 4


@dataclass(frozen=True, slots=True)
class SplitForm:
    """Decode attention of one token in two kernels: splits of `rows` cache rows, then their sum in ascending order."""

    source: KernelSource
    combine: KernelSource
    shape: HeadShape
    group_heads: int
    rows: int

    @property
    def work_heads(self) -> int:
        """Heads in the work buffer: whole tiles of 16 are stored."""
        return -(-self.shape.heads // SPLIT_HEADS) * SPLIT_HEADS


def split_form(shape: HeadShape, target: str) -> SplitForm:
    """The split form for a target: gfx..., sm_... or the emulator's."""
    waves = 8 if shape.width >= 512 else 4
    return split_form_of(shape, target, MatrixTiling(1, SPLIT_HEADS, waves, SPLIT_ROWS, buffers=1))


def split_form_of(shape: HeadShape, target: str, tiling: MatrixTiling) -> SplitForm:
    """The split form with a given tiling (for comparisons; split_form chooses)."""
    pool = pool_bytes(shape, tiling, is_amd_layout(target), most_ids=0)
    defines = (*shape.defines(), *tiling.defines(), ("MOST_IDS", 0))
    source = KernelSource("attention_split", "attention_split", defines, tiling.waves * 32, pool)
    together = (*shape.defines(), ("ROWS", tiling.rows), ("MOST_IDS", MOST_IDS))
    combine = KernelSource("attention_combine", "attention_combine", together, COMBINE_THREADS)
    return SplitForm(source, combine, shape, tiling.group_heads, tiling.rows)
