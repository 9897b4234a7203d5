"""How long a profile of one candidate takes, by stage; on a GPU Nsight Compute's part is a figure of its own.

    python benchmarks/profile_latency.py                       # this processor
    python benchmarks/profile_latency.py --target cuda:sm_90a  # a GPU of this machine

The first profile of each candidate builds it and is not counted. What a profiler could not see is printed.
"""

import argparse
import tempfile
from pathlib import Path
from statistics import median

from environment import environment
from rich.console import Console
from rich.table import Table

from kernwright.core.plan import QUICK
from kernwright.engine import intake
from kernwright.engine.profiles import look_of
from kernwright.engine.targets import target_of
from kernwright.evaluation.judge import Judge

HERE = Path(__file__).parent / "problems"
CPU = (("five_ms.py", "five_ms_cpp.py"),)
GPU = (("softmax_4096.py", "softmax_4096_triton.py"), ("softmax_4096.py", "softmax_4096_cuda.py"))
COUNTERS = ("start under counters", "load under counters", "counters")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target")
    parser.add_argument("--times", type=int, default=5)
    arguments = parser.parse_args()
    target = target_of(arguments.target)
    console = Console()
    with tempfile.TemporaryDirectory() as home:
        judge = Judge(home=home)
        try:
            for problem, candidate in CPU if target.startswith("cpu") else GPU:
                _measure(console, judge, Path(home), target, HERE / problem, HERE / candidate, arguments.times)
        finally:
            judge.close()
    console.print(environment())


def _measure(
    console: Console, judge: Judge, home: Path, target: str, problem: Path, candidate: Path, times: int
) -> None:
    source = intake.candidate_of(candidate, target)
    job = look_of(intake.job_of(intake.problem_of(problem), source, target, QUICK, home))
    seen = [judge.evaluate(job) for _ in range(times + 1)][1:]
    stages = [evaluation.stage_s for evaluation in seen]
    table = Table(title=f"{candidate.name} on {target}; seconds, median and worst of {times}")
    for column in ("", "median", "worst"):
        table.add_column(column, justify="left" if not column else "right")
    rows = {name: [each.get(name, 0.0) for each in stages] for name in dict.fromkeys(n for s in stages for n in s)}
    rows["Nsight Compute, in all"] = [sum(each.get(name, 0.0) for name in COUNTERS) for each in stages]
    rows["all but waiting"] = [sum(s for name, s in each.items() if name != "wait") for each in stages]
    for name, values in rows.items():
        table.add_row(name, f"{median(values):.2f}", f"{max(values):.2f}")
    console.print(table)
    profile = seen[-1].profile
    if profile is None:
        console.print(seen[-1].outcome.reason)
        return
    console.print(f"by {', '.join(profile.tools)}")
    for text in profile.missing:
        console.print(f"not seen: {text}")


if __name__ == "__main__":
    main()
