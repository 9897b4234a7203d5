"""How long the judge takes for one C++ candidate, warm launcher, quick plan.

Each candidate is distinct source (a comment differs), so each is built. Building, checking and timing
are the stages of those names; what is left is the judge's own.
"""

import argparse
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from environment import environment
from rich.console import Console
from rich.table import Table

from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import timings_of
from kernwright.core.plan import QUICK
from kernwright.evaluation.judge import Judge
from kernwright.platforms.cpu import Cpu
from kernwright.problems.file import File

HERE = Path(__file__).parent
WAIT = "wait"
"""For the machine-wide lease, while another judge runs."""
WORK = ("build", "prepare", "check", "baselines", "floor", "measure", "noise")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, default=8)
    parser.add_argument("--problem", default=str(HERE / "problems" / "five_ms.py"))
    parser.add_argument("--candidate", default=str(HERE / "problems" / "five_ms_cpp.py"))
    arguments = parser.parse_args()
    problem = File().load(arguments.problem)
    text = Path(arguments.candidate).read_text()
    rows: list[tuple[float, dict[str, float]]] = []
    outcome = None
    with tempfile.TemporaryDirectory() as home:
        judge = Judge(home=home)
        try:
            for number in range(arguments.candidates + 1):
                source = SourceFile(name="candidate.py", text=text.replace("VARIANT", f"variant {number}"))
                job = EvalJob(
                    problem=problem,
                    candidate=Candidate(language="cpp", files=(source,)),
                    target=Cpu().targets()[0],
                    plan=QUICK,
                    language="kernwright.languages.cpp:Cpp",
                    platform="kernwright.platforms.cpu:Cpu",
                    home=home,
                )
                start = perf_counter()
                evaluation = judge.evaluate(job)
                outcome = evaluation.outcome
                if number:  # the first warms launcher, baselines and noise floor
                    rows.append((perf_counter() - start, evaluation.stage_s))
        finally:
            judge.close()
    timings = timings_of(outcome) if outcome else None
    table = Table(title="One C++ candidate, warm launcher, quick plan; seconds, median and worst")
    for column in ("", "median", "worst"):
        table.add_column(column, justify="left" if not column else "right")
    for name in ("total", *WORK, WAIT, "not building, checking or timing"):
        values = [_seconds(name, total, stages) for total, stages in rows]
        table.add_row(name, f"{median(values):.3f}", f"{max(values):.3f}")
    console = Console()
    console.print(table)
    if timings is not None:
        for w in timings.workloads:
            console.print(f"{w.workload}: eager {w.time_ns['eager'] / 1e6:.2f} ms, cache {timings.cache}")
    console.print(
        f"{arguments.candidates} distinct candidates; ends in {outcome.kind if outcome else '-'}; {environment()}"
    )


def _seconds(name: str, total: float, stages: dict[str, float]) -> float:
    if name == "total":
        return total
    if name in (*WORK, WAIT):
        return stages.get(name, 0.0)
    return total - sum(stages.get(stage, 0.0) for stage in (*WORK, WAIT))


if __name__ == "__main__":
    main()
