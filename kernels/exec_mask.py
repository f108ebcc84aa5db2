"""Finds wave exchanges and matrix products that run with part of the wave switched off, in gfx assembly text.

Such code is wrong on the machine and right on every emulator: the known case is a compiler that sinks the last
exchange of a wave sum under the `if (lane == 0)` of its store. The exec mask is followed through the control-flow
graph by a must-analysis: at each instruction, is exec surely what it was at the kernel's start? Pure text work.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kernels.resources import instructions

_RANGE = re.compile(r"s\[(\d+):(\d+)\]")


@dataclass(frozen=True, slots=True)
class Mask:
    """What is known at a point: whether exec is full, and which scalar registers give a full exec when or-ed into it.

    Those are registers that saved a full exec, its complements, and the finished-lane masks of loops.
    """

    is_full: bool
    restores: frozenset[str]

    def meet(self, other: "Mask") -> "Mask":
        return Mask(self.is_full and other.is_full, self.restores & other.restores)

    def without(self, registers: set[str]) -> "Mask":
        return replace(self, restores=self.restores - registers)

    def saved_in(self, register: str) -> "Mask":
        kept = self.restores | {register} if self.is_full else self.restores - {register}
        return replace(self, restores=kept)


def masked_exchanges(assembly: str) -> list[str]:
    """The offending instructions as text, in order; a correct kernel has none."""
    code = instructions(assembly, labels=True)
    states = _solve(code)
    found = []
    for (name, operands), state in zip(code, states, strict=True):
        if state is not None and not state.is_full and _exchanges(name, operands):
            found.append(f"{name} {operands}")
    return found


def _exchanges(name: str, operands: str) -> bool:
    return name.startswith(("v_permlanex16", "v_wmma", "ds_bpermute")) or "row_xmask" in operands


def _solve(code: list[tuple[str, str]]) -> list[Mask | None]:
    """The state before each instruction; None where it cannot be reached."""
    labels = {name[:-1]: at for at, (name, _) in enumerate(code) if name.endswith(":")}
    states: list[Mask | None] = [None] * len(code)
    pending = [(0, Mask(True, frozenset()))] if code else []
    while pending:
        at, arriving = pending.pop()
        known = states[at]
        state = arriving if known is None else known.meet(arriving)
        if state == known:
            continue
        states[at] = state
        after = _step(state, *code[at])
        pending += [(following, after) for following in _successors(code, labels, at)]
    return states


def _successors(code: list[tuple[str, str]], labels: dict[str, int], at: int) -> Iterator[int]:
    name, operands = code[at]
    if name.startswith(("s_branch", "s_cbranch")) and operands in labels:
        yield labels[operands]
    if not name.startswith(("s_branch", "s_endpgm")) and at + 1 < len(code):
        yield at + 1


def _step(state: Mask, name: str, operands: str) -> Mask:
    """The state after one instruction."""
    parts = [part.strip() for part in operands.split(",")]
    target = parts[0]
    if name.startswith("v_cmpx"):
        return replace(state, is_full=False)
    if "saveexec" in name:
        return _after_saveexec(state, name, target, parts[-1])
    if target == "exec_lo":
        return replace(state, is_full=_writes_full(state, name, parts))
    if name.startswith("s_") and _makes_restorer(state, name, target, parts[1:]):
        return replace(state, restores=state.restores | {target})
    return state.without(_written(name, target))


def _after_saveexec(state: Mask, name: str, target: str, source: str) -> Mask:
    if name.startswith("s_and_saveexec"):
        return replace(state.saved_in(target), is_full=False)
    if name.startswith("s_and_not1_saveexec"):
        # The other branch: its lanes and the saved ones of the first branch make up the mask again.
        restored = replace(state, is_full=source in state.restores).saved_in(target)
        return replace(restored, is_full=False)
    # s_or_saveexec: exec returns to where it was saved; the register now holds the lanes of the finished branch.
    return replace(state, is_full=state.is_full or source in state.restores)


def _writes_full(state: Mask, name: str, parts: list[str]) -> bool:
    """Whether a scalar instruction that writes exec leaves it full."""
    if name == "s_mov_b32":
        return parts[1] == "-1" or parts[1] in state.restores
    return name == "s_or_b32" and (state.is_full or any(part in state.restores for part in parts[1:]))


def _makes_restorer(state: Mask, name: str, target: str, sources: list[str]) -> bool:
    """Whether a scalar instruction leaves in `target` what makes exec full again."""
    if name == "s_mov_b32":  # a copy of a full exec, or the start of a loop's mask of finished lanes
        return state.is_full and sources[0] in ("exec_lo", "0")
    if name == "s_xor_b32" and "exec_lo" in sources:  # the complement of exec inside a saved mask
        return any(source in state.restores for source in sources)
    return name == "s_or_b32" and target in sources and target in state.restores  # gathers finished lanes


def _written(name: str, target: str) -> set[str]:
    """The scalar registers an instruction writes, as far as its first operand says."""
    if name.startswith(("s_cmp", "s_cbranch", "s_branch", "s_waitcnt", "global_", "ds_", "v_fma", "v_wmma")):
        return set()
    pair = _RANGE.match(target)
    if pair:
        return {f"s{number}" for number in range(int(pair.group(1)), int(pair.group(2)) + 1)}
    return {target}
