"""Distinct candidates judged per minute on a GPU: one at a time, and several at once.

Workers are warm: before the clock starts each has judged one candidate of the problem, so that the reference, the
baselines and the noise floor are at hand, as in a search. Several at once share the device; only timing is exclusive.
With --out, what is there already is not measured again.
"""

import argparse
import asyncio
import json
import math
import os
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import fmean
from time import monotonic, time_ns
from typing import Any

from environment import environment
from rich.console import Console
from rich.table import Table

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Evaluation, timings_of
from kernwright.core.plan import QUICK, Plan
from kernwright.core.spec import JUDGE
from kernwright.engine import intake
from kernwright.engine.executors.processes import Processes
from kernwright.engine.targets import target_of
from kernwright.problems.file import File

HERE = Path(__file__).parent
_salts = count(time_ns() % 1_000_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Candidates that differ in one number only, so that each is compiled."""

    problem: str
    candidate: str
    """File in `problems`."""
    language: str
    mark: str
    """What the number is put into."""
    platform: str = "cuda"

    def text(self) -> str:
        """The next of them."""
        text = (HERE / "problems" / f"{self.candidate}.py").read_text()
        if self.mark.format(0) not in text:
            raise ValueError(f"{self.candidate}.py has no {self.mark.format(0)!r}")
        return text.replace(self.mark.format(0), self.mark.format(next(_salts)))

    def job(self, home: str, plan: Plan) -> EvalJob:
        """Of judging the next."""
        problem = File().load(str(HERE / "problems" / f"{self.problem}.py"))
        candidate = Candidate(language=self.language, files=(SourceFile(name="candidate.py", text=self.text()),))
        return intake.job_of(problem, candidate, target_of(self.platform), plan, Path(home))


SERIES = {
    "triton": Series(
        problem="softmax_4096", candidate="softmax_4096_triton", language="triton", mark="SALT = {}"
    ),
    "cuda": Series(problem="softmax_4096", candidate="softmax_4096_cuda", language="cuda", mark="SALT = {}"),
    "load_inline": Series(
        problem="softmax_4096", candidate="softmax_4096_load_inline", language="cuda", mark="SALT = {}"
    ),
    "cpp": Series(
        problem="five_ms", candidate="five_ms_cpp", language="cpp", mark="// VARIANT {}", platform="cpu"
    ),
}  # fmt: skip
"""The last is no GPU's; it shows that this script works."""


class Pool:
    """Workers that stay; fewer may be used than there are, and then always the same."""

    def __init__(self, executor: Processes, home: str) -> None:
        self._executor, self._home = executor, home
        self._warm: set[str] = set()

    async def rate(self, name: str, workers: int, number: int, plan: Plan = QUICK) -> dict[str, Any]:
        """A row: so many candidates, so many at a time."""
        await self._warmed(name, plan)
        begun = monotonic()
        done = await self._judged(name, workers, number, plan)
        seconds = monotonic() - begun
        good = [each for each in done if isinstance(each, Evaluation)]
        return {
            "language": name,
            "workers": workers,
            "candidates": number,
            "seconds": round(seconds, 2),
            "per_minute": round(60 * len(good) / seconds, 1),
            "seconds_each": round(seconds / number, 3),
            "stage_s": _mean_stages(good),
            "outcomes": dict(Counter(each.outcome.kind for each in good)),
            "doubts": [each.outcome.reason for each in good if each.outcome.kind == "suspicious"],
            "faults": [str(each) for each in done if not isinstance(each, Evaluation)],
            "evidence": _evidence(good),
            "environment": good[0].environment if good else {},
        }

    async def _warmed(self, name: str, plan: Plan) -> None:
        """One alone, for what the machine remembers of itself; then one by each worker."""
        key = f"{name} {plan}"
        if key not in self._warm:
            self._warm.add(key)
            for number in (1, self._executor.slots):
                await self._judged(name, self._executor.slots, number, plan)

    async def _judged(self, name: str, workers: int, number: int, plan: Plan) -> list[Evaluation | BaseException]:
        free = asyncio.Semaphore(workers)

        async def one() -> Evaluation:
            async with free:
                return await self._executor.submit(SERIES[name].job(self._home, plan))

        return await asyncio.gather(*(one() for _ in range(number)), return_exceptions=True)


@asynccontextmanager
async def pool(workers: int) -> AsyncIterator[Pool]:
    """With a home of its own; nothing is left of it. On the first GPU, where the environment does not say another."""
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")  # workers would spread over all that are there
    with tempfile.TemporaryDirectory() as home:
        executor = Processes(JUDGE, home, workers, lambda text: None)
        try:
            yield Pool(executor, home)
        finally:
            await executor.close()


def _mean_stages(done: list[Evaluation]) -> dict[str, float]:
    names = dict.fromkeys(name for each in done for name in each.stage_s)
    return {name: round(fmean(each.stage_s.get(name, 0.0) for each in done), 3) for name in names}


def _evidence(done: list[Evaluation]) -> dict[str, Any]:
    """Of the first: how many checks passed and how many samples were taken of whom."""
    timings = next((found for each in done if (found := timings_of(each.outcome))), None)
    if timings is None:
        return {"reasons": sorted({each.outcome.reason[:300] for each in done})}
    samples: Counter[str] = Counter()
    for each in timings.samples:
        samples[each.participant] += len(each.device_ns)
    return {
        "checks": len(done[0].checks),
        "samples": dict(samples),
        "time_us": {name: round(ns / 1e3, 2) for name, ns in timings.workloads[0].time_ns.items()},
    }


def main() -> None:
    arguments = _arguments()
    end = monotonic() + 60 * arguments.minutes
    together = [int(number) for number in str(arguments.workers).split(",")]
    said: dict[str, Any] = {"rows": [], "environment": {}}
    if arguments.out and arguments.out.is_file():
        said = json.loads(arguments.out.read_text())
    wanted = [(1, arguments.alone), *((workers, arguments.together) for workers in together)]
    wanted = [(workers, number) for workers, number in wanted if number]
    asyncio.run(_measure(arguments, wanted, said, end))
    console = Console(width=160)
    console.print(_table(said["rows"]))
    console.print(said["environment"])


async def _measure(
    arguments: argparse.Namespace, wanted: list[tuple[int, int]], said: dict[str, Any], end: float
) -> None:
    said["rows"] = [row for row in said["rows"] if row.get("outcomes")]  # what failed altogether is tried again
    known = {(row["language"], row["workers"], row["candidates"]) for row in said["rows"]}
    languages = arguments.languages.split(",")
    open_ = [(name, *pair) for name in languages for pair in wanted if (name, *pair) not in known]
    if not open_:
        return
    async with pool(max(workers for _, workers, _ in open_)) as crew:
        for name, workers, number in open_:
            if monotonic() > end:
                print("The time is up; call it again with the same --out to go on.", file=sys.stderr)
                return
            try:
                row = await crew.rate(name, workers, number)
                device = row.pop("environment")
                said["environment"] = {"host": environment(), **device} if device else said["environment"]
            except Exception as error:  # one series is not all
                row = {"language": name, "workers": workers, "candidates": number, "error": f"{error!r}"[:500]}
            said["rows"].append(row)
            print({key: row.get(key) for key in ("language", "workers", "per_minute", "error")}, file=sys.stderr)
            _mark_best(said["rows"])
            if arguments.out:
                part = arguments.out.with_suffix(".part")
                part.write_text(json.dumps(said, indent=1) + "\n")
                part.replace(arguments.out)


def _mark_best(rows: list[dict[str, Any]]) -> None:
    """Of each language, among those with several workers."""
    for row in rows:
        rates = [r.get("per_minute", 0.0) for r in rows if r["language"] == row["language"] and r["workers"] > 1]
        row["best"] = row["workers"] > 1 and 0.0 < row.get("per_minute", 0.0) == max(rates)


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table("language", "workers", "candidates", "seconds", "per minute", "seconds a stage", "outcomes")
    for row in rows:
        if "error" in row:
            table.add_row(row["language"], str(row["workers"]), str(row["candidates"]), "", "", "", row["error"])
            continue
        stages = ", ".join(f"{name} {spent:.2f}" for name, spent in row["stage_s"].items() if spent >= 0.01)
        cells = [str(row[k]) for k in ("language", "workers", "candidates", "seconds")]
        rate = f"{row['per_minute']}{' (best)' if row['best'] else ''}"
        table.add_row(*cells, rate, stages, f"{row['outcomes']} {' '.join(row.get('faults', []))[:200]}")
    return table


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alone", type=int, default=8, help="candidates judged one at a time, per language")
    parser.add_argument("--together", type=int, default=40, help="candidates judged several at once, per language")
    parser.add_argument("--workers", default="6", help="how many at once; several numbers with commas: each in turn")
    parser.add_argument("--languages", default="triton,cuda", help=f"of {', '.join(SERIES)}")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no series after this time")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
