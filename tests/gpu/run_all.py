"""Builds, checks, replays and times every kernel on the GPU of this machine; prints one table.

    python3 tests/gpu/run_all.py [--tokens 1,512,2048,9133,10240] [--only NAME,...] [--every-format]

What it does and needs: tests/gpu/suite.py. This file only makes the checkout importable, installed or not.
"""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    runpy.run_module("tests.gpu.suite", run_name="__main__")
