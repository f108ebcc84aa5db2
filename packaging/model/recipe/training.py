"""The training loop: phases of growing length, one learning-rate schedule, checkpoints that continue exactly.

Progress is a share of the planned training seconds, or of the planned steps where a recipe names them; it decides the
phase and the rate, so a run that was stopped goes on as if it had not been. One process, one device; several train
as a team (recipe.team), each on its share of every batch.
"""

import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from recipe.dataset import FULL_WEIGHT, Sequences
from recipe.optimiser import Optimiser, Rates
from recipe.settings import Training
from recipe.student import Student
from recipe.student_shape import TABLE_LEAF, is_matrix, is_trained
from recipe.team import ALONE, Team
from torch import Tensor


@dataclass(slots=True)
class Progress:
    """Where training stands. `positions` counts the sequences used of each phase's data, over all its rounds."""

    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0
    positions: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Validation:
    """Nats a token and bits a byte over the held-out sequences' text."""

    nats_per_token: float
    bits_per_byte: float


class Trainer:
    """Trains `student` on one `Sequences` a phase; `folder` holds checkpoint.pt, middle.pt and log.jsonl.

    A phase's batch is what each member of the `team` takes, so a step of two members has twice as many tokens.
    """

    def __init__(
        self, student: Student, plan: Training, seconds: float, folder: Path, seed: int, team: Team = ALONE
    ) -> None:
        self.student, self._plan, self._seconds, self._folder, self._seed = student, plan, seconds, folder, seed
        self._team = team
        trained = {name: tensor for name, tensor in student.parameters.items() if is_trained(name)}
        matrices = {name: tensor for name, tensor in trained.items() if is_matrix(name, tensor)}
        others = {name: tensor for name, tensor in trained.items() if name not in matrices}
        self._trained = list(trained.values())
        self._optimiser = Optimiser(matrices, others)
        self._orders: dict[tuple[int, int], Tensor] = {}
        self.progress = Progress(positions=[0] * len(plan.phases))

    @property
    def share_done(self) -> float:
        plan, progress = self._plan, self.progress
        return progress.steps / plan.most_steps if plan.most_steps else progress.seconds / self._seconds

    def run(self, data: Sequence[Sequences], held_out: Sequences, sizes: Tensor, stop_at: float) -> bool:
        """Train until done (True) or time.monotonic() reaches `stop_at` (False); a checkpoint is left either way."""
        last_checkpoint = last = self._team.agree(time.monotonic())
        while self.share_done < 1 and last < stop_at:
            number = self._phase_number()
            loss, index_loss = self._step(data[number], number)
            if self.share_done >= self._plan.middle:
                self._keep_middle()
            if self.progress.steps % self._plan.validate_every == 0:
                self._log(number, loss, index_loss, held_out, sizes)
            now = self._team.agree(time.monotonic())
            self.progress.seconds += now - last
            last = now
            if now - last_checkpoint > self._plan.checkpoint_seconds:
                self.save()
                last_checkpoint = now
        if self.share_done >= 1:
            self._log(len(data) - 1, None, None, held_out, sizes)
        self.save()
        return self.share_done >= 1

    def _phase_number(self) -> int:
        passed = 0.0
        for number, phase in enumerate(self._plan.phases):
            passed += phase.share
            if self.share_done < passed - 1e-9:
                return number
        return len(self._plan.phases) - 1

    def _step(self, data: Sequences, number: int) -> tuple[Tensor, Tensor]:
        """One optimiser step; returns the weighted loss in nats and the indexers' loss, still on the device.

        Both are this member's; what they weigh by is the team's, so the step is that of the whole batch.
        """
        phase, device, team = self._plan.phases[number], self.student.device, self._team
        rows = team.share(self._rows(data, phase.batch * team.size, number))
        ids, weights = data.ids[rows].to(device).long(), data.weights[rows].to(device).float() / FULL_WEIGHT
        output = self.student.forward(ids[:, :-1])
        losses = self.student.losses(output.hidden, ids[:, 1:])
        total = weights[:, 1:].sum()
        team.average([total])
        loss = (losses * weights[:, 1:]).sum() / total.clamp_min(1)
        (loss + self._plan.index_weight * output.index_loss).backward()
        team.average([*(tensor.grad for tensor in self._trained if tensor.grad is not None), output.loads])
        self._optimiser.step(Rates(self._rate(), self._plan.weight_decay), self._plan.clip)
        self._balance(output.loads)
        self.progress.steps += 1
        self.progress.tokens += ids[:, 1:].numel() * team.size
        return loss.detach(), output.index_loss.detach()

    def _rows(self, data: Sequences, batch: int, number: int) -> Tensor:
        """The next `batch` rows of the phase's data, which is gone through in a new order each round."""
        position, count = self.progress.positions[number], len(data.ids)
        self.progress.positions[number] += batch
        picked = [self._order(number, at // count, count)[at % count] for at in range(position, position + batch)]
        return torch.stack(picked)

    def _order(self, number: int, round_: int, count: int) -> Tensor:
        if (number, round_) not in self._orders:
            generator = torch.Generator().manual_seed(self._seed + 1000 * number + round_)
            self._orders[number, round_] = torch.randperm(count, generator=generator)
        return self._orders[number, round_]

    def _rate(self) -> float:
        plan, share = self._plan, self.share_done
        if share > plan.decay_from:
            left = (1 - share) / (1 - plan.decay_from)
            return plan.rate * (plan.last_rate + (1 - plan.last_rate) * max(left, 0.0))
        return plan.rate * min(1.0, (self.progress.steps + 1) / plan.warm_up)

    @torch.no_grad()
    def _balance(self, loads: Tensor) -> None:
        """Move router biases towards equal loads, without a loss of their own (the bias only selects)."""
        for layer, load in enumerate(loads):
            bias = self.student.parameters.get(f"blk.{layer}.exp_probs_b.bias")
            if bias is not None:
                bias += self._plan.bias_step * torch.sign(1 / len(load) - load)

    def _log(
        self, number: int, loss: Tensor | None, index_loss: Tensor | None, held_out: Sequences, sizes: Tensor
    ) -> None:
        if not self._team.is_leader:
            return
        validation = validate(self.student, held_out, sizes)
        line = asdict(self.progress) | {
            "length": self._plan.phases[number].length,
            "rate": self._rate(),
            "loss": None if loss is None else float(loss),
            "index_loss": None if index_loss is None else float(index_loss),
            "held_out_nats_per_token": validation.nats_per_token,
            "held_out_bits_per_byte": validation.bits_per_byte,
        }
        with (self._folder / "log.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)

    def save(self) -> None:
        """Weights, optimiser, position and random state, whole or not at all. The leader's are everybody's."""
        if not self._team.is_leader:
            return
        scratch = self._folder / "checkpoint.part"
        state = {
            "parameters": self.student.parameters,
            "optimiser": self._optimiser.state(),
            "progress": asdict(self.progress),
            "random": torch.get_rng_state(),
        }
        torch.save(state, scratch)
        scratch.replace(self._folder / "checkpoint.pt")

    def _keep_middle(self) -> None:
        """The first time only, also over several calls."""
        path = self._folder / "middle.pt"
        if self._team.is_leader and not path.exists():
            scratch = path.with_suffix(".part")
            torch.save(self.student.parameters, scratch)
            scratch.replace(path)

    def resume(self) -> bool:
        """Go on from checkpoint.pt where there is one; whether there was. A new training keeps no other's middle."""
        path = self._folder / "checkpoint.pt"
        if not path.exists():
            if self._team.is_leader:
                (self._folder / "middle.pt").unlink(missing_ok=True)
            return False
        state = torch.load(path, map_location=self.student.device, weights_only=True)
        with torch.no_grad():
            for name, tensor in self.student.parameters.items():
                tensor.copy_(state["parameters"][name])
        self.student.tables = {
            name: tensor.long() for name, tensor in self.student.parameters.items() if name.endswith(TABLE_LEAF)
        }
        self._optimiser.restore(state["optimiser"], state["optimiser"]["steps"])
        self.progress = Progress(**state["progress"])
        torch.set_rng_state(state["random"].cpu())
        return True


@torch.no_grad()
def validate(student: Student, held_out: Sequences, sizes: Tensor) -> Validation:
    """Loss over every held-out token that counts; `sizes` int64 [vocab] are the tokens' bytes."""
    student, nats, tokens, text_bytes = student.eager(), 0.0, 0.0, 0.0
    for row, weight in zip(held_out.ids.split(4), held_out.weights.split(4), strict=True):
        ids = row.to(student.device).long()
        counts = weight[:, 1:].to(student.device) > 0
        losses = student.losses(student.forward(ids[:, :-1]).hidden, ids[:, 1:])
        nats += float((losses * counts).sum())
        tokens += float(counts.sum())
        text_bytes += float((sizes.to(student.device)[ids[:, 1:]] * counts).sum())
    return Validation(nats / max(tokens, 1), nats / math.log(2) / max(text_bytes, 1))
