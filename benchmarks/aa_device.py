"""A/A with the full plan on a GPU: how often the 95 % interval of a kernel against itself holds 1.0.

A softmax in Triton is judged with the same text, but for a comment, as the champion; `speedup_champion` of each
verified evaluation comes from fresh process sets. Three numbers of rows stand for about 5, 20 and 150 µs; each row
says what the kernel took. Baselines are left to eager, which A/A does not need but the judge does. Writes a row per run
as it goes and has as many of each size as are asked for, so it can be stopped and called again.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain
from multiprocessing.util import Finalize
from pathlib import Path
from statistics import fmean, median
from typing import Any

from environment import environment
from lanes import Crew, Row, done_by

from kernwright import __version__
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.outcome import Samples, Timings, timings_of
from kernwright.core.plan import FULL
from kernwright.engine import intake
from kernwright.engine.targets import target_of
from kernwright.evaluation.timing.statistics import set_log_ratio
from kernwright.problems.file import problem_in

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "aa_device.json"
BASELINES = ("eager",)
KERNELS = {
    "cuda": ("softmax_rows", "ROWS = 256", "ROWS = {}", "softmax_4096_triton", "triton"),
    "cpu": ("five_ms", '"rows": 900', '"rows": {}', "five_ms_cpp", "cpp"),
}
"""By kind of target: problem, what is replaced in it and by what, candidate, its language."""
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
    setting = {"target": target, "plan": "full, eager alone as baseline", "judge": JUDGE_VERSION}
    if kept["rows"] and kept["setting"] != setting:
        raise SystemExit(f"{arguments.out} holds rows for {kept['setting']}, now {setting}; give another --out.")
    rows: list[Row] = kept["rows"]

    def save() -> dict[str, Any]:
        device = next((row["environment"] for row in rows if row.get("environment")), kept.get("device", {}))
        said = {
            "aim": "95 % interval holds 1.0 in >= 93 of 100; half-widths <= 2 %, 1 %, 0.5 %",
            "sizes": {str(size): _summary([row for row in rows if row["size"] == size]) for size in sizes},
            "wall_s": round(kept["wall_s"] + time.monotonic() - began, 1),
            "setting": setting,
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

    jobs = _jobs(sizes, rows, arguments.runs, target, home)
    save()
    # The machine's noise floor is measured once for a decade of call times, so the first of each size goes ahead alone.
    crew = Crew(workers=arguments.jobs, gpus=arguments.gpus, limit_s=arguments.limit, deadline=deadline)
    known = any((Path(home) / "cache" / "noise").glob("*.json"))
    first = [] if known else [job for job, before in zip(jobs, [None, *jobs], strict=False) if _new(job, before)]
    jobs = [*first, *(job for job in jobs if not any(job is each for each in first))]
    ended = chain(done_by(replace(crew, workers=1), look, first), done_by(crew, look, jobs[len(first) :]))
    for number, (job, row, reason) in enumerate(ended, 1):
        rows.append({"size": job["size"], **(row or {"verdict": "fault", "reason": reason})})
        save()
        rate = 60 * number / (time.monotonic() - began)
        print(f"[{number} of {len(jobs)}, {rate:.1f} a minute] {_sentence(rows[-1])}", file=sys.stderr, flush=True)
    said = save()
    print(json.dumps({name: value for name, value in said.items() if name != "rows"}, indent=1))


def _jobs(sizes: list[int], rows: list[Row], runs: int, target: str, home: str) -> list[dict[str, Any]]:
    """One size after the other: a worker that stays with a problem keeps it warm."""
    open_ = {size: runs - sum(row["size"] == size and row["verdict"] == "verified" for row in rows) for size in sizes}
    return [{"size": size, "target": target, "home": home} for size, left in open_.items() for _ in range(left)]


def _new(job: dict[str, Any], before: dict[str, Any] | None) -> bool:
    return before is None or before["size"] != job["size"]


def look(ask: dict[str, Any]) -> Row:
    """One run, in a worker."""
    from kernwright.core.errors import UserError
    from kernwright.evaluation.judge import Judge

    if "judge" not in _judges:
        _judges["judge"] = Judge(ask["home"])
        Finalize(None, _judges["judge"].close, exitpriority=10)
    name, before, after, candidate, language = KERNELS[ask["target"].partition(":")[0]]
    source = (HERE / "problems" / f"{name}.py").read_text()
    if before not in source:
        raise ValueError(f"{name}.py has no {before!r}")
    problem = problem_in(Path(f"{name}.py"), source.replace(before, after.format(ask["size"]), 1))
    text = (HERE / "problems" / f"{candidate}.py").read_text()
    pair = [
        Candidate(language=language, files=(SourceFile(name="candidate.py", text=each),))
        for each in (text, text + "\n# the same\n")
    ]
    plan = replace(FULL, baselines=BASELINES, sanitize=False)
    job = intake.job_of(problem, pair[0], ask["target"], plan, Path(ask["home"]), champion=pair[1])
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
    if timings is not None and timings.speedup_champion is not None:
        against = timings.speedup_champion
        row |= {
            "interval": [against.estimate, against.low, against.high],
            "sets": against.n,
            "set_log_ratios": _set_log_ratios(timings),
            "set_times_ns": _set_medians(timings, lambda each: each.device_ns),
            "set_besides_ns": _set_medians(timings, _beside),
            "charged": [note[:400] for note in found.notes if " counts " in note],
            "time_ns": timings.workloads[0].time_ns,
        }
    return row


def _set_log_ratios(timings: Timings) -> list[float]:
    """What each process set says of the champion's time over the candidate's."""
    taken = {(each.process_set, each.participant): each.device_ns for each in timings.samples}
    return [
        round(set_log_ratio(taken[number, "candidate"], taken[number, "champion"]), 5)
        for number in sorted({number for number, _ in taken})
    ]


def _set_medians(timings: Timings, of: Callable[[Samples], Iterable[float]]) -> dict[str, list[float]]:
    """By participant the median in each process set."""
    sets = sorted({each.process_set for each in timings.samples})
    taken = {(each.participant, each.process_set): median(of(each)) for each in timings.samples}
    names = sorted({name for name, _ in taken})
    return {name: [round(taken[name, number], 1) for number in sets if (name, number) in taken] for name in names}


def _beside(samples: Samples) -> list[float]:
    """What the judge's clock saw of each message beside what its call counts."""
    return [judge - device for judge, device in zip(samples.judge_ns, samples.device_ns, strict=True)]


def _summary(rows: list[Row]) -> dict[str, Any]:
    """Of one size."""
    good = [row for row in rows if row["verdict"] == "verified" and row.get("interval")]
    others = [f"{row['verdict']}: {row['reason']}"[:300] for row in rows if row not in good]
    if not good:
        return {"runs": 0, "not_verified": others}
    halves = sorted(_half(row) for row in good)
    inside = sum(row["interval"][1] <= 1 <= row["interval"][2] for row in good)
    return {
        "runs": len(good),
        "hold_1": inside,
        "share": round(inside / len(good), 4),
        "half_width_median": round(median(halves), 5),
        "half_width_95th": round(halves[min(len(halves) - 1, math.ceil(0.95 * len(halves)) - 1)], 5),
        "half_width_worst": round(halves[-1], 5),
        "estimate_median": round(median(row["interval"][0] for row in good), 5),
        "charged": sum(bool(row.get("charged")) for row in good),
        "time_us_median": round(median(row["time_ns"]["candidate"] for row in good) / 1e3, 3),
        "seconds_a_run": round(fmean(row["seconds"] for row in good), 2),
        "not_verified": others,
    }


def _half(row: Row) -> float:
    return math.sqrt(row["interval"][2] / row["interval"][1]) - 1


def _sentence(row: Row) -> str:
    if not row.get("interval"):
        return f"{row['size']} rows: {row['verdict']}: {row['reason']}"[:300]
    estimate, low, high = row["interval"]
    mark = "" if low <= 1 <= high else " without 1"
    found = f"{estimate:.4f} [{low:.4f}, {high:.4f}]{mark}, half-width {_half(row):.2%}"
    return f"{row['size']} rows, {row['time_ns']['candidate'] / 1e3:.2f} µs: {found}; {row['seconds']:.1f} s"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100, help="verified runs of each size")
    parser.add_argument("--rows", default="256,2048,18432", help="sizes, for about 5, 20 and 150 µs on an H200")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--jobs", type=int, default=4, help="runs at a time, over all GPUs")
    parser.add_argument("--gpus", type=int, default=0, help="spread the workers over so many GPUs")
    parser.add_argument("--limit", type=float, default=180.0, help="seconds after which a run's worker is ended")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no run after this time")
    parser.add_argument("--home", default=None)
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
