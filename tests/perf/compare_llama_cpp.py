"""Haloband beside llama.cpp on the same weights and ids: python -m tests.perf.compare_llama_cpp

Runs when llama-cpp-python (0.3.36 or newer) is importable; it is a peer, not a dependency. Its indexer wants a width
that is a multiple of 64, so it gets a copy with zero-padded index rows, which select the same; and as it knows no
ROCmFP4, both run the embedded model in Q8_0. docs/benchmarks.md.
"""

import importlib.util
import tempfile
from functools import partial
from pathlib import Path

import resources
from engine.convert import convert
from engine.recipes import Recipes
from engine.threads import cpu_threads
from tests.perf.alternate import Processes, parse_arguments, print_table
from tests.perf.ids import document_ids
from tests.perf.peers import Haloband, LlamaCpp
from tests.perf.widen_indexer import write_widened

MICRO_BATCHES = (128, 512)


def main() -> None:
    arguments = parse_arguments(__doc__ or "", chunks=MICRO_BATCHES)
    if importlib.util.find_spec("llama_cpp") is None:
        raise SystemExit("llama-cpp-python is not installed here: pip install llama-cpp-python, then run this again")
    with tempfile.TemporaryDirectory() as scratch:
        model, widened = Path(scratch) / "q8.gguf", Path(scratch) / "widened.gguf"
        convert(resources.embedded_model(), model, Recipes.Q8.value)
        write_widened(model, widened)
        makers = {"haloband": partial(Haloband, model)} | {
            f"llama.cpp micro-batch {size}": partial(LlamaCpp, widened, size, cpu_threads())
            for size in arguments.chunks
        }
        with Processes(makers) as peers:
            rows = [row for length in arguments.prompts
                    for row in peers.compare(document_ids(length), arguments.tokens, arguments.runs)]  # fmt: skip
    print_table(rows)


if __name__ == "__main__":
    main()
