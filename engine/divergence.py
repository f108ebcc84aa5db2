"""How far a converted model's predictions are from the original's: KL divergence over a short fixed set of texts.

`haloband convert --check` reports it. Both models run in float32 on the CPU, one after the other.
"""

from dataclasses import dataclass
from pathlib import Path

import torch

from engine.loading import Model, load
from engine.plan import Step
from engine.state import SessionState

# Prose, dialogue, code, a list, arithmetic and two other languages: short, but every part of a model takes part.
TEXTS = (
    "The old lighthouse stood at the end of the pier, and every evening its keeper climbed the narrow stairs to light "
    "the lamp. One night the fog was so thick that he could not see the water below, and he began to wonder whether "
    "any ship was out there at all.",
    '"Where did you put the keys?" she asked.\n"On the table, next to the bread," he said. "They were there this '
    'morning."\n"Well, they are not there now. Did you look in your coat?"',
    "def mean(values):\n    if not values:\n        return 0.0\n    total = 0.0\n    for value in values:\n"
    "        total += value\n    return total / len(values)\n\n\nprint(mean([1, 2, 3]))\n",
    "To make pancakes you need:\n1. two cups of flour\n2. two eggs\n3. a cup of milk\n4. a spoon of sugar\n\nFirst, "
    "mix the flour and the sugar in a large bowl. Then",
    "If a train leaves at 9:40 and arrives at 12:15, the journey takes 2 hours and 35 minutes. If it leaves ten "
    "minutes later and arrives at the same time, the journey takes",
    "Wer reiten will, muss früh aufstehen, sagte die Großmutter und stellte den Kaffee auf den Tisch.",
    "今天天气很好，我们去公园散步吧。",
)


@dataclass(frozen=True, slots=True)
class Divergence:
    """KL(original, converted) in nats a token, and how often both models find the same token most likely."""

    tokens: int
    mean: float
    largest: float
    same_top: float  # share of positions, 0 to 1


def text_log_probabilities(model: Model) -> list[torch.Tensor]:
    """For each text float32 [tokens, vocab]: the log-probabilities after each of its tokens."""
    found = []
    with torch.inference_mode():
        for text in TEXTS:
            ids = [model.tokenizer.bos, *model.tokenizer.encode(text)]
            found.append(_log_probabilities(model, ids))
    return found


def divergence(original: list[torch.Tensor], converted: list[torch.Tensor]) -> Divergence:
    """Compare what `text_log_probabilities` gave for two models."""
    exact, other = torch.cat(original).double(), torch.cat(converted).double()
    each = (exact.exp() * (exact - other)).sum(dim=1)
    same = exact.argmax(dim=1) == other.argmax(dim=1)
    return Divergence(len(each), float(each.mean()), float(each.max()), float(same.double().mean()))


def compare_files(original: Path, converted: Path) -> Divergence:
    """Load two models in turn and compare them. Raises what loading raises."""
    exact = text_log_probabilities(load(original, backend="cpu", dtype="float32"))
    return divergence(exact, text_log_probabilities(load(converted, backend="cpu", dtype="float32")))


def _log_probabilities(model: Model, ids: list[int]) -> torch.Tensor:
    network = model.network
    state = SessionState(network.config, len(ids), model.rounding, network.backend.tensor_device)
    running = network.run_step(torch.tensor(ids), state, Step(0, len(ids)))
    while True:
        try:
            next(running)
        except StopIteration as finished:
            return network.logits(finished.value).log_softmax(dim=-1)
