"""A/A with the full plan: how often the 95 % interval of a kernel against itself holds 1.0.

The kernel is judged with itself as the champion; `speedup_champion` of each verified evaluation comes
from fresh process sets. Baselines are left to eager, which A/A does not need but the judge does.
"""

import argparse
import math
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import monotonic

from environment import environment
from rich.console import Console
from rich.progress import track

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Interval, timings_of
from kernwright.core.plan import FULL
from kernwright.evaluation.judge import Judge
from kernwright.platforms.cpu import Cpu
from kernwright.problems.file import File

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop earlier, and say how many were done")
    parser.add_argument("--problem", default=str(HERE / "problems" / "five_ms.py"))
    parser.add_argument("--candidate", default=str(HERE / "problems" / "five_ms_cpp.py"))
    arguments = parser.parse_args()
    problem = File().load(arguments.problem)
    kernel = Candidate(
        language="cpp", files=(SourceFile(name="candidate.py", text=Path(arguments.candidate).read_text()),)
    )
    intervals: list[Interval] = []
    start = monotonic()
    console = Console()
    with tempfile.TemporaryDirectory() as home:
        judge = Judge(home=home)
        job = EvalJob(
            problem=problem,
            candidate=kernel,
            champion=kernel,
            champion_language="kernwright.languages.cpp:Cpp",
            target=Cpu().targets()[0],
            plan=replace(FULL, baselines=("eager",)),
            language="kernwright.languages.cpp:Cpp",
            platform="kernwright.platforms.cpu:Cpu",
            home=home,
        )
        try:
            for _ in track(range(arguments.runs), console=Console(stderr=True)):
                outcome = judge.evaluate(job).outcome
                timings = timings_of(outcome)
                if timings is None or timings.speedup_champion is None:
                    raise SystemExit(f"the kernel was not verified: {outcome}")
                intervals.append(timings.speedup_champion)
                if monotonic() - start > 60 * arguments.minutes:
                    break
        finally:
            judge.close()
    inside = sum(i.low <= 1 <= i.high for i in intervals)
    halves = sorted(math.sqrt(i.high / i.low) - 1 for i in intervals)
    console.print(f"interval holds 1.0: {inside} of {len(intervals)}")
    console.print(f"half-width: median {median(halves):.2%}, worst {halves[-1]:.2%}")
    console.print(f"estimate: median {median(i.estimate for i in intervals):.4f}")
    console.print(environment())


if __name__ == "__main__":
    main()
