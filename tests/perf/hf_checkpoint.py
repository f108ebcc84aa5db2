"""The embedded model as a Hugging Face checkpoint folder, so that transformers runs exactly the dequantised weights.

Names are those of the DeepSeek release; the inverse of tests/support/tiny_model.py. Needs safetensors only.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from engine.config import ModelConfig
from engine.gguf.reader import GgufFile
from engine.quant.codecs import decode
from tests.perf.hf_config import hf_config
from tests.support.tiny_model import EXPERT_NAMES, GLOBAL_NAMES, LAYER_NAMES


def write_checkpoint(model: Path, folder: Path) -> None:
    """Write config.json and model.safetensors (float32) for the GGUF file `model`."""
    with GgufFile.open(model) as file:
        config = ModelConfig.from_gguf(file)
        save_file(dict(_tensors(file)), folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(hf_config(config), indent=1))


def _tensors(file: GgufFile) -> list[tuple[str, torch.Tensor]]:
    globals_back = {gguf: hf for hf, gguf in GLOBAL_NAMES.items()}
    layers_back = {gguf: hf for hf, gguf in LAYER_NAMES.items()}
    experts_back = {gguf: hf for hf, gguf in EXPERT_NAMES.items()}
    found = []
    for name, info in file.tensors.items():
        tensor = decode(info.type_id, file.data(info), info.shape)
        if name in globals_back:
            found.append((globals_back[name], tensor))
            continue
        _, layer, leaf = name.split(".", 2)
        if leaf in experts_back:
            prefix = f"layers.{layer}.ffn.experts"
            found += [(f"{prefix}.{e}.{experts_back[leaf]}.weight", part.contiguous()) for e, part in enumerate(tensor)]
        else:
            tensor = tensor.long() if leaf.startswith("ffn_gate_tid2eid") else tensor
            found.append((f"layers.{layer}.{layers_back[leaf]}", tensor))
    return found
