"""Every KernelBench problem: does it load, how fast are both baselines, and what does `check` find?

Writes a row per problem as it goes and skips what it has, so it can be stopped and called again. What is found is
kept in the home too, where `kernwright bench` looks before it checks a problem itself. Several workers overlap
loading, compiling and checking; the judge's lease keeps timing to one at a time.
"""

import argparse
import json
import math
import subprocess
import sys
import time
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from environment import environment
from lanes import Crew, done_by

from kernwright import __version__
from kernwright.core.jobs import JUDGE_VERSION, EvalJob
from kernwright.core.report import ProblemReport
from kernwright.engine import examining, intake
from kernwright.engine.targets import target_of
from kernwright.problems import kernelbench

RESULTS = Path(__file__).parent / "results" / "kernelbench_baselines.json"
FIELDS = ("input_bytes", "weight_bytes", "output_bytes", "eager_ns", "compile_ns", "copy_ns", "floor_ns", "headroom")
_shops: dict[str, Any] = {}
"""A worker's workshop: its launcher imports PyTorch once for all problems."""


def main() -> None:
    arguments = _arguments()
    began, deadline = time.monotonic(), time.monotonic() + 60 * arguments.minutes
    target = target_of(arguments.target)
    home = intake.writable_home(arguments.home)
    kept: dict[str, Any] = (
        json.loads(arguments.out.read_text()) if arguments.out.is_file() else {"rows": {}, "wall_s": 0.0}
    )
    entries = kernelbench.select(arguments.path, [int(n) for n in arguments.levels.split(",")], arguments.problems)
    setting = {"target": target, "precision": arguments.precision, "plan": arguments.plan}
    if kept["rows"] and kept["setting"] != setting:
        raise SystemExit(f"{arguments.out} holds rows for {kept['setting']}, now {setting}; give another --out.")
    rows, wall_s = kept["rows"], kept["wall_s"]
    open_ = [e for e in entries if e.key not in rows or (arguments.retry and not rows[e.key]["ok"])]

    def save() -> None:
        spent = wall_s + time.monotonic() - began
        timed_s = sum(row.get("stage_s", {}).get("measure", 0.0) for row in rows.values())
        said = {
            "setting": setting,
            "kernwright": __version__,
            "environment": environment(),
            "device": next((row["environment"] for row in rows.values() if row.get("environment")), {}),
            "kernelbench_commit": _commit(arguments.path),
            "wall_s": round(spent, 1),
            "timed_s": round(timed_s, 1),
            "totals": _totals(rows),
            "rows": {key: rows[key] for key in sorted(rows, key=_order)},
        }
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        part = arguments.out.with_suffix(".part")
        part.write_text(json.dumps(said, indent=1) + "\n")
        part.replace(arguments.out)

    save()
    jobs = [(e.key, f"kernelbench:{e.id}", target, arguments.precision, arguments.plan, str(home)) for e in open_]
    crew = Crew(workers=arguments.jobs, gpus=arguments.gpus, limit_s=arguments.limit, deadline=deadline)
    for number, (job, row, reason) in enumerate(done_by(crew, look, jobs), 1):
        rows[job[0]] = row or {"ok": False, "stage": "", "error": reason, "seconds": 0.0}
        save()
        rate = 60 * number / (time.monotonic() - began)
        said_of = f"[{len(rows)}, {rate:.1f} a minute] {job[0]}: {_sentence(rows[job[0]])}"
        print(said_of, file=sys.stderr, flush=True)
    totals, spent = _totals(rows), wall_s + time.monotonic() - began
    print(json.dumps(totals, indent=1))
    print(f"{len(rows)} of {len(entries)} problems; {spent:.0f} s of the machine, all calls together; {arguments.out}")


def look(job: tuple[str, ...]) -> dict[str, Any]:
    """One problem, in a worker."""
    _, id, target, precision, plan, home = job
    from kernwright.core.errors import MachineFault, UserError
    from kernwright.core.registry import reference
    from kernwright.core.resolve import resolve
    from kernwright.engine.reporting import NOBODY
    from kernwright.evaluation.participants.workshop import Workshop
    from kernwright.evaluation.report import report
    from kernwright.platforms import TABLE as PLATFORMS

    began = time.monotonic()
    stage = ["load"]
    try:
        problem = intake.problem_of(id, {"precision": precision})
        if target not in _shops:
            platform = resolve(reference("platforms", PLATFORMS, target.partition(":")[0]))()
            _shops[target] = Workshop(platform, target)
            Finalize(None, _shops[target].close, exitpriority=10)
        work: EvalJob = intake.job_of(problem, NOBODY, target, intake.plan_of(plan), Path(home))
        found = report(work, lambda text: stage.append(text), _shops[target])
        examining.keep(found, problem, target, Path(home))
    except MachineFault as error:
        raise MachineFault(f"{stage[-1]}: {error}") from error  # a process that lost its device is not used again
    except (UserError, MemoryError, RuntimeError) as error:
        kind = type(error).__name__
        return {"ok": False, "stage": stage[-1], "error": f"{kind}: {error}", "seconds": time.monotonic() - began}
    return {"ok": True, "seconds": time.monotonic() - began, **_row(found)}


def _row(found: ProblemReport) -> dict[str, Any]:
    [workload] = found.workloads
    against = workload.compile_speedup
    return {
        "judge": JUDGE_VERSION,
        **{name: getattr(workload, name) for name in FIELDS},
        "compile_speedup": [against.estimate, against.low, against.high] if against else None,
        "findings": [{"name": f.name, "sentence": f.sentence} for f in found.findings],
        "to_win": found.to_win,
        "notes": list(found.notes),
        "cache": found.cache,
        "isolation": found.isolation,
        "environment": found.environment,
        "stage_s": {name: round(s, 3) for name, s in found.stage_s.items()},
    }


def _totals(rows: dict[str, Any]) -> dict[str, Any]:
    """Per level: how many loaded and ran, geometric mean of eager over compile, and how many are degenerate."""
    found: dict[str, Any] = {}
    for level in sorted({key.partition("/")[0] for key in rows}):
        of = [row for key, row in rows.items() if key.startswith(f"{level}/")]
        good = [row for row in of if row["ok"]]
        logs = [math.log(row["eager_ns"] / row["compile_ns"]) for row in good if row["eager_ns"] and row["compile_ns"]]
        found[level] = {
            "problems": len(of),
            "ok": len(good),
            "both_baselines": len(logs),
            "degenerate": sum(bool(row["findings"]) for row in good),
            "compile_against_eager": round(math.exp(sum(logs) / len(logs)), 4) if logs else None,
        }
    return found


def _sentence(row: dict[str, Any]) -> str:
    if not row["ok"]:
        return f"{row['stage']}: {row['error']}"[:300]
    times = (f"{name} {row[f'{name}_ns'] / 1e6:.4g} ms" if row[f"{name}_ns"] else f"no {name}" for name in _BASELINES)
    degenerate = ", ".join(finding["name"] for finding in row["findings"])
    return f"{', '.join(times)}; {row['seconds']:.1f} s" + (f"; degenerate: {degenerate}" if degenerate else "")


_BASELINES = ("eager", "compile")


def _order(key: str) -> tuple[str, int, str]:
    level, _, stem = key.partition("/")
    return level, int(stem.partition("_")[0]), stem


def _commit(path: str) -> str:
    """Of the checkout itself; empty where it is a copy without its history."""
    if not any((folder / ".git").exists() for folder in (Path(path), Path(path).parent)):
        return ""
    done = subprocess.run(["git", "-C", path, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", required=True, help="a KernelBench checkout")
    parser.add_argument("--levels", default="1,2,3")
    parser.add_argument("--problems", default=None, help="such as 1-20,33")
    parser.add_argument("--target", default=None)
    parser.add_argument("--precision", default="strict_float32")
    parser.add_argument("--plan", default="quick")
    parser.add_argument("--jobs", type=int, default=1, help="problems at a time; each needs its own memory")
    parser.add_argument("--gpus", type=int, default=0, help="spread the workers over so many GPUs")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds after which a problem's worker is ended")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no problem after this time")
    parser.add_argument("--retry", action="store_true", help="try again the problems that failed")
    parser.add_argument("--home", default=None)
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
