"""Which number format a synthetic model has for each tensor: the recipes of published files, and two plain ones.

Read by engine.synth.address and engine.synth.source; no torch. Recipes: ds4-architecture 7.1 to 7.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from engine.gguf.types import AMBIGUOUS_TYPES, BLOCK_TYPES, ROCMFP2_CODEBOOK, BlockType
from engine.names import Part, family, part_of
from engine.recipes import F16, Q8_0, uniform

_F32, _Q2_K, _IQ2_XXS, _I32, _BF16 = 0, 10, 16, 26, 30
_ROCMFP4_FAST, _ROCMFP3, _ROCMFP2 = 101, 104, 107
_GATE, _UP, _DOWN = "ffn_gate_exps.weight", "ffn_up_exps.weight", "ffn_down_exps.weight"
# Matrices that DeepSeek's own files keep in float32, where its other exact matrices are bfloat16.
_FLOAT32_AT_SOURCE = (
    "output_hc_fn.weight",
    "hc_attn_fn.weight",
    "hc_ffn_fn.weight",
    "attn_compressor_ape.weight",
    "indexer_compressor_ape.weight",
)


@dataclass(frozen=True, slots=True)
class SynthRecipe:
    """GGUF type ids: of each part, and of the families (engine.names.family) that differ from their part."""

    name: str
    parts: Mapping[Part, int]
    families: Mapping[str, int]

    def type_for(self, name: str) -> int:
        """The type id of the tensor of a canonical name."""
        part = part_of(name)
        if part is None:
            raise ValueError(f"{name} is no tensor of a model")
        return self.families.get(family(name), self.parts[part])


def block_type(type_id: int) -> BlockType:
    """The geometry of a recipe's format; of several meanings the one that recipes use."""
    return ROCMFP2_CODEBOOK if type_id == _ROCMFP2 else BLOCK_TYPES[type_id]


def meaning_of(type_id: int) -> str | None:
    """Which meaning a recipe gives a type id that has several; None for the others."""
    return block_type(type_id).name if type_id in AMBIGUOUS_TYPES else None


def _recipe(name: str, parts: Mapping[Part, int], families: Mapping[str, int]) -> SynthRecipe:
    always = {Part.EXACT: F16, Part.VECTOR: _F32, Part.TABLE: _I32}
    return SynthRecipe(name, MappingProxyType({**always, **parts}), MappingProxyType(dict(families)))


_ANTIREZ_Q2 = uniform(Q8_0) | {Part.EMBEDDING: F16, Part.INDEXER: F16}
_ALL = (
    _recipe("antirez-q2", _ANTIREZ_Q2, {_GATE: _IQ2_XXS, _UP: _IQ2_XXS, _DOWN: _Q2_K}),
    _recipe("rocmfp-mix", uniform(_ROCMFP4_FAST), {_GATE: _ROCMFP2, _UP: _ROCMFP2, _DOWN: _ROCMFP3}),
    _recipe("bf16", uniform(_BF16) | {Part.EXACT: _BF16}, dict.fromkeys(_FLOAT32_AT_SOURCE, _F32)),
    _recipe("q8", uniform(Q8_0), {}),
)
RECIPES: Mapping[str, SynthRecipe] = MappingProxyType({recipe.name: recipe for recipe in _ALL})
