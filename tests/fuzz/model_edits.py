"""Changes to a sound model file, chosen by a fuzzer's bytes: metadata at its edges, tensors that do not fit."""

from collections.abc import Sequence

from tests.engine.gguf_bytes import ARR, BOOL, F32, F64, I32, I64, STR, U32, U64, Tensor, array, scalar
from tests.fuzz.byte_source import ByteSource
from tests.fuzz.micro_model import Parts

EDGE_INTEGERS = (0, 1, 2, 3, 4, 5, 7, 8, 100, 127, 128, 129, 255, 256, 4096, 65_535, 1 << 20, (1 << 20) + 1)
LARGE_INTEGERS = (1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
EDGE_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-30, 1e-45, 3e38, -3e38, 1e308, 5e-324, 10_000.0)
TYPE_IDS = (0, 1, 2, 8, 10, 12, 14, 16, 26, 30, 107, 999)


def change(parts: Parts, source: ByteSource) -> None:
    """One change to the model's metadata (mostly) or tensors."""
    if source.number(4):
        index = source.number(len(parts.keys))
        name, kind, _ = parts.keys[index]
        action = source.number(8)
        if action == 0:
            del parts.keys[index]
        else:
            parts.keys[index] = (name, *_value(kind, source, keep_type=action < 6))
        return
    index = source.number(len(parts.tensors))
    tensor, content = parts.tensors[index]
    if source.number(8) == 0:
        del parts.tensors[index]
        return
    ne = tuple(source.pick(EDGE_INTEGERS) if source.number(3) == 0 else size for size in tensor.ne)
    type_id = source.pick(TYPE_IDS) if source.flag() else tensor.type_id
    body = (content + bytes(1 << 14))[: source.number(1 << 14)] if source.flag() else content
    patch = source.chunk(16)
    parts.tensors[index] = (Tensor(tensor.name, ne, type_id, 0), patch + body[len(patch) :])


def _value(kind: int, source: ByteSource, keep_type: bool) -> tuple[int, bytes]:
    """A packed value; of the same type if `keep_type`."""
    chosen = kind if keep_type else source.pick((U32, I32, I64, U64, F32, F64, BOOL, STR, ARR))
    choices: dict[int, Sequence[object]] = {
        U32: EDGE_INTEGERS + LARGE_INTEGERS[:2],
        U64: EDGE_INTEGERS + LARGE_INTEGERS,
        I32: (-1, -(1 << 31), *EDGE_INTEGERS),
        I64: (-1, -(1 << 63), *EDGE_INTEGERS),
        F32: [value for value in EDGE_FLOATS if abs(value) < 3.4e38],
        F64: EDGE_FLOATS,
        BOOL: (False, True),
    }
    if chosen in choices:
        return chosen, scalar(chosen, source.pick(choices[chosen]))
    return chosen, scalar(STR, source.chunk(40)) if chosen == STR else _array(source)


def _array(source: ByteSource) -> bytes:
    count = source.pick((0, 1, 2, 3, 4, 262))
    kind = source.pick((I32, F32, STR, U64))
    if kind == STR:
        return array(STR, [source.chunk(8) for _ in range(count)])
    if kind == F32:
        return array(F32, [source.pick((0.0, 1.0, -1.0, 3e38)) for _ in range(count)])
    return array(kind, [source.pick((0, 4, 128, 1, 3, 127, 2**31 - 1)) for _ in range(count)])
