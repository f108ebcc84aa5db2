"""Random blocks of every weight format, with the engine's decoder as the reference."""

import torch

from engine.quant import codecs as quant
from engine.quant.codecs import Codec
from kernels.ops.formats import WeightFormat

CODECS: dict[WeightFormat, Codec] = {
    WeightFormat.F16: quant.codec_for(1),
    WeightFormat.Q8_0: quant.codec_for(8),
    WeightFormat.Q2_K: quant.codec_for(10),
    WeightFormat.Q4_K: quant.codec_for(12),
    WeightFormat.IQ2_XXS: quant.codec_for(16),
    WeightFormat.MXFP4: quant.codec_for(39),
    WeightFormat.ROCMFP4: quant.codec_for(100),
    WeightFormat.ROCMFP4_FAST: quant.codec_for(101),
    WeightFormat.ROCMFP8: quant.codec_for(103),
    WeightFormat.ROCMFP3: quant.codec_for(104),
    WeightFormat.ROCMFP2: quant.FP2_CODEBOOK,
    WeightFormat.ROCMFP2_S40: quant.FP2_S40,
    WeightFormat.ROCMFP2_AFFINE: quant.FP2_AFFINE,
}
_ALL = list(WeightFormat)
# Bytes of a block that hold F16 scales, or scale bytes of the ROCmFP and MXFP4 formats.
_HALF_SCALES = {
    WeightFormat.Q8_0: (0,),
    WeightFormat.Q2_K: (80, 82),
    WeightFormat.Q4_K: (0, 2),
    WeightFormat.IQ2_XXS: (0,),
}
_SCALE_BYTES = {
    WeightFormat.MXFP4: (0,),
    WeightFormat.ROCMFP4: (16, 17),
    WeightFormat.ROCMFP4_FAST: (16,),
    WeightFormat.ROCMFP8: (32,),
    WeightFormat.ROCMFP3: (12, 13),
    WeightFormat.ROCMFP2: (8, 9),
    WeightFormat.ROCMFP2_S40: (8, 9),
    WeightFormat.ROCMFP2_AFFINE: (8, 9),
}


def random_blocks(random: torch.Generator, kind: WeightFormat, count: int) -> torch.Tensor:
    """uint8 [count, bytes] on the generator's device: random codes under scales as a trained model has them."""
    on = random.device
    if kind is WeightFormat.F16:
        return (torch.randn(count, 32, generator=random, device=on) * 0.02).half().view(torch.uint8)
    blocks = torch.randint(0, 256, (count, kind.value.bytes), generator=random, dtype=torch.uint8, device=on)
    for at in _HALF_SCALES.get(kind, ()):
        scale = (torch.rand(count, 1, generator=random, device=on) + 0.5) * {WeightFormat.Q8_0: 2e-4}.get(kind, 1e-3)
        blocks[:, at : at + 2] = scale.half().view(torch.uint8)
    for at in _SCALE_BYTES.get(kind, ()):
        low, high = (119, 123) if kind is WeightFormat.MXFP4 else (1, 24)
        blocks[:, at] = torch.randint(low, high, (count,), generator=random, dtype=torch.uint8, device=on)
    return blocks


def random_weights(
    random: torch.Generator, kind: WeightFormat, rows: int, width: int, experts: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """uint8 [experts * rows, row bytes] and the same weights as float64 [experts, rows, width]."""
    blocks = random_blocks(random, kind, experts * rows * width // kind.value.block)
    return blocks.view(experts * rows, -1), CODECS[kind].decode(blocks).double().view(experts, rows, width)
