"""DeepSeek V4 Flash at full size on the GPU of this machine: load, prefill, decode, memory, replays, cancel, shares.

    python3 tests/gpu/full_model.py [--recipes antirez-q2,rocmfp-mix] [--layers 43] [--rounds 5]

Random weights in the real shape are made in device memory (engine.synth). Times are wall clock around a device
synchronisation; a round runs every prompt once, so that rounds alternate. With OUT set, full_model.json goes there.
Exit status 1 if replays differ. What is measured and why: tests/gpu/full_measures.py.
"""

import argparse
import gc
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import torch

from tests.gpu.full_measures import Report, measure_recipe
from tests.gpu.workbench import measure_ceilings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipes", default="antirez-q2,rocmfp-mix")
    parser.add_argument("--layers", type=int, default=43)
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds of the prompts up to 10,240 tokens")
    parser.add_argument("--long", type=int, default=32768, help="the longest prompt, run once; 0 for none")
    parser.add_argument("--replays", type=int, default=10)
    parser.add_argument("--decode", type=int, default=128, help="tokens decoded after 9,133")
    args = parser.parse_args()
    if not torch.cuda.is_available():
        print("no GPU: this torch sees none", file=sys.stderr)
        return 1
    device = torch.device("cuda")
    ceilings = measure_ceilings(device)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    print(f"copy {ceilings.copy_bytes_s / 1e12:.2f} TB/s, bf16 product {ceilings.matrix_flop_s / 1e12:.0f} TFLOP/s")
    reports: list[Report] = []
    for recipe in args.recipes.split(","):
        address = f"synth:v4-flash?layers={args.layers}&recipe={recipe}"
        reports.append(measure_recipe(address, ceilings, args.rounds, args.long, args.replays, args.decode))
        print(reports[-1].text(), flush=True)
        gc.collect()
        torch.cuda.empty_cache()
    if out := os.environ.get("OUT"):
        facts = {
            "device": torch.cuda.get_device_name(),
            "torch": torch.__version__,
            "copy_bytes_s": ceilings.copy_bytes_s,
            "matrix_flop_s": ceilings.matrix_flop_s,
        }
        content = facts | {"recipes": [report.as_json() for report in reports]}
        Path(out, "full_model.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    return 0 if all(report.replays_equal for report in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
