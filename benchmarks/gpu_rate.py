"""Distinct candidates judged per minute on a GPU: one at a time, and several at once.

Workers are warm: before the clock starts each has judged one candidate of the problem, so that the reference, the
baselines and the noise floor are at hand, as in a search. Several at once share the device; only timing is exclusive.
"""

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from statistics import fmean
from time import monotonic

from device_environment import device_environment
from rich.console import Console
from rich.table import Table

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Evaluation
from kernwright.core.plan import QUICK
from kernwright.engine.executors.processes import Processes
from kernwright.engine.targets import target_of
from kernwright.problems.file import File

HERE = Path(__file__).parent
JUDGE = "kernwright.evaluation.judge:Judge"
LANGUAGES = {"triton": "kernwright.languages.triton:Triton", "cuda": "kernwright.languages.cuda:Cuda"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alone", type=int, default=8, help="candidates judged one at a time, per language")
    parser.add_argument("--together", type=int, default=40, help="candidates judged several at once, per language")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--languages", default="triton,cuda")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = []
    salts = count(1)
    for language in arguments.languages.split(","):
        for workers, number in ((1, arguments.alone), (arguments.workers, arguments.together)):
            if number:
                rows.append(asyncio.run(_rate(language, workers, number, salts)))
    about = device_environment()
    table = Table("language", "workers", "candidates", "seconds", "per minute", "seconds a stage", "outcomes")
    for row in rows:
        stages = ", ".join(f"{name} {spent:.2f}" for name, spent in row["stage_s"].items() if spent >= 0.01)
        cells = (row[k] for k in ("language", "workers", "candidates", "seconds", "per_minute"))
        table.add_row(*map(str, cells), stages, str(row["outcomes"]))
    console = Console(width=160)
    console.print(table)
    console.print(about)
    if arguments.out:
        arguments.out.write_text(json.dumps({"rows": rows, "environment": about}, indent=1) + "\n")


async def _rate(language: str, workers: int, number: int, salts: Iterator[int]) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as home:
        executor = Processes(JUDGE, home, workers, lambda text: None)
        try:
            await asyncio.gather(*(executor.submit(_job(language, home, next(salts))) for _ in range(1)))
            await asyncio.gather(*(executor.submit(_job(language, home, next(salts))) for _ in range(workers)))
            begun = monotonic()
            done = await asyncio.gather(*(executor.submit(_job(language, home, next(salts))) for _ in range(number)))
            seconds = monotonic() - begun
        finally:
            await executor.close()
    return {
        "language": language,
        "workers": workers,
        "candidates": number,
        "seconds": round(seconds, 2),
        "per_minute": round(60 * number / seconds, 1),
        "stage_s": _mean_stages(done),
        "outcomes": dict(Counter(each.outcome.kind for each in done)),
    }


def _mean_stages(done: list[Evaluation]) -> dict[str, float]:
    names = dict.fromkeys(name for each in done for name in each.stage_s)
    return {name: round(fmean(each.stage_s.get(name, 0.0) for each in done), 3) for name in names}


def _job(language: str, home: str, salt: int) -> EvalJob:
    text = (HERE / "problems" / f"softmax_4096_{language}.py").read_text().replace("SALT = 0", f"SALT = {salt}", 1)
    return EvalJob(
        problem=File().load(str(HERE / "problems" / "softmax_4096.py")),
        candidate=Candidate(language=language, files=(SourceFile(name="candidate.py", text=text),)),
        target=target_of("cuda"),
        plan=QUICK,
        language=LANGUAGES[language],
        platform="kernwright.platforms.cuda:Cuda",
        home=home,
    )


if __name__ == "__main__":
    main()
