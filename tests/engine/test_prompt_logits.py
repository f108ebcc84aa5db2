"""The logits after a prompt are as precise as those of decoding, also where prompts are computed in bfloat16."""

from pathlib import Path

import pytest
import torch

import engine
from tests.support.model_files import ModelParts

F32_TYPE, Q8_0_TYPE = 0, 8
PROMPT = [2, *range(70, 110)]  # longer than what is decoded token by token


@pytest.fixture(params=[F32_TYPE, Q8_0_TYPE], ids=["F32", "Q8_0"])
def silent_model(request: pytest.FixtureRequest, tiny_path: Path, tmp_path: Path) -> engine.Model:
    """A model whose sublayers answer zero and whose embedding bfloat16 holds exactly.

    Only mixers and norms, float32 everywhere, lie between embedding and head: both ways hand the head the same vector.
    """
    parts = ModelParts.read(tiny_path)
    source = torch.Generator().manual_seed(5)
    for name, (shape, _, _) in list(parts.tensors.items()):
        if name.endswith(("attn_output_b.weight", "ffn_down_exps.weight", "ffn_down_shexp.weight")):
            parts.put(name, torch.zeros(shape), F32_TYPE)
        elif name == "token_embd.weight":
            parts.put(name, torch.randn(shape, generator=source).bfloat16().float(), F32_TYPE)
        elif name == "output.weight":
            parts.put(name, torch.randn(shape, generator=source), request.param)
    return engine.load(parts.write(tmp_path / "silent.gguf"), dtype="bfloat16")


def test_prefill_and_decode_agree_given_the_same_hidden_state(silent_model: engine.Model) -> None:
    prefilled, decoded = silent_model.session(context=64), silent_model.session(context=64)
    decoded.prefill(PROMPT[:-1])
    wanted = decoded.decode(PROMPT[-1])
    assert wanted.abs().max() > 1
    torch.testing.assert_close(prefilled.prefill(PROMPT), wanted, atol=1e-5, rtol=1e-5)
