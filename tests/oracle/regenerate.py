"""Makes tests/data/nano/oracle.safetensors anew for another embedded model: python -m tests.oracle.regenerate NEW OLD

Runs transformers' DeepseekV4ForCausalLM (>= 5.24, float32, eager attention, CPU) on exactly the model's dequantised
weights, the prompt in chunks through its cache, then greedily. OLD is the model file whose vocabulary the fixture in
the tree was made with. transformers is a peer, not a dependency: install it beside the test packages.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from engine.model_source import open_model
from engine.tokenizer import Tokenizer
from tests.oracle.prompts import CASES, translate
from tests.perf.hf_checkpoint import write_checkpoint
from tests.support.tiny_model import DATA

FIXTURE = DATA / "nano" / "oracle.safetensors"
CHUNK, LAST, GREEDY = 512, 4, 24


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("new", type=Path, help="the model file to ask")
    parser.add_argument("old", type=Path, help="the model file that the present fixture was made with")
    parser.add_argument("--out", type=Path, default=FIXTURE)
    parser.add_argument("--cases", nargs="*", default=CASES, choices=CASES)
    arguments = parser.parse_args()
    tokenizers = [Tokenizer.from_gguf(open_model(path)) for path in (arguments.old, arguments.new)]
    prompts = translate(load_file(FIXTURE), *tokenizers)
    with tempfile.TemporaryDirectory() as scratch:
        write_checkpoint(arguments.new, Path(scratch))
        model = _load(Path(scratch))
        found: dict[str, torch.Tensor] = {}
        for case in arguments.cases:
            found |= {f"{case}.{key}": value for key, value in _answer(model, prompts[case]).items()}
            print(f"{case}: {len(prompts[case]):,} tokens", flush=True)
    save_file(found, arguments.out)


def _load(checkpoint: Path) -> Any:
    from transformers import DeepseekV4ForCausalLM

    return DeepseekV4ForCausalLM.from_pretrained(checkpoint, dtype=torch.float32, attn_implementation="eager").eval()


@torch.inference_mode()
def _answer(model: Any, ids: list[int]) -> dict[str, torch.Tensor]:
    """input_ids [T], logits_last4 [4, vocab] of the last prompt positions, greedy_ids [24]."""
    cache, last = None, []
    for first in range(0, len(ids), CHUNK):
        output = model(torch.tensor([ids[first : first + CHUNK]]), past_key_values=cache, use_cache=True)
        cache = output.past_key_values
        last = [*last, *output.logits[0, -LAST:].float()][-LAST:]
    greedy = [int(last[-1].argmax())]
    while len(greedy) < GREEDY:
        output = model(torch.tensor([greedy[-1:]]), past_key_values=cache, use_cache=True)
        cache = output.past_key_values
        greedy.append(int(output.logits[0, -1].argmax()))
    return {
        "input_ids": torch.tensor(ids),
        "logits_last4": torch.stack(last),
        "greedy_ids": torch.tensor(greedy),
    }


if __name__ == "__main__":
    main()
