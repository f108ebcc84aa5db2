"""The GPU backend: the project's kernels on an AMD or NVIDIA device, torch for memory and dense library products.

Weights stay in their file's blocks on the device. Activations between operations are float32, the inputs of products
F16. Every call queues work on torch's current stream and returns; `pace` keeps the queue short. One instance serves
one loaded model on the session's thread.
"""

from collections import deque
from contextlib import suppress

import torch

from engine.backends.base import TokenProgram
from engine.backends.failures import device_error, is_out_of_memory, log_of
from engine.backends.gpu_buffers import gpu_step_buffers
from engine.backends.gpu_decode import DecodeProgram
from engine.backends.gpu_experts import run_experts
from engine.backends.gpu_machine import GpuMachine
from engine.backends.gpu_matrix import stored_of
from engine.backends.gpu_memory import largest_usual_step, require_gpu_memory
from engine.backends.gpu_placement import BlockPlacement
from engine.backends.gpu_products import DenseProducts, exact_product
from engine.backends.gpu_rehearsal import rehearse
from engine.backends.gpu_residual import ResidualStreams
from engine.cache_shape import CacheShape
from engine.config import ModelConfig
from engine.errors import EngineError, UserError
from engine.layers.compressor import Windows
from engine.layers.hyper_connection import Mixed, Mixer
from engine.layers.matrix import Matrix
from engine.layers.moe import Experts, Router, Routing
from engine.layers.rope import rotation
from engine.layers.rounding import KvRounding
from engine.layers.row_attention import QueryForm, RowSpace
from engine.placement import Placement
from engine.plan import AttentionPlan, Band, Step
from engine.state import SessionState
from engine.step_buffers import Buffer, peak_bytes
from engine.stored_weights import StoredWeights
from engine.weights import ModelWeights
from kernels.errors import KernelError
from kernels.launch import Launcher
from kernels.ops import attention, compressor, indexer, matvec, routing, rows
from kernels.ops.formats import unpack

SCORE_BYTES = 64 << 20  # indexer scores that exist at once
_FEW_ROWS = 8  # up to so many rows, a product reads the blocks once a row, as decode does
_QUEUED_MARKS = 2

_PLANS = {
    AttentionPlan.WINDOW: attention.Plan.WINDOW,
    AttentionPlan.CONTIGUOUS: attention.Plan.CONTIGUOUS,
    AttentionPlan.INDEXED: attention.Plan.INDEXED,
}


class GpuBackend:
    """See engine.backends.base.Backend."""

    name = "gpu"
    singly_up_to = 12
    works_in_bands = False  # weights are swept once a step
    compute_dtype = torch.float16
    copied_bytes = 0  # decoding reads the placed weights

    def __init__(self, config: ModelConfig, launcher: Launcher, products: DenseProducts, note: str) -> None:
        self._machine = GpuMachine.of(config, launcher)
        self.config, self.launcher, self.products = config, launcher, products
        self.device = launcher.device.description
        self.tensor_device = launcher.device.tensor_device
        self.native_note = note
        self.shapes = self._machine.shapes
        self._streams = ResidualStreams(self._machine)
        self._start = torch.zeros(1, dtype=torch.int32, device=self.tensor_device)
        self._started_at = 0
        self._marks: deque[torch.cuda.Event] = deque()
        self._weights: ModelWeights | None = None

    def require_memory(self, stored: StoredWeights, rounding: KvRounding) -> None:
        """Weights as placed, a conversation of usual length, and the buffers of its largest step."""
        if rounding is KvRounding.NONE:
            raise UserError("kv_rounding 'none' keeps float32 rows; the GPU stores rows in F16")
        shape = CacheShape.from_config(self.config)
        step, context = largest_usual_step(self.config)
        require_gpu_memory(stored, shape, context, peak_bytes(self.step_buffers(shape, step)), self.tensor_device)

    def placement(self) -> Placement:
        return BlockPlacement(self.tensor_device)

    def release(self) -> None:
        self._weights = None
        if self.tensor_device.type != "cuda":
            return
        with suppress(RuntimeError):  # on a device that failed nothing can be given back
            torch.cuda.synchronize()
            torch.cuda.empty_cache()

    def step_buffers(self, shape: CacheShape, step: Step) -> tuple[Buffer, ...]:
        return gpu_step_buffers(shape, step, SCORE_BYTES)

    def pace(self) -> None:
        """Wait until the device has reached the last mark but one, then set a new mark."""
        if self.tensor_device.type != "cuda":
            return
        if len(self._marks) >= _QUEUED_MARKS:
            self._marks.popleft().synchronize()
        mark = torch.cuda.Event()  # type: ignore[no-untyped-call]  # torch has no stub for it
        mark.record()
        self._marks.append(mark)

    def as_input(self, x: torch.Tensor) -> torch.Tensor:
        return x.half().contiguous()

    def norm_input(self, x: torch.Tensor, norm: torch.Tensor) -> torch.Tensor:
        out = self._new(*x.shape, dtype=torch.float16)
        form = rows.RowForm(x.shape[1], half=True)
        rows.finish_rows(
            self.launcher, form, x.contiguous(), out, self._start, weight=norm, epsilon=self.config.rms_eps
        )
        return out

    def embed(self, token_ids: torch.Tensor, embedding: Matrix) -> torch.Tensor:
        stored = stored_of(embedding)
        geometry = stored.kind.value
        chosen = stored.blocks.index_select(0, token_ids).view(-1, geometry.bytes)
        found = self._new(len(chosen), geometry.block)
        unpack(self.launcher, stored.kind, chosen, found)
        return found.view(-1, 1, self.config.hidden).repeat(1, self.config.streams, 1)

    def linear(self, x: torch.Tensor, weight: Matrix) -> torch.Tensor:
        """float32 [N, out]."""
        if isinstance(weight, torch.Tensor):
            return exact_product(x, weight)
        stored = stored_of(weight)
        if len(x) > _FEW_ROWS:
            return self.products.multiply(x, stored)
        out = self._new(len(x), stored.rows)
        matvec.multiply(self.launcher, stored, x.float().contiguous()[:, None, :], out)
        return out

    def grouped_linear(self, o: torch.Tensor, weight: Matrix) -> torch.Tensor:
        """F16 [N, G·out_rank]; float32 where few rows go through the decode products."""
        stored, groups = stored_of(weight), self.config.out_groups
        if len(o) > _FEW_ROWS:
            return self.products.multiply_groups(o, stored, groups)
        out = self._new(len(o), stored.rows)
        matvec.multiply(self.launcher, stored, o.float().contiguous().view(len(o), groups, stored.width), out)
        return out

    def finish_rows(
        self, kv: torch.Tensor, norm: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, rounding: KvRounding
    ) -> torch.Tensor:
        out = self._new(*kv.shape, dtype=torch.float16)
        rows.finish_rows(
            self.launcher,
            self.shapes.raw_rows(rounding),
            kv.contiguous(),
            out,
            self._start,
            weight=norm,
            rotation=(cos, sin),
            epsilon=self.config.rms_eps,
        )
        return out

    def append_rows(self, values: torch.Tensor, gates: torch.Tensor, start: int, windows: Windows) -> None:
        weights = windows.weights
        first, stop = start // weights.ratio, (start + len(values)) // weights.ratio
        positions = torch.arange(first, max(stop, first + 1), device=self.tensor_device) * weights.ratio
        compressor.close_windows(
            self.launcher,
            self.shapes.compressor(weights.ratio, windows.rounding, windows.is_index),
            values.contiguous(),
            gates.contiguous(),
            weights.ape,
            weights.norm,
            rotation(positions, windows.frequencies),
            compressor.Rolling(windows.rolling.values, windows.rolling.scores),
            windows.store,
            self._at(start),
            start,
            self.config.rms_eps,
        )

    def index_queries(
        self, index_q: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, rounding: KvRounding
    ) -> torch.Tensor:
        """F16, exact in it: what the stored precision keeps."""
        heads, width = self.config.index_heads, self.config.index_dim
        out = self._new(len(index_q) * heads, width, dtype=torch.float16)
        rows.finish_rows(
            self.launcher,
            self.shapes.index_queries(rounding),
            index_q.contiguous().view(-1, width),
            out,
            self._start,
            rotation=(cos.contiguous(), sin.contiguous()),
            rows_per_position=heads,
        )
        return out.view(-1, heads, width)

    def mix(self, streams: torch.Tensor, mixer: Mixer, norm: torch.Tensor) -> Mixed:
        return self._streams.mix(streams, mixer, norm)

    def expand(self, streams: torch.Tensor, y: torch.Tensor, mixed: Mixed) -> None:
        self._streams.expand(streams, y, mixed)

    def expand_mix(
        self, streams: torch.Tensor, y: torch.Tensor, mixed: Mixed, mixer: Mixer, norm: torch.Tensor
    ) -> Mixed:
        return self._streams.expand_mix(streams, y, mixed, mixer, norm)

    def collapse(self, streams: torch.Tensor, head: Mixer, norm: torch.Tensor) -> torch.Tensor:
        return self._streams.collapse(streams, head, norm)

    def select(
        self, queries: torch.Tensor, weights: torch.Tensor, rows: torch.Tensor, position: int, ratio: int, top_k: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """By pieces of tokens, so that scores take no more than SCORE_BYTES."""
        shape, tokens, stored = self.shapes.indexer(top_k), len(queries), len(rows)
        ids = self._new(tokens, top_k, dtype=torch.int32)
        counts = self._new(tokens, dtype=torch.int32)
        start, weights = self._at(position), weights.contiguous()
        size = max(16, SCORE_BYTES // (4 * stored) // 16 * 16)
        scores = self._new(min(size, tokens), stored)
        for first in range(0, tokens, size):
            part = slice(first, min(first + size, tokens))
            span = indexer.TokenRange(start, position, first, part.stop - first, stored, ratio)
            own = scores[: span.tokens]
            indexer.score(self.launcher, shape, queries[part], weights[part], rows, own, span)
            indexer.select(self.launcher, shape, own, ids[part], counts[part], span)
        return ids, counts

    def new_attention_output(self, q: torch.Tensor) -> torch.Tensor:
        return q

    def attend(self, q: torch.Tensor, band: Band, space: RowSpace, form: QueryForm, out: torch.Tensor) -> None:
        view, selection = space.view, space.selection
        attended = attention.AttentionRows(
            _PLANS[space.plan],
            space.raw,
            space.compressed,
            view.ratio,
            None if selection is None else selection.ids,
            None if selection is None else selection.counts,
            view.tokens if selection is None else selection.first,
        )
        angles = attention.QueryRotation(form.cos, form.sin, form.sinks, form.eps)
        start = self._at(view.start)
        attention.attend(
            self.launcher, self.shapes.attention, q, attended, angles, out, start, view.start, first_token=band.start
        )

    def route(self, x: torch.Tensor, token_ids: torch.Tensor, router: Router) -> Routing:
        used = self.config.experts_used
        found = Routing(self._new(len(x), used, dtype=torch.int32), self._new(len(x), used))
        routing.route(
            self.launcher,
            self.shapes.router(router.table is not None),
            self.linear(x, router.gate),
            found.experts,
            found.weights,
            self.config.expert_scale,
            router.bias,
            router.table,
            token_ids.int() if router.table is not None else None,
        )
        return found

    def run_experts(self, x: torch.Tensor, routing: Routing, experts: Experts) -> torch.Tensor:
        return run_experts(self.launcher, self.products, self.as_input(x), routing, experts)

    def prepare_decode(self, stored: StoredWeights, weights: ModelWeights) -> None:
        """Builds and tries the model's kernels. Raises EngineError naming the kernel that does not build or run."""
        self._weights = weights
        try:
            rehearse(self, self._machine, weights)
        except KernelError as failure:
            raise EngineError(f"{failure}{log_of(failure)}") from failure
        except RuntimeError as failure:  # a torch without code for this GPU, say
            if is_out_of_memory(failure):
                raise
            raise device_error(failure) from failure

    def token_program(self, state: SessionState, selects: bool) -> TokenProgram | None:
        return None if self._weights is None else DecodeProgram(self._machine, self._weights, state, selects)

    def _new(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device=self.tensor_device)

    def _at(self, position: int) -> torch.Tensor:
        """The step's position on the device; written anew only when it changes, in the order of the queue."""
        if position != self._started_at:
            self._start.fill_(position)
            self._started_at = position
        return self._start
