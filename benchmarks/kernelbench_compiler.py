"""The operator `compiler` alone on KernelBench: how many problems end in a verified candidate?

One candidate for each problem (Inductor's code as it stands), judged under the full plan. It is a bench, so it can be
stopped and called again; `--minutes` stops it after a problem.
"""

import argparse
import json
import math
import shutil
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from environment import environment

from kernwright import api
from kernwright.core.spec import OperatorSpec
from kernwright.engine.bench import Follower, Unwatched
from kernwright.engine.bench_report import BenchReport, Row

RESULTS = Path(__file__).parent / "results"
AIM = 190


class Enough(Exception):
    """The time is up; raised between two problems."""


class Watch(Unwatched):
    """A line for each problem, until the time is up."""

    def __init__(self, minutes: float) -> None:
        self._end = time.monotonic() + 60 * minutes

    def begins(self, number: int, total: int, key: str) -> None:
        if time.monotonic() > self._end:
            raise Enough
        print(f"[{number}/{total}] {key}", file=sys.stderr, flush=True)

    def follows(self, run: str) -> AbstractContextManager[Follower]:
        return nullcontext(Follower(lambda entry, graph: None, lambda text: None))

    def ended(self, row: Row, report: BenchReport) -> None:
        figure = f"{row.speedup.estimate:.3f}x" if row.speedup else row.reason[:200]
        print(f"    {row.verdict}: {figure} ({row.seconds:.1f} s)", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", required=True, help="a KernelBench checkout")
    parser.add_argument("--levels", default="1,2")
    parser.add_argument("--problems", default=None)
    parser.add_argument("--target", default=None)
    parser.add_argument("--precision", default="strict_float32")
    parser.add_argument("--plan", default="full")
    parser.add_argument("--only", default="default", help="settings of the operator, separated by commas")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--check", action="store_true", help="look for degenerate problems that were not looked at yet")
    parser.add_argument("--retry", action="store_true")
    parser.add_argument("--home", default=None)
    parser.add_argument("--out", type=Path, default=RESULTS / "kernelbench_compiler")
    arguments = parser.parse_args()
    began = time.monotonic()
    try:
        api.bench(
            "kernelbench",
            arguments.path,
            arguments.out,
            levels=[int(level) for level in arguments.levels.split(",")],
            problems=arguments.problems,
            name="kernelbench-compiler",
            rules={"precision": arguments.precision},
            examine=arguments.check,
            retry=arguments.retry,
            home=arguments.home,
            watch=Watch(arguments.minutes),
            operators=(OperatorSpec(name="compiler", settings={"only": arguments.only}),),
            policy="best_of_n",
            target=arguments.target,
            plan=arguments.plan,
        )
    except Enough:
        print("The time is up; call it again to go on.", file=sys.stderr)
    _conclude(arguments.out, time.monotonic() - began)


def _conclude(out: Path, seconds: float) -> None:
    report = json.loads((out / "bench.json").read_text())
    spent = out / "seconds"
    seconds += float(spent.read_text()) if spent.is_file() else 0.0
    spent.write_text(f"{seconds:.1f}")
    rows = report["rows"]
    verified = sum(row["verified"] for row in rows)
    ends: dict[str, int] = {}
    for row in rows:
        ends[row["verdict"]] = ends.get(row["verdict"], 0) + 1
    said = {
        "verified": verified,
        "done": len(rows),
        "asked": report["asked"],
        "aim": f">= {AIM} of 200",
        "verdicts": ends,
        "not_verified": {row["problem"]: f"{row['verdict']}: {row['reason']}" for row in rows if not row["verified"]},
        "wall_s": round(seconds, 1),
        "environment": environment(),
        "device": next((row["environment"] for row in rows if row["environment"]), {}),
        "report": report,
    }
    (out.with_suffix(".json")).write_text(json.dumps(said, indent=1) + "\n")
    shutil.copy(out / "bench.md", out.with_suffix(".md"))
    print(json.dumps({key: value for key, value in said.items() if key != "report"}, indent=1))


if __name__ == "__main__":
    main()
