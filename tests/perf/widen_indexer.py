"""A copy of the embedded model whose indexer rows are 64 wide: zeros in front of each lane, the same selection.

llama.cpp's indexer needs a multiple of 64. Zero channels add nothing to a score; the norm's mean square halves, so its
weight is divided by sqrt(2).
"""

from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt

from engine.config import ModelConfig
from engine.gguf.reader import GgufFile

Array = npt.NDArray[np.generic]


def write_widened(source: Path, target: Path) -> None:
    """Copy `source` to `target`, doubling the indexer's width."""
    with GgufFile.open(source) as file:
        config = ModelConfig.from_gguf(file)
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, "deepseek4")
    for field in reader.fields.values():
        if field.name == "deepseek4.attention.indexer.key_length":
            writer.add_uint32(field.name, 2 * config.index_dim)
        elif not field.name.startswith("GGUF.") and field.name != "general.architecture":
            kind = field.types[0]
            writer.add_key_value(field.name, field.contents(), kind, field.types[-1] if len(field.types) > 1 else None)
    for tensor in reader.tensors:
        data = _widened(tensor.name, tensor.data, config)
        writer.add_tensor(tensor.name, data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _widened(name: str, data: Array, config: ModelConfig) -> Array:
    width = config.index_dim
    if "indexer.attn_q_b" in name:
        return _zeros_before_each(data, width, axis=0)
    if "indexer_compressor_norm" in name:
        return np.concatenate([np.ones(width, data.dtype), data / np.sqrt(2).astype(data.dtype)])
    if "indexer_compressor_ape" in name:
        return _zeros_before_each(data, width, axis=1)
    if "indexer_compressor_" in name:
        return _zeros_before_each(data, width, axis=0)
    return data


def _zeros_before_each(data: Array, width: int, axis: int) -> Array:
    parts = np.split(data, data.shape[axis] // width, axis=axis)
    return np.concatenate([part for lane in parts for part in (np.zeros_like(lane), lane)], axis=axis)
