"""All numbers of the recipe in one place: the student's shape, how much is sampled, and how it is trained.

`FULL` is meant for one or more GPUs of the H200's class; `TOY` runs the same code on a processor in seconds.
"""

from dataclasses import dataclass, replace

from engine.config import ModelConfig, YarnScaling


@dataclass(frozen=True, slots=True)
class Sampling:
    """`rows` sequences of `length` slots at once; at most `most_windows` windows; share of scripts
    that are articles; `workers` are processes, 0 for none."""

    rows: int
    length: int
    scripts: int
    article_share: float
    most_windows: int | None
    workers: int


@dataclass(frozen=True, slots=True)
class Mixture:
    """Shares of the training tokens: documents among all, passages among documents, needles among the other documents.

    `written_share` is how many of the passages are written ones (recipe.written), `buried_share` how many of the
    needles are whole passages; `bytes_per_token` sizes documents.
    """

    document_share: float
    passage_share: float
    written_share: float
    needle_share: float
    buried_share: float
    bytes_per_token: float


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of training at one length; `share` of the training time or steps."""

    length: int
    batch: int
    share: float
    mixture: Mixture


@dataclass(frozen=True, slots=True)
class Training:
    """Learning rate with warm-up steps, flat until `decay_from` of the run, then linear to `last_rate` of itself.

    `further_rate` takes the place of `rate` where training goes on from a finished model. Exported is the mean of
    the last weights, by `middle_share` those at the share `middle` of the run, by `start_share` that finished model's.
    """

    rate: float
    further_rate: float
    warm_up: int
    decay_from: float
    last_rate: float
    weight_decay: float
    clip: float
    middle: float
    middle_share: float
    start_share: float
    index_weight: float
    bias_step: float
    phases: tuple[Phase, ...]
    most_steps: int | None
    validate_every: int
    checkpoint_seconds: float


@dataclass(frozen=True, slots=True)
class Settings:
    """One recipe. `held_out` is the share of the teacher's conversations that nothing is trained on.

    `basics` and `written` are how many chats of everyday facts (recipe.basics) and of written ones (recipe.written) are
    added for each of the teacher's; `shards` is how many parts the training data is made in, each by a process of its
    own. Of the conversations of the examination the first `examined` are used.
    """

    name: str
    shape: ModelConfig
    sampling: Sampling
    training: Training
    held_out: float
    basics: float
    written: float
    shards: int
    seed: int
    examined: int
    needle_lengths: tuple[int, ...]
    needles_each: int
    answer_tokens: int


# Nine layers, ending on an indexed one as V4-Flash does: a tenth fewer weights and a tenth more tokens a second than
# ten, and within 36 MB once quantised. A few minutes of training are what limits this model, not its size.
_SHAPE = ModelConfig(
    layers=9,
    hidden=384,
    vocab=16384,
    context_length=1 << 20,
    heads=16,
    head_dim=64,
    rope_dim=16,
    q_rank=192,
    out_groups=4,
    out_rank=64,
    window=128,
    ratios=(0, 0, 4, 128, 4, 128, 4, 128, 4),
    index_heads=8,
    index_dim=32,
    index_top_k=128,
    experts=16,
    experts_used=6,
    expert_hidden=128,
    expert_scale=1.5,
    hash_layers=3,
    swiglu_limits=(10.0,) * 9,
    streams=4,
    sinkhorn_iterations=20,
    hc_eps=1e-6,
    rms_eps=1e-6,
    rope_base=10000.0,
    compress_rope_base=160000.0,
    yarn=YarnScaling(16.0, 65536, 32.0, 1.0),
)
_SHORT, _LONG = Mixture(0.5, 0.66, 0.65, 0.5, 0.5, 4.2), Mixture(0.5, 0.4, 0.65, 0.6, 0.5, 4.2)

FULL = Settings(
    name="DS4 nano",
    shape=_SHAPE,
    sampling=Sampling(rows=2048, length=1024, scripts=1 << 15, article_share=0.25, most_windows=None, workers=12),
    training=Training(
        rate=2e-3,
        further_rate=1.2e-3,
        warm_up=200,
        decay_from=0.4,
        last_rate=0.03,
        weight_decay=0.1,
        clip=1.0,
        middle=0.54,
        middle_share=0.2,
        start_share=0.12,
        index_weight=0.1,
        bias_step=1e-3,
        phases=(
            # The same 36,864 tokens a step and device, so that what works token by token is compiled once.
            Phase(1024, 36, 0.65, _SHORT),
            Phase(4096, 9, 0.2, _LONG),
            Phase(9216, 4, 0.15, _LONG),
        ),
        most_steps=None,
        validate_every=400,
        checkpoint_seconds=120.0,
    ),
    held_out=0.05,
    basics=0.25,
    written=0.6,
    shards=10,
    seed=8,
    examined=1500,
    needle_lengths=(1024, 4096, 9216),
    needles_each=20,
    answer_tokens=160,
)

_TINY_SHAPE = replace(
    _SHAPE,
    layers=4,
    hidden=32,
    vocab=384,
    heads=4,
    head_dim=16,
    rope_dim=8,
    q_rank=16,
    out_groups=2,
    out_rank=8,
    ratios=(0, 4, 128, 4),
    index_heads=2,
    index_dim=16,
    index_top_k=16,
    experts=4,
    experts_used=2,
    expert_hidden=32,
    hash_layers=1,
    swiglu_limits=(10.0,) * 4,
)
_TINY_MIXTURE = Mixture(0.3, 0.3, 0.5, 0.5, 0.5, 1.5)

TOY = replace(
    FULL,
    name="DS4 toy",
    shape=_TINY_SHAPE,
    sampling=Sampling(rows=24, length=768, scripts=64, article_share=0.4, most_windows=1, workers=0),
    training=replace(
        FULL.training,
        warm_up=2,
        phases=(Phase(256, 2, 0.5, _TINY_MIXTURE), Phase(512, 1, 0.5, _TINY_MIXTURE)),
        most_steps=6,
        validate_every=3,
        checkpoint_seconds=0.0,
    ),
    held_out=0.25,
    shards=2,
    examined=20,
    needle_lengths=(256,),
    needles_each=2,
    answer_tokens=3,
)
