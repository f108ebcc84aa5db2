"""How large the weights of a synthetic model are, so that activations stay of order one through all of its layers.

Read by engine.synth.pieces; no torch. Matrices keep the size of what they multiply. Mixers let most of a stream go on
as it is, with a matrix that Sinkhorn balances within its 20 rounds.
"""

from dataclasses import dataclass

from engine.config import ModelConfig
from engine.names import Part, family, part_of

_COLLAPSE_BASE = -1.0  # a stream's share of a sublayer's input, before the sigmoid
_CARRY_BASE = 2.0  # a stream's share of itself, before Sinkhorn: about 70 %
_MIXER_SCALE = 0.2


@dataclass(frozen=True, slots=True)
class Spread:
    """Weights are `centre`, one number for all or one each, plus noise of this RMS."""

    rms: float
    centre: float | tuple[float, ...] = 0.0


_SMALL_NOISE = Spread(0.1)
_NORM = Spread(0.1, centre=1.0)
# Gates and the mean over several experts take more than half of an expert's size, which goes back on here. Otherwise
# attention, a mean over what came before, adds what all tokens share in every layer, until they all choose alike.
_EXPERT_GAIN = 2.0
_EXPERT_OUTPUTS = ("ffn_down_exps.weight", "ffn_down_shexp.weight")
# Families whose spread does not follow from the width of their rows.
_KNOWN = {
    "attn_compressor_ape.weight": Spread(0.05),
    "indexer_compressor_ape.weight": Spread(0.05),
    "attn_sinks.weight": _SMALL_NOISE,
    "exp_probs_b.bias": Spread(0.01),  # against scores near 0.8: no expert is favoured much
    "output_hc_base.weight": Spread(0.1, centre=_COLLAPSE_BASE),
    "token_embd.weight": Spread(1.0),  # looked up, not multiplied
}


def spread_of(name: str, width: int, config: ModelConfig) -> Spread:
    """The spread of a tensor with rows of `width` weights; not for tables of whole numbers."""
    kind = family(name)
    if kind in _KNOWN:
        return _KNOWN[kind]
    if kind.endswith("_scale.weight"):
        return Spread(0.02, centre=_MIXER_SCALE)
    if kind.endswith("_base.weight"):
        return Spread(0.1, centre=_mixer_base(config.streams))
    if part_of(name) is Part.VECTOR:
        return _NORM
    return Spread((_EXPERT_GAIN if kind in _EXPERT_OUTPUTS else 1.0) * width**-0.5)


def _mixer_base(streams: int) -> tuple[float, ...]:
    """[n(2+n)]: what collapses, what returns the sublayer's output, and the mixing matrix (ds4-architecture 2)."""
    carry = [_CARRY_BASE if row == column else 0.0 for row in range(streams) for column in range(streams)]
    return (*[_COLLAPSE_BASE] * streams, *[0.0] * streams, *carry)
