"""The records of decode.h as ctypes structures, field by field, and how tensors become addresses and sizes.

Used by kernels/cpu/decode.py only. A record holds addresses: whoever builds one keeps the tensors alive.
"""

import ctypes
from typing import Any

from kernels.cpu.arguments import record

Fields = list[tuple[str, Any]]

STATUS_DECODED = 0

HbMatrix = record("HbMatrix", "pointer: data; integer: bytes rows cols type")
HbVector = record("HbVector", "pointer: data; integer: count")
HbIntegers = record("HbIntegers", "pointer: data; integer: count")


def _mixed(name: str, fields: Fields) -> type[ctypes.Structure]:
    return type(name, (ctypes.Structure,), {"_fields_": fields})


def _several(kind: Any, names: str) -> Fields:
    return [(name, kind) for name in names.split()]


HbMixer = _mixed("HbMixer", [("weight", HbMatrix), *_several(HbVector, "scale base")])
HbCompressor = _mixed("HbCompressor", [*_several(HbMatrix, "values scores"), *_several(HbVector, "position_bias norm")])
HbLayer = _mixed(
    "HbLayer",
    [
        ("ratio", ctypes.c_int64),
        ("attention_mixer", HbMixer),
        ("attention_norm", HbVector),
        ("q_a", HbMatrix),
        ("q_a_norm", HbVector),
        *_several(HbMatrix, "q_b kv"),
        *_several(HbVector, "kv_norm sinks"),
        *_several(HbMatrix, "out_a out_b"),
        *_several(HbCompressor, "compressor index_compressor"),
        *_several(HbMatrix, "index_query index_weight"),
        ("experts_mixer", HbMixer),
        ("experts_norm", HbVector),
        ("router", HbMatrix),
        ("router_bias", HbVector),
        ("router_table", HbIntegers),
        *_several(HbMatrix, "expert_gate expert_up expert_down shared_gate shared_up shared_down"),
        ("swiglu_limit", ctypes.c_double),
    ],
)
HbModel = _mixed(
    "HbModel",
    [
        *_several(
            ctypes.c_int64,
            "layers vocab hidden heads head_width rotary_width q_rank out_groups out_rank window index_heads"
            " index_width top_k experts experts_used expert_width shared_width sinkhorn_iterations",
        ),
        *_several(ctypes.c_double, "expert_scale rms_eps mixer_eps"),
        *_several(ctypes.c_void_p, "plain_frequencies compressed_frequencies"),
        ("embedding", HbMatrix),
        ("output_mixer", HbMixer),
        ("output_norm", HbVector),
        ("output", HbMatrix),
        ("layer", ctypes.c_void_p),
    ],
)
HbLayerState = record(
    "HbLayerState",
    "pointer: ring rows index_rows values scores index_values index_scores;"
    "integer: ring_bytes rows_bytes index_rows_bytes rolling_count index_rolling_count",
)
HbToken = record(
    "HbToken", "integer: token position selects rounding layers; pointer: state logits; integer: logits_count"
)

# In the order in which hb_decode_sizeof counts them.
RECORDS = (
    HbMatrix,
    HbVector,
    HbIntegers,
    HbMixer,
    HbCompressor,
    HbLayer,
    HbModel,
    HbLayerState,
    HbToken,
)
