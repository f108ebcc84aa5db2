"""What a person writes to get a synthetic model, `synth:v4-flash?layers=43&recipe=antirez-q2`, and what it asks for.

Parsed by engine.model_source and `haloband synth`, on any thread; no torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from engine.config import ModelConfig
from engine.errors import UserError
from engine.synth.recipes import RECIPES, SynthRecipe
from engine.synth.shapes import SHAPES, cut_shape

SCHEME = "synth:"
DEFAULT_RECIPE = "antirez-q2"
_OPTIONS = ("layers", "ratios", "recipe", "experts", "seed")
_RATIOS = (0, 4, 128)
_MOST_LAYERS = 256  # of an explicit list
_MOST_EXPERTS = 1024
_MOST_SEED = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class SynthRequest:
    """A model to be made: `shape` names where `config` comes from; `address` asks for it again, with every option."""

    shape: str
    config: ModelConfig
    recipe: SynthRecipe
    seed: int

    @property
    def address(self) -> str:
        config, standard = self.config, SHAPES[self.shape]
        ratios = ",".join(map(str, config.ratios))
        is_cut = config.ratios == standard.ratios[: config.layers]
        layers = f"layers={config.layers}" if is_cut else f"ratios={ratios}"
        experts = f"&experts={config.experts}" if config.experts != standard.experts else ""
        return f"{SCHEME}{self.shape}?{layers}&recipe={self.recipe.name}{experts}&seed={self.seed}"


def is_synth(path: object) -> bool:
    """Whether a path is the address of a synthetic model."""
    return str(path).startswith(SCHEME)


def address_of(shape: str, options: Mapping[str, object]) -> str:
    """The address with these options; those that are None are left out."""
    query = "&".join(f"{name}={value}" for name, value in options.items() if value is not None)
    return f"{SCHEME}{shape}" + (f"?{query}" if query else "")


def parse_address(address: str) -> SynthRequest:
    """Read an address. Raises UserError in one sentence for an unknown shape, option or value."""
    try:
        shape, _, query = address.removeprefix(SCHEME).partition("?")
        options = _options(query)
        standard = SHAPES[_one_of("shape", shape, SHAPES)]
        recipe = _one_of("recipe", options.get("recipe", DEFAULT_RECIPE), RECIPES)
        experts = _integer(options, "experts", standard.experts, standard.experts_used, _MOST_EXPERTS)
        config = cut_shape(standard, _ratios(options, standard), experts)
        return SynthRequest(shape, config, RECIPES[recipe], _integer(options, "seed", 0, 0, _MOST_SEED))
    except ValueError as error:
        raise UserError(f"{address!r} asks for no model that can be made: {error}.") from None


def _options(query: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in query.split("&") if query else []:
        pairs = parse_qsl(entry, keep_blank_values=True)
        name, value = pairs[0] if len(pairs) == 1 else (entry, "")
        _one_of("option", name, _OPTIONS)
        if name in found:
            raise ValueError(f"option {name!r} is given twice")
        found[name] = value
    return found


def _one_of(what: str, value: str, allowed: Mapping[str, object] | tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"{what} {value!r} is not one of {', '.join(allowed)}")
    return value


def _integer(options: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    text = options.get(name, str(default))
    # Short and of ASCII digits alone: int() takes signs, spaces, low lines and any length.
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and least <= int(text) <= most):
        raise ValueError(f"{name} {text[:40]!r} is not a whole number from {least} to {most}")
    return int(text)


def _ratios(options: Mapping[str, str], standard: ModelConfig) -> tuple[int, ...]:
    """One compression ratio a layer: the first ones of the shape's own, or those that are listed."""
    if "ratios" not in options:
        return standard.ratios[: _integer(options, "layers", standard.layers, 1, standard.layers)]
    if "layers" in options:
        raise ValueError("give layers or ratios, not both")
    words = options["ratios"].split(",")
    if not (len(words) <= _MOST_LAYERS and set(words) <= set(map(str, _RATIOS))):
        raise ValueError(f"ratios are up to {_MOST_LAYERS} of {', '.join(map(str, _RATIOS))}, with commas between")
    return tuple(map(int, words))
