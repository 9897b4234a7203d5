"""Where a judge's time goes while it holds a GPU alone, shares it, or has no lease; and who waits how long for it.

Looks at the judge's stack every two milliseconds, in each worker, once that has judged two candidates. Printed: what a
candidate takes in each state, the calls that hold most of it, how long leases are waited for and held, and how many
long messages a candidate is sent.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import fmean, median
from types import FrameType
from typing import Any

import gpu_rate
from environment import environment
from rich.console import Console
from rich.table import Table

from kernwright.core.jobs import EvalJob
from kernwright.core.lease import Share
from kernwright.core.outcome import Evaluation
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.participants.participant import Participant
from kernwright.platforms.cuda_lease import DeviceLease

FOLDER, EVERY_S, WARM = "KERNWRIGHT_PROFILE", 0.002, 2
Stack = tuple[str, ...]


class Watched(Judge):
    """A judge that writes down where it is; one for each process."""

    def __init__(self, home: str) -> None:
        super().__init__(home)
        self._thread, self._judged = 0, 0
        self._stacks: dict[str, dict[Stack, float]] = defaultdict(lambda: defaultdict(float))
        self._leases: list[tuple[str, float, float]] = []
        self._messages: list[tuple[int, float]] = []
        self._held: list[str] = []
        _listen(self._held, self._leases)
        _count(self._messages)
        threading.Thread(target=self._look, daemon=True).start()

    def evaluate(self, job: EvalJob, *more: Any) -> Evaluation:
        """As a judge does; what the first ones took is forgotten."""
        self._judged += 1
        if self._judged == WARM + 1:
            self._stacks.clear()
            self._leases.clear()
            self._messages.clear()
        self._thread = threading.get_ident()
        try:
            return super().evaluate(job, *more)
        finally:
            self._thread = 0
            stacks = [(state, list(stack), s) for state, found in self._stacks.items() for stack, s in found.items()]
            said = {"judged": self._judged - WARM, "stacks": stacks, "leases": self._leases}
            said["messages"] = self._messages
            Path(os.environ[FOLDER], f"{os.getpid()}.json").write_text(json.dumps(said))

    def _look(self) -> None:
        before = time.monotonic()
        while True:
            time.sleep(EVERY_S)
            now = time.monotonic()
            frame = sys._current_frames().get(self._thread)
            if frame is not None:
                self._stacks[self._held[-1] if self._held else "no lease"][_stack(frame)] += now - before
            before = now


def _listen(held: list[str], leases: list[tuple[str, float, float]]) -> None:
    """Have every lease of this process tell when it is wanted, had and left."""
    before = DeviceLease.held

    @contextmanager
    def listening(self: DeviceLease, *, alone: bool) -> Iterator[Share]:
        name = f"{'starts, ' if self._name.endswith('-starts') else ''}{'alone' if alone else 'shared'}"
        wanted = time.monotonic()
        with before(self, alone=alone) as share:
            had = time.monotonic()
            held.append(name)
            try:
                yield share
            finally:
                held.remove(name)
                leases.append((name, had - wanted, time.monotonic() - had))

    DeviceLease.held = listening  # type: ignore[method-assign]


def _count(messages: list[tuple[int, float]]) -> None:
    """Have every long message tell how many calls it has and what it takes, in seconds."""
    before = Participant.burst

    def counting(self: Participant, workload: int, chosen: int, values: Any, count: int, **more: Any) -> Any:
        start = time.monotonic()
        burst = before(self, workload, chosen, values, count, **more)
        messages.append((count, time.monotonic() - start))
        return burst

    Participant.burst = counting  # type: ignore[method-assign, assignment]


def _stack(frame: FrameType | None) -> Stack:
    found = []
    while frame is not None:
        code = frame.f_code
        if "kernwright" in code.co_filename:
            found.append(f"{Path(code.co_filename).stem}.{code.co_name}")
        frame = frame.f_back
    return tuple(reversed(found))


def main() -> None:
    arguments = _arguments()
    gpu_rate.JUDGE = "judge_profile:Watched"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(gpu_rate.HERE), os.environ.get("PYTHONPATH"))))
    with tempfile.TemporaryDirectory() as folder:
        os.environ[FOLDER] = folder
        row: dict[str, Any] = {}
        with suppress(KeyboardInterrupt):  # each worker has written what it saw of the candidates that are done
            row = asyncio.run(_judged(arguments))
        said = [json.loads(path.read_text()) for path in Path(folder).glob("*.json")]
    if arguments.keep is not None:
        arguments.keep.write_text(json.dumps(said))
    console = Console(width=160)
    told = ("language", "workers", "candidates", "per_minute", "stage_s", "outcomes")
    console.print({key: row[key] for key in told} if row else "Stopped; this is of the candidates that were done.")
    said = [each for each in said if each["judged"] > 0]
    judged = max(1, sum(each["judged"] for each in said))
    for state in sorted({state for each in said for state, _, _ in each["stacks"]}):
        console.print(_table(state, said, judged, arguments.rows))
    console.print(_waits([lease for each in said for lease in each["leases"]]))
    console.print(_long([message for each in said for message in each["messages"]], judged))
    console.print(environment())


async def _judged(arguments: argparse.Namespace) -> dict[str, Any]:
    async with gpu_rate.pool(arguments.workers) as crew:
        return await crew.rate(arguments.language, arguments.workers, arguments.candidates)


def _table(state: str, said: list[dict[str, Any]], judged: int, rows: int) -> Table:
    """Calls by their last three names, with all that they call."""
    held, total = defaultdict[Stack, float](float), 0.0
    for names, seconds in ((names, s) for each in said for own, names, s in each["stacks"] if own == state):
        total += seconds
        for some in {tuple(names[max(0, i - 2) : i + 1]) for i in range(len(names))}:
            held[some] += seconds
    table = Table("ms a candidate", "call", title=f"{state}: {1e3 * total / judged:.0f} ms a candidate of {judged}")
    for some in sorted(held, key=held.__getitem__, reverse=True)[:rows]:
        table.add_row(f"{1e3 * held[some] / judged:.1f}", " > ".join(some))
    return table


def _waits(leases: list[tuple[str, float, float]]) -> Table:
    table = Table("lease", "times", "waited, mean s", "held, median s", "held, mean s", "held, longest s")
    for name in sorted({name for name, _, _ in leases}):
        waited, held = zip(*((w, h) for own, w, h in leases if own == name), strict=True)
        figures = (fmean(waited), median(held), fmean(held), max(held))
        table.add_row(name, str(len(held)), *(f"{figure:.3f}" for figure in figures))
    return table


def _long(messages: list[tuple[int, float]], judged: int) -> Table:
    """Those to baselines too, of which a worker's first candidates get most."""
    taken = defaultdict[int, list[float]](list)
    for calls, seconds in messages:
        taken[calls].append(seconds)
    table = Table("calls in a long message", "messages a candidate", "ms each, mean", "ms a candidate")
    for calls, seconds in sorted(taken.items()):
        sums = 1e3 * sum(seconds)
        table.add_row(str(calls), f"{len(seconds) / judged:.1f}", f"{sums / len(seconds):.1f}", f"{sums / judged:.1f}")
    return table


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", default="triton", choices=list(gpu_rate.SERIES))
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--candidates", type=int, default=40)
    parser.add_argument("--keep", type=Path, help="file for every stack that was seen, by process")
    parser.add_argument("--rows", type=int, default=40, help="calls that are shown of each state")
    return parser.parse_args()


if __name__ == "__main__":
    main()
