"""A/A with the full plan on a GPU: how often the 95 % interval of a kernel against itself holds 1.0.

A softmax in Triton is judged with the same text, but for a comment, as the champion. Three numbers of rows, for about
5, 20 and 150 µs, are workloads of one problem, so that a run starts its processes once for all of them; each has its
own interval, over as many fresh process sets as the plan asks for where calls take so long. Baselines are left to
eager, which A/A does not need but the judge does. Writes a row per run as it goes, so it can be stopped and called
again.
"""

import argparse
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain
from multiprocessing.util import Finalize
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any

from environment import environment
from lanes import Crew, Row, done_by

from kernwright import __version__
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.outcome import Samples, Timings, timings_of
from kernwright.core.plan import FULL
from kernwright.core.problem import Problem
from kernwright.engine import intake
from kernwright.engine.targets import target_of
from kernwright.evaluation.timing.statistics import set_log_ratio, t_interval
from kernwright.problems.file import problem_in

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "aa_device.json"
KERNELS = {
    "cuda": ("softmax_rows", "softmax_4096_triton", "triton"),
    "cpu": ("five_ms", "five_ms_cpp", "cpp"),
}
"""By kind of target: problem, candidate, its language."""
NAME = "{} rows"
"""Of a workload."""
PLAN = replace(FULL, baselines=("eager",), sanitize=False)
_judges: dict[str, Any] = {}


def main() -> None:
    arguments = _arguments()
    began, deadline = time.monotonic(), time.monotonic() + 60 * arguments.minutes
    target = target_of(arguments.target)
    home = str(intake.writable_home(arguments.home))
    sizes = [int(rows) for rows in arguments.rows.split(",")]
    kept: dict[str, Any] = (
        json.loads(arguments.out.read_text()) if arguments.out.is_file() else {"rows": [], "wall_s": 0.0}
    )
    setting = {"target": target, "plan": "full, eager alone as baseline", "rows": sizes}
    if kept["rows"] and kept["setting"] != setting:
        raise SystemExit(f"{arguments.out} holds rows for {kept['setting']}, now {setting}; give another --out.")
    rows: list[Row] = kept["rows"]
    if others := {row["judge"] for row in rows} - {JUDGE_VERSION, *arguments.as_good_as}:
        raise SystemExit(
            f"{arguments.out} holds rows by version {', '.join(sorted(others))} of the judge, now {JUDGE_VERSION}; "
            "keep them by --as-good-as, or give another --out."
        )

    def save() -> dict[str, Any]:
        device = next((row["environment"] for row in rows if row.get("environment")), kept.get("device", {}))
        said = {
            "aim": "95 % interval holds 1.0 in >= 93 of 100; half-widths <= 2 %, 1 %, 0.5 %",
            "sizes": {str(size): _summary(rows, str(size)) for size in sizes},
            "wall_s": round(kept["wall_s"] + time.monotonic() - began, 1),
            "setting": setting,
            "judges": dict(Counter(row["judge"] for row in rows)),
            "kernwright": __version__,
            "environment": environment(),
            "device": device,
            "rows": [{name: value for name, value in row.items() if name != "environment"} for row in rows],
        }
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        part = arguments.out.with_suffix(".part")
        part.write_text(json.dumps(said, indent=1) + "\n")
        part.replace(arguments.out)
        return said

    left = max(0, arguments.runs - sum(row["verdict"] == "verified" for row in rows))
    jobs = [{"sizes": sizes, "target": target, "home": home}] * left
    save()
    # The machine's noise floor is measured once for a decade of call times, so the first run goes ahead alone.
    crew = Crew(workers=arguments.jobs, gpus=arguments.gpus, limit_s=arguments.limit, deadline=deadline)
    first = 0 if any((Path(home) / "cache" / "noise").glob("*.json")) else 1
    ended = chain(done_by(replace(crew, workers=1), look, jobs[:first]), done_by(crew, look, jobs[first:]))
    for number, (_, row, reason) in enumerate(ended, 1):
        rows.append({"judge": JUDGE_VERSION} | (row or {"verdict": "fault", "reason": reason}))
        save()
        rate = 60 * number / (time.monotonic() - began)
        print(f"[{number} of {len(jobs)}, {rate:.1f} a minute] {_sentence(rows[-1])}", file=sys.stderr, flush=True)
    said = save()
    print(json.dumps({name: value for name, value in said.items() if name != "rows"}, indent=1))


def look(ask: dict[str, Any]) -> Row:
    """One run, in a worker."""
    from kernwright.core.errors import UserError
    from kernwright.evaluation.judge import Judge

    if "judge" not in _judges:
        _judges["judge"] = Judge(ask["home"])
        Finalize(None, _judges["judge"].close, exitpriority=10)
    name, candidate, language = KERNELS[ask["target"].partition(":")[0]]
    problem = _with_sizes(problem_in(Path(f"{name}.py"), (HERE / "problems" / f"{name}.py").read_text()), ask["sizes"])
    text = (HERE / "problems" / f"{candidate}.py").read_text()
    pair = [
        Candidate(language=language, files=(SourceFile(name="candidate.py", text=each),))
        for each in (text, text + "\n# the same\n")
    ]
    job = intake.job_of(problem, pair[0], ask["target"], PLAN, Path(ask["home"]), champion=pair[1])
    began = time.monotonic()
    try:
        found = _judges["judge"].evaluate(job)
    except UserError as error:
        return {"verdict": "not judged", "reason": str(error), "seconds": round(time.monotonic() - began, 3)}
    timings = timings_of(found.outcome)
    row: Row = {
        "verdict": found.outcome.kind,
        "reason": found.outcome.reason,
        "seconds": round(time.monotonic() - began, 3),
        "stage_s": found.stage_s,
        "environment": found.environment,
    }
    if found.outcome.kind == "verified" and timings is not None:
        row["charged"] = [note[:400] for note in found.notes if " counts " in note]
        row["sizes"] = {str(rows): _of_one(timings, NAME.format(rows)) for rows in ask["sizes"]}
    return row


def _with_sizes(problem: Problem, sizes: list[int]) -> Problem:
    """With a timed workload for each number of rows."""
    like = problem.timed[0]
    timed = [replace(like, name=NAME.format(rows), params=like.params | {"rows": rows}) for rows in sizes]
    return replace(problem, workloads=(*timed, *(each for each in problem.workloads if each.held_out)))


def _of_one(timings: Timings, name: str) -> Row:
    """What fresh process sets say of one workload, the champion's time over the candidate's."""
    about = next(each for each in timings.workloads if each.workload == name)
    samples = [each for each in timings.samples if each.workload == about.workload]
    taken = {(each.process_set, each.participant): each.device_ns for each in samples}
    sets = sorted({number for number, _ in taken})[: PLAN.confirmations(about.time_ns["candidate"])]
    ratios = [set_log_ratio(taken[number, "candidate"], taken[number, "champion"]) for number in sets]
    against = t_interval(ratios)
    return {
        "interval": [against.estimate, against.low, against.high],
        "set_log_ratios": [round(ratio, 5) for ratio in ratios],
        "set_times_ns": _in_sets(samples, lambda each: each.device_ns),
        "set_spreads_ns": _in_sets(samples, lambda each: each.device_ns, _spread),
        "set_besides_ns": _in_sets(samples, _beside),
        "time_ns": about.time_ns,
    }


def _in_sets(
    samples: list[Samples],
    of: Callable[[Samples], Iterable[float]],
    figure: Callable[[Iterable[float]], float] = median,
) -> dict[str, list[float]]:
    """By participant this figure in each process set."""
    found: dict[str, list[float]] = {}
    for each in sorted(samples, key=lambda each: each.process_set):
        found.setdefault(each.participant, []).append(round(figure(of(each)), 1))
    return found


def _spread(times: Iterable[float]) -> float:
    """Half of what lies between the quartiles: how far calls of one process differ, beside which processes do."""
    low, _, high = quantiles(times, n=4)
    return (high - low) / 2


def _beside(samples: Samples) -> list[float]:
    """What the judge's clock saw of each message beside what its call counts."""
    return [judge - device for judge, device in zip(samples.judge_ns, samples.device_ns, strict=True)]


def _summary(rows: list[Row], size: str) -> dict[str, Any]:
    good = [(row, row["sizes"][size]) for row in rows if row["verdict"] == "verified"]
    others = [f"{row['verdict']}: {row['reason']}"[:300] for row in rows if row["verdict"] != "verified"]
    if not good:
        return {"runs": 0, "not_verified": others}
    found = [one for _, one in good]
    halves = sorted(map(_half, found))
    inside = sum(one["interval"][1] <= 1 <= one["interval"][2] for one in found)
    return {
        "runs": len(found),
        "hold_1": inside,
        "share": round(inside / len(found), 4),
        "half_width_median": round(median(halves), 5),
        "half_width_95th": round(halves[min(len(halves) - 1, math.ceil(0.95 * len(halves)) - 1)], 5),
        "half_width_worst": round(halves[-1], 5),
        "estimate_median": round(median(one["interval"][0] for one in found), 5),
        "charged": sum(any(repr(NAME.format(size)) in note for note in row["charged"]) for row, _ in good),
        "time_us_median": round(median(one["time_ns"]["candidate"] for one in found) / 1e3, 3),
        "seconds_a_run": round(fmean(row["seconds"] for row, _ in good), 2),
        "not_verified": others,
    }


def _half(one: Row) -> float:
    return math.sqrt(one["interval"][2] / one["interval"][1]) - 1


def _sentence(row: Row) -> str:
    if row["verdict"] != "verified":
        return f"{row['verdict']}: {row['reason']}"[:300]
    said = []
    for size, one in row["sizes"].items():
        estimate, low, high = one["interval"]
        mark = "" if low <= 1 <= high else " without 1"
        time = f"{size} rows, {one['time_ns']['candidate'] / 1e3:.2f} µs"
        said.append(f"{time}: {estimate:.4f} [{low:.4f}, {high:.4f}]{mark}, half-width {_half(one):.2%}")
    return f"{'; '.join(said)}; {row['seconds']:.1f} s"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100, help="verified runs")
    parser.add_argument("--rows", default="256,2048,18432", help="sizes, for about 5, 20 and 150 µs on an H200")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--jobs", type=int, default=4, help="runs at a time, over all GPUs")
    parser.add_argument("--gpus", type=int, default=0, help="spread the workers over so many GPUs")
    parser.add_argument("--limit", type=float, default=180.0, help="seconds after which a run's worker is ended")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no run after this time")
    parser.add_argument(
        "--as-good-as", action="append", default=[], metavar="VERSION", help="keep rows by this older judge too"
    )
    parser.add_argument("--home", default=None)
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
