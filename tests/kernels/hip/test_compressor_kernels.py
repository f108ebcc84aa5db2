"""Compressors on the emulator: rows against float64, and one step against token by token, bit for bit."""

import pytest
import torch

from engine.layers.rope import rotate
from kernels.launch import Launcher
from kernels.ops.compressor import CompressorShape, Rolling, close_windows
from kernels.ops.rows import Rounding
from tests.kernels.hip.emulated import GuardedBuffers, nmse, replay

SHAPES = [CompressorShape(4, 64, 16), CompressorShape(128, 64, 16), CompressorShape(4, 32, 16)]
EMPTY = -1e30


class Layer:
    """Weights and a whole timeline of projections of one compressor."""

    def __init__(self, random: torch.Generator, shape: CompressorShape, length: int) -> None:
        self.shape = shape
        self.values = torch.randn(length, shape.token_width, generator=random)
        self.gates = torch.randn(length, shape.token_width, generator=random) * 2
        self.bias = torch.randn(shape.ratio, shape.token_width, generator=random)
        self.norm = torch.rand(shape.width, generator=random) + 0.5
        angles = torch.rand(length // shape.ratio + 1, shape.rotary // 2, generator=random) * 6.28
        self.cos, self.sin = angles.cos(), angles.sin()

    def empty(self, buffers: GuardedBuffers) -> Rolling:
        shape = self.shape.state_rows, self.shape.token_width
        state = Rolling(buffers.new(*shape), buffers.new(*shape))
        state.values.zero_()
        state.gates.fill_(EMPTY)
        return state

    def step(self, launcher: Launcher, state: Rolling, out: torch.Tensor, position: int, tokens: int) -> None:
        first, span = position // self.shape.ratio, slice(position, position + tokens)
        close_windows(
            launcher,
            self.shape,
            self.values[span],
            self.gates[span],
            self.bias,
            self.norm,
            (self.cos[first:], self.sin[first:]),
            state,
            out,
            torch.tensor([position], dtype=torch.int32),
            position,
        )

    def reference(self, window: int) -> torch.Tensor:
        """Row `window` in float64, straight from the definition."""
        ratio, width = self.shape.ratio, self.shape.width
        tokens = torch.arange(window * ratio, (window + 1) * ratio)
        values, gates = self.values[tokens].double(), (self.gates[tokens] + self.bias).double()
        if ratio == 4:
            own_values, own_gates = values[:, width:], gates[:, width:]
            before = tokens - 4
            if window:
                values = torch.cat([self.values[before, :width].double(), own_values])
                gates = torch.cat([(self.gates[before] + self.bias)[:, :width].double(), own_gates])
            else:
                values, gates = own_values, own_gates
        row = (gates.softmax(dim=0) * values).sum(dim=0)
        row = row * (row.square().mean() + 1e-6).rsqrt() * self.norm.double()
        return rotate(row[None], self.cos[window : window + 1].double(), self.sin[window : window + 1].double())[0]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_of_one_step_match_float64(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, shape: CompressorShape
) -> None:
    length = shape.ratio * 3 + 2
    layer = Layer(random, shape, length)

    def run() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        state, out = layer.empty(buffers), buffers.new(length // shape.ratio, shape.width, dtype=torch.float16)
        layer.step(launcher, state, out, 0, length)
        return out, state.values, state.gates

    out, _, _ = replay(launcher, run)
    assert nmse(out, torch.stack([layer.reference(i) for i in range(3)])) <= 1e-6


def test_flash_rows_match_float64(launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator) -> None:
    layer = Layer(random, CompressorShape(4, 512, 64), 13)
    state, out = layer.empty(buffers), buffers.new(3, 512, dtype=torch.float16)
    layer.step(launcher, state, out, 0, 13)
    assert nmse(out, torch.stack([layer.reference(i) for i in range(3)])) <= 1e-6


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("first", [0, 1, 2, 3, 4, 127, 130])
def test_a_step_equals_token_by_token_bit_for_bit(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, shape: CompressorShape, first: int
) -> None:
    """Rows and rolling state, for a step that begins anywhere in a window and ends anywhere."""
    tokens = 9 if shape.ratio == 4 else 131
    length = first + tokens
    layer = Layer(random, shape, length)
    results = []
    for cuts in ([first, tokens], [first, *[1] * min(tokens, 9), tokens - min(tokens, 9)]):
        state, out = layer.empty(buffers), buffers.new(length // shape.ratio, shape.width, dtype=torch.float16)
        position = 0
        for size in cuts:
            if size:
                layer.step(launcher, state, out, position, size)
            position += size
        results.append((out, state.values, state.gates))
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("shape", SHAPES[:2], ids=str)
def test_the_state_is_the_specified_one(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator, shape: CompressorShape
) -> None:
    """Slot j of the current window holds the newest token at j modulo the ratio; the rows before it the last window."""
    length = shape.ratio * 2 + 3
    layer = Layer(random, shape, length)
    state, out = layer.empty(buffers), buffers.new(2, shape.width, dtype=torch.float16)
    layer.step(launcher, state, out, 0, length)
    gates = layer.gates + layer.bias.repeat(3, 1)[:length]
    newest = torch.tensor([max(p for p in range(length) if p % shape.ratio == j) for j in range(shape.ratio)])
    previous = torch.arange(shape.ratio, 2 * shape.ratio)
    wanted = torch.cat([previous, newest]) if shape.ratio == 4 else newest
    assert torch.equal(state.values, layer.values[wanted])
    assert torch.equal(state.gates, gates[wanted])


def test_the_first_window_is_a_softmax_of_its_own_four_tokens(
    launcher: Launcher, buffers: GuardedBuffers, random: torch.Generator
) -> None:
    """Empty previous entries have weight exactly 0: values of the empty state cannot leak."""
    layer = Layer(random, CompressorShape(4, 64, 16, Rounding.NONE), 4)
    rows = []
    for filler in (0.0, 1e20):
        state, out = layer.empty(buffers), buffers.new(1, 64, dtype=torch.float16)
        state.values.fill_(filler)
        layer.step(launcher, state, out, 0, 4)
        rows.append(out)
    assert torch.equal(rows[0], rows[1])
    assert nmse(rows[0], layer.reference(0)[None]) <= 1e-6
