"""Haloband beside transformers on the same weights and ids: python -m tests.perf.compare_transformers

Needs transformers >= 5.24 in the environment (a peer, not a dependency). Run on a quiet machine; docs/benchmarks.md.
"""

import tempfile
from functools import partial
from pathlib import Path

import resources
from tests.perf.alternate import Processes, parse_arguments, print_table
from tests.perf.hf_checkpoint import write_checkpoint
from tests.perf.ids import document_ids
from tests.perf.peers import Haloband, Transformers

CHUNKS = (256, 512, 1024)
DTYPES = ("float32", "bfloat16")


def main() -> None:
    arguments = parse_arguments(__doc__ or "", chunks=CHUNKS, dtypes=DTYPES)
    model = resources.embedded_model()
    with tempfile.TemporaryDirectory() as scratch:
        write_checkpoint(model, Path(scratch))
        makers = {"haloband": partial(Haloband, model)} | {
            f"transformers {dtype} chunk {chunk}": partial(Transformers, Path(scratch), dtype, chunk)
            for dtype in arguments.dtypes
            for chunk in arguments.chunks
        }
        with Processes(makers) as peers:
            rows = [row for length in arguments.prompts
                    for row in peers.compare(document_ids(length), arguments.tokens, arguments.runs)]  # fmt: skip
    print_table(rows)


if __name__ == "__main__":
    main()
