"""Where a candidate's time goes while several are judged on one GPU: what is had alone, what is shared, what waits.

A judge whose steps are timed judges what `gpu_rate.py` does. Printed for each step: how often a candidate takes it, its
milliseconds, and those of them under the exclusive lease. Steps lie within each other.
"""

import argparse
import asyncio
import functools
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any

from environment import environment

from kernwright.core.jobs import EvalJob
from kernwright.core.lease import Share
from kernwright.core.outcome import Evaluation
from kernwright.evaluation import measurement
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.participants.gate import Gate
from kernwright.evaluation.participants.opened import Opened
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.participants.runner_process import Runner
from kernwright.evaluation.timing import burst_witness, bursts, kept_calls, track
from kernwright.evaluation.timing.draws import Draws
from kernwright.platforms.cuda import CudaSession
from kernwright.platforms.cuda_lease import DeviceLease

FOLDER = "KERNWRIGHT_SPANS"
"""Variable that names where workers write what they saw."""
STEPS: tuple[tuple[Any, str], ...] = (
    *((track.Track, name) for name in ("race", "_sample", "_ask", "_ambush", "_warm", "_cool", "compare_kept")),
    *((bursts.Bursts, name) for name in ("_begin", "_made", "_send")),
    *((bursts._Messages, name) for name in ("send", "give")),
    *((measurement, name) for name in ("count_bursts", "settle_clocks")),
    *((measurement.Measurement, name) for name in ("measure", "_doubts", "_check_again")),
    *(
        (Participant, name)
        for name in ("await_ready", "load", "open", "fill", "call", "_gated", "burst", "freeze", "close")
    ),
    *((Runner, name) for name in ("send", "receive", "freeze", "thaw")),
    *((Gate, name) for name in ("await_queued", "open")),
    *((Opened, name) for name in ("fill", "outputs", "look", "results", "unchanged", "fill_all_cold")),
    *((CudaSession, name) for name in ("settle", "flush")),
    (Draws, "of"),
    *((kept_calls, name) for name in ("_look", "nearness", "parts_near")),
    (kept_calls._Look, "settle"),
    (burst_witness, "kept_busy"),
)
Span = tuple[str, float, float]
"""A step, when it began, and its seconds."""
_spans: list[Span] = []


def _timed(owner: Any, name: str) -> None:
    real: Callable[..., Any] = getattr(owner, name)
    label = f"{owner.__name__.rpartition('.')[2]}.{name}"

    @functools.wraps(real)
    def step(*given: Any, **named: Any) -> Any:
        began = monotonic()
        try:
            return real(*given, **named)
        finally:
            _spans.append((label, began, monotonic() - began))

    setattr(owner, name, step)


def _leases() -> None:
    real = DeviceLease.held

    @contextmanager
    def held(self: DeviceLease, *, alone: bool) -> Iterator[Share]:
        kind = f"{'alone' if alone else 'shared'}{' starts' if self._name.endswith('-starts') else ''}"
        began = monotonic()
        with real(self, alone=alone) as share:
            had = monotonic()
            _spans.append((f"wait for {kind}", began, had - began))
            try:
                yield share
            finally:
                _spans.append((f"lease {kind}", had, monotonic() - had))

    DeviceLease.held = held  # type: ignore[method-assign]


class SpanJudge(Judge):
    """The judge, which notes how long its steps take."""

    def __init__(self, home: str) -> None:
        super().__init__(home)
        for owner, name in STEPS:
            _timed(owner, name)
        _leases()

    def evaluate(self, job: EvalJob, progress: Callable[[str], None] | None = None) -> Evaluation:
        began = monotonic()
        try:
            return super().evaluate(job, progress)
        finally:
            _spans.append(("evaluate", began, monotonic() - began))
            Path(os.environ[FOLDER], f"{os.getpid()}.json").write_text(json.dumps(_spans))


def table(folder: Path, warm: int) -> dict[str, Any]:
    """By step: times a candidate, milliseconds, and those under the exclusive lease; but for each worker's first `warm`
    candidates."""
    count, times, spent, alone_s = 0, Counter[str](), Counter[str](), Counter[str]()
    for path in folder.glob("*.json"):
        spans: list[Span] = [(name, began, seconds) for name, began, seconds in json.loads(path.read_text())]
        evaluations = sorted(began for name, began, _ in spans if name == "evaluate")[warm:]
        if not evaluations:
            continue
        count += len(evaluations)
        alone = [(began, began + seconds) for name, began, seconds in spans if name == "lease alone"]
        for name, began, seconds in spans:
            if began < evaluations[0]:
                continue
            times[name] += 1
            spent[name] += seconds
            if any(first <= began < last for first, last in alone):
                alone_s[name] += seconds
    rows = {
        name: {
            "times": round(times[name] / count, 1),
            "ms": round(1e3 * seconds / count, 1),
            "ms alone": round(1e3 * alone_s[name] / count, 1),
        }
        for name, seconds in spent.most_common()
    }
    return {"candidates": count, "steps": rows}


async def _judged(language: str, workers: int, number: int) -> dict[str, Any]:
    import gpu_rate

    gpu_rate.JUDGE = "gpu_spans:SpanJudge"
    async with gpu_rate.pool(workers) as crew:
        return await crew.rate(language, workers, number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", default="triton")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--candidates", type=int, default=64)
    parser.add_argument("--out", type=Path, help="written as JSON, with the environment")
    arguments = parser.parse_args()
    here = str(Path(__file__).parent)
    sys.path.insert(0, here)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    with tempfile.TemporaryDirectory() as folder:
        os.environ[FOLDER] = folder
        row: dict[str, Any] = {}
        with suppress(KeyboardInterrupt):  # each worker has written what it saw of the candidates that are done
            row = asyncio.run(_judged(arguments.language, arguments.workers, arguments.candidates))
        device = row.pop("environment", {})
        said = {"rate": row, **table(Path(folder), 2), "environment": {"host": environment(), **device}}
    for name, step in said["steps"].items():
        print(f"{name:28} {step['times']:8} times {step['ms']:9} ms {step['ms alone']:9} ms alone")
    print(json.dumps(row))
    if arguments.out:
        arguments.out.write_text(json.dumps(said, indent=1) + "\n")


if __name__ == "__main__":
    main()
