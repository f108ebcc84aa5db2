"""Kernels that may start early (device/overlap.h) keep its rule as far as text shows: they wait before they can end."""

import re

import pytest

from kernels.source import DEVICE_FOLDER, KernelSource

BODY = re.compile(r"^KERNEL(?:_WAVES)?\([^)]*\)\s+(\w+)\([^)]*\) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
CONSTANTS = {"fn", "matrix", "gate", "up"}  # weights: no kernel writes them
LAMBDA = re.compile(r"^    auto \w+ = \[&\].*?^    \};\n", re.MULTILINE | re.DOTALL)
WAITING = sorted(path for path in DEVICE_FOLDER.glob("*.hip") if "await_inputs();" in path.read_text())


def test_some_kernels_overlap_and_their_sources_say_so() -> None:
    assert WAITING
    assert KernelSource("residual_expand", "residual_expand", (), 256).overlaps
    assert not KernelSource("expert_counts", "expert_counts", (), 256).overlaps


@pytest.mark.parametrize("path", WAITING, ids=lambda path: path.stem)
def test_nothing_ends_or_is_written_before_the_wait(path: object) -> None:
    text = path.read_text()  # type: ignore[attr-defined]  # a Path
    bodies = BODY.findall(text)
    assert bodies
    for name, body in bodies:
        assert body.count("await_inputs();") == 1, name
        before = LAMBDA.sub("", body.split("await_inputs();")[0])
        assert "return" not in before, name
        arguments = text[text.index(f" {name}(") :].split(")")[0]
        inputs = set(re.findall(r"const \w+\* (\w+)", arguments)) - CONSTANTS
        assert not any(re.search(rf"\b{each}\b", before) for each in inputs), name
        outputs = re.findall(
            r"(?<!const )(?:float|u16|i32|u32|K_OUTPUT)\* (\w+)", text[text.index(f" {name}(") :].split(")")[0]
        )
        assert not any(re.search(rf"\b{output}\[[^]]*\] [+*]?=", before) for output in outputs), name
