"""Runs peers in alternation, one process each, and compares medians: A B C A B C ..., nothing else at the same time.

Alternation lets a machine's slow drift fall on all peers alike; the other processes sleep while one runs.
"""

import argparse
import multiprocessing
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection

from tests.perf.peers import Peer, Sample


@dataclass(frozen=True, slots=True)
class Row:
    """Medians of one peer at one prompt length, in tokens per second, and the samples they come from."""

    name: str
    prompt: int
    prefill_tok_s: float
    decode_tok_s: float
    samples: tuple[Sample, ...]


def _serve(make: Callable[[], Peer], pipe: Connection) -> None:
    peer = make()
    pipe.send("ready")
    while (request := pipe.recv()) is not None:
        pipe.send(peer.run(*request))


class Processes:
    """One child process a peer; a context manager that ends them."""

    def __init__(self, makers: dict[str, Callable[[], Peer]]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipes: dict[str, Connection] = {}
        self._children = []
        for name, make in makers.items():
            ours, theirs = context.Pipe()
            child = context.Process(target=_serve, args=(make, theirs), daemon=True)
            child.start()
            theirs.close()
            if ours.recv() != "ready":
                raise RuntimeError(f"{name} did not start")
            self._pipes[name] = ours
            self._children.append(child)

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in self._pipes.values():
            pipe.send(None)
        for child in self._children:
            child.join(timeout=10)

    def compare(self, ids: Sequence[int], tokens: int, runs: int) -> list[Row]:
        """One warm-up each, then `runs` rounds over all peers."""
        samples: dict[str, list[Sample]] = {name: [] for name in self._pipes}
        for number in range(runs + 1):
            for name, pipe in self._pipes.items():
                pipe.send((list(ids), tokens))
                sample = pipe.recv()
                if number:
                    samples[name].append(sample)
        return [_row(name, len(ids), tuple(found)) for name, found in samples.items()]


def _row(name: str, prompt: int, samples: tuple[Sample, ...]) -> Row:
    prefill = statistics.median(sample.prefill_s for sample in samples)
    token = statistics.median(sample.token_s for sample in samples)
    return Row(name, prompt, prompt / prefill, 1 / token if token else 0.0, samples)


def print_table(rows: Sequence[Row], ours: str = "haloband") -> None:
    """A Markdown table with the ratio of our speed to each peer's."""
    print("| engine | prompt | prefill tok/s | ours / theirs | decode tok/s | ours / theirs |")
    print("|---|---:|---:|---:|---:|---:|")
    for row in rows:
        mine = next(other for other in rows if other.prompt == row.prompt and other.name == ours)
        prefill, decode = mine.prefill_tok_s / row.prefill_tok_s, mine.decode_tok_s / row.decode_tok_s
        print(
            f"| {row.name} | {row.prompt:,} | {row.prefill_tok_s:,.0f} | {prefill:.2f} | "
            f"{row.decode_tok_s:,.1f} | {decode:.2f} |"
        )


def parse_arguments(description: str, chunks: Sequence[int] = (), dtypes: Sequence[str] = ()) -> argparse.Namespace:
    """The options of every comparison, and of one with settings to choose from `chunks` and `dtypes`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--prompts", type=int, nargs="+", default=[15, 1501, 2048, 9133], help="prompt lengths")
    parser.add_argument("--tokens", type=int, default=32, help="tokens to decode after each prompt")
    parser.add_argument("--runs", type=int, default=5, help="counted rounds; the median is reported")
    if chunks:
        parser.add_argument("--chunks", type=int, nargs="+", default=list(chunks), help="the peer's prompt chunks")
    if dtypes:
        parser.add_argument("--dtypes", nargs="+", default=list(dtypes), help="the peer's arithmetic")
    return parser.parse_args()
