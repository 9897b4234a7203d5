"""The operator `compiler` alone on KernelBench: how many problems end in a verified candidate?

One candidate for each problem (Inductor's code as it stands), judged under the full plan by several workers at a time.
With `--emit FOLDER` the candidates are kept there, and taken from there where they are; where the target is not on
this machine, writing them is all that is done. Writes a row per problem as it goes and skips what it has, so it can be
stopped and called again.
"""

import argparse
import asyncio
import json
import math
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from environment import environment, placeless
from lanes import Crew, Row, done_by

from kernwright import __version__
from kernwright.core.brief import Brief, Proposed
from kernwright.core.candidate import Candidate, SourceFile
from kernwright.core.jobs import JUDGE_VERSION
from kernwright.core.outcome import Evaluation, Interval, timings_of
from kernwright.core.plan import PLANS
from kernwright.engine import intake
from kernwright.engine.targets import here, target_of
from kernwright.problems import kernelbench

RESULTS = Path(__file__).parent / "results"
AIM = 190
FILES = {"cpu": "torch", "cuda": "triton"}
"""Language of what Inductor writes, by kind of target."""
LOG_BYTES = 2000
_judges: dict[str, Any] = {}
"""A worker's judge: its launcher imports PyTorch once for all problems."""


def main() -> None:
    arguments = _arguments()
    began, deadline = time.monotonic(), time.monotonic() + 60 * arguments.minutes
    target = target_of(arguments.target, absent=True)
    home = intake.writable_home(arguments.home)
    folder = (arguments.emit or home / "kernelbench-compiler").absolute()
    entries = kernelbench.select(arguments.path, [int(n) for n in arguments.levels.split(",")], arguments.problems)
    ask = {
        "target": target,
        "precision": arguments.precision,
        "only": arguments.only,
        "plan": arguments.plan,
        "baselines": arguments.baselines,
        "sets": str(arguments.sets or PLANS[arguments.plan].process_sets),
        "sanitize": "yes" if arguments.sanitize else "",
        "home": str(home),
        "folder": str(folder),
    }
    jobs = [{**ask, "key": entry.key, "id": f"kernelbench:{entry.id}"} for entry in entries]
    crew = Crew(workers=arguments.jobs, gpus=arguments.gpus, limit_s=arguments.limit, deadline=deadline)
    if arguments.only_emit or target not in here():
        _emit_all(crew, jobs, folder, target)
        return
    setting = {name: ask[name] for name in ("target", "precision", "only", "plan", "baselines", "sets")} | {
        "judge": JUDGE_VERSION
    }
    setting |= {"sanitize": "yes"} if ask["sanitize"] else {}
    book = _Book(arguments.out, setting, len(entries), began)
    open_ = [job for job in jobs if book.wants(job["key"], retry=arguments.retry)]
    book.save()
    for number, (job, row, reason) in enumerate(done_by(crew, judge, open_), 1):
        book.rows[job["key"]] = row or {"verdict": "fault", "verified": False, "reason": reason, "seconds": 0.0}
        book.save()
        rate = 60 * number / (time.monotonic() - began)
        verified = sum(each["verified"] for each in book.rows.values())
        head = f"[{len(book.rows)} of {len(entries)}, {verified} verified, {rate:.1f} a minute] {job['key']}"
        print(f"{head}: {_sentence(book.rows[job['key']])}", file=sys.stderr, flush=True)
    if len(book.rows) < len(entries):
        print("The time is up; call it again to go on.", file=sys.stderr)
    print(json.dumps({name: value for name, value in book.said().items() if name != "rows"}, indent=1))


class _Book:
    """The rows so far and the file that they are in."""

    def __init__(self, out: Path, setting: dict[str, str], asked: int, began: float) -> None:
        kept: dict[str, Any] = json.loads(out.read_text()) if out.is_file() else {"rows": {}, "wall_s": 0.0}
        if kept["rows"] and kept.get("setting") != setting:
            raise SystemExit(f"{out} holds rows for {kept.get('setting')}, now {setting}; give another --out.")
        self.rows: dict[str, Row] = kept["rows"]
        self._before_s, self._device = kept["wall_s"], kept.get("device", {})
        self._out, self._setting, self._asked, self._began = out, setting, asked, began

    def wants(self, key: str, *, retry: bool) -> bool:
        return key not in self.rows or (retry and not self.rows[key]["verified"])

    def said(self) -> dict[str, Any]:
        """The summary, with the rows last."""
        for row in self.rows.values():
            self._device = row.pop("environment", None) or self._device
        rows = {key: self.rows[key] for key in sorted(self.rows, key=_order)}
        left = {key: f"{row['verdict']}: {row['reason']}" for key, row in rows.items() if not row["verified"]}
        return {
            "verified": len(rows) - len(left),
            "done": len(rows),
            "asked": self._asked,
            "aim": f">= {AIM} of 200",
            "verdicts": dict(Counter(row["verdict"] for row in rows.values())),
            "not_verified": left,
            "faster": sum(bool(row.get("faster")) for row in rows.values()),
            "geometric_mean_of_verified": _geometric(rows),
            "seconds_a_problem": _mean_stages(rows),
            "wall_s": round(self._before_s + time.monotonic() - self._began, 1),
            "setting": self._setting,
            "kernwright": __version__,
            "environment": environment(),
            "device": self._device,
            "rows": rows,
        }

    def save(self) -> None:
        said = self.said()
        self._out.parent.mkdir(parents=True, exist_ok=True)
        for suffix, text in ((".json", json.dumps(said, indent=1) + "\n"), (".md", _markdown(said))):
            part = self._out.with_suffix(suffix + ".part")
            part.write_text(text)
            part.replace(self._out.with_suffix(suffix))


def judge(ask: dict[str, str]) -> Row:
    """One problem, in a worker: what the operator writes, judged."""
    from kernwright.core.errors import UserError
    from kernwright.evaluation.judge import Judge
    from kernwright.evaluation.memory import hold_to_available

    began = time.monotonic()
    try:
        emitted = emit(ask)
        emit_s = time.monotonic() - began
        if "reason" in emitted:
            return _ended("no candidate", emitted["reason"], began)
        if "judge" not in _judges:
            hold_to_available()
            _judges["judge"] = Judge(ask["home"])
            Finalize(None, _judges["judge"].close, exitpriority=10)
        asked = {"baselines": tuple(ask["baselines"].split(",")), "process_sets": int(ask["sets"]), "short_sets": 0}
        asked["sanitize"] = bool(ask["sanitize"])
        plan = replace(intake.plan_of(ask["plan"]), **asked)  # type: ignore[arg-type]
        problem = intake.problem_of(ask["id"], {"precision": ask["precision"]})
        candidate = _candidate(ask["target"], emitted["text"])
        job = intake.job_of(problem, candidate, ask["target"], plan, Path(ask["home"]))
        found = _judges["judge"].evaluate(job)
    except (UserError, MemoryError) as error:
        return _ended("not judged", f"{type(error).__name__}: {error}", began)
    row = _row(found)
    row["stage_s"] = {"emit": round(emit_s, 3), **row["stage_s"]}
    return {**row, "seconds": round(time.monotonic() - began, 3)}


def _ended(verdict: str, reason: str, began: float) -> Row:
    seconds = round(time.monotonic() - began, 3)
    return {"verdict": verdict, "verified": False, "reason": reason, "seconds": seconds}


def _row(found: Evaluation) -> Row:
    outcome = found.outcome
    timings = timings_of(outcome)
    times = [load.time_ns for load in timings.workloads] if timings else []
    row: Row = {
        "verdict": outcome.kind,
        "verified": outcome.kind == "verified",
        "reason": outcome.reason,
        "candidate": found.candidate,
        "notes": list(found.notes),
        "isolation": found.isolation,
        "environment": found.environment,
        "stage_s": found.stage_s,
    }
    if log := getattr(outcome, "log", ""):
        row["log"] = placeless(log)[-LOG_BYTES:]
    if failed := [asdict(check) for check in found.checks if not check.passed]:
        row["failed_checks"] = failed
    if timings is not None:
        row |= {
            "faster": timings.faster,
            "baseline": timings.baseline,
            "speedup": _interval(timings.speedup),
            "speedup_eager": _interval(timings.speedup_eager),
            "speedup_compile": _interval(timings.speedup_compile),
            "time_ns": {name: round(ns, 1) for name, ns in times[0].items()} if len(times) == 1 else times,
        }
    return row


def _interval(interval: Interval | None) -> list[float] | None:
    return [round(x, 5) for x in (interval.estimate, interval.low, interval.high)] if interval else None


def emit(ask: dict[str, str]) -> dict[str, str]:
    """The operator's text for a problem, or the reason why there is none; asked once and kept beside the others."""
    place = Path(ask["folder"]) / f"{ask['key']}.py"
    if place.is_file():
        return {"text": place.read_text()}
    problem = intake.problem_of(ask["id"], {"precision": ask["precision"]})
    draft, kept = asyncio.run(_proposed(problem, ask))
    if not isinstance(draft, Proposed):
        return {"reason": getattr(draft, "reason", draft.kind)}
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_suffix(".part")
    part.write_text(kept[draft.candidate].main.text)
    part.replace(place)
    return {"text": place.read_text()}


async def _proposed(problem: Any, ask: dict[str, str]) -> tuple[Any, dict[str, Candidate]]:
    from kernwright.core.ports import OperatorContext
    from kernwright.search.operators.compiler import Compiler

    kept: dict[str, Candidate] = {}

    def put(candidate: Candidate) -> str:
        kept[candidate.id] = candidate
        return candidate.id

    @asynccontextmanager
    async def quiet() -> AsyncIterator[None]:
        yield

    async def nobody(*_: Any) -> Any:
        raise NotImplementedError("there is no search here")

    context = OperatorContext(
        home=Path(ask["home"]),
        run="kernelbench-compiler",
        used=frozenset(),
        start=(),
        put=put,
        get=kept.__getitem__,
        trial=nobody,
        quiet=quiet,
        answers=nobody,
    )
    brief = Brief(
        run=context.run, node=0, intent="start", problem=problem, target=ask["target"], parents=(), seed=0
    )  # fmt: skip
    return await Compiler(context, only=ask["only"]).propose(brief), kept


def _candidate(target: str, text: str) -> Candidate:
    language = FILES[target.partition(":")[0]]
    return Candidate(language=language, files=(SourceFile(name="inductor.py", text=text),))


def _emit_all(crew: Crew, jobs: list[dict[str, str]], folder: Path, target: str) -> None:
    refused: dict[str, str] = {}
    began = time.monotonic()
    open_ = [job for job in jobs if not (folder / f"{job['key']}.py").is_file()]
    for number, (job, row, reason) in enumerate(done_by(crew, emit, open_), 1):
        why = reason if row is None else row.get("reason", "")
        if why:
            refused[job["key"]] = why
        rate = 60 * number / (time.monotonic() - began)
        said = f"[{number} of {len(open_)}, {rate:.0f} a minute] {job['key']}: {why or 'written'}"
        print(said, file=sys.stderr, flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    about = {"target": target, "emitted_with": _versions(), "environment": environment(), "refused": refused}
    (folder / "emitted.json").write_text(json.dumps(about, indent=1) + "\n")
    written = sum((folder / f"{job['key']}.py").is_file() for job in jobs)
    seconds = time.monotonic() - began
    print(f"{written} of {len(jobs)} candidates for {target} are in {folder}; {seconds:.0f} s.")


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in ("torch", "triton"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _geometric(rows: dict[str, Row]) -> float | None:
    logs = [math.log(row["speedup"][0]) for row in rows.values() if row["verified"] and row.get("speedup")]
    return round(math.exp(sum(logs) / len(logs)), 4) if logs else None


def _mean_stages(rows: dict[str, Row]) -> dict[str, float]:
    """Where the time goes, in the mean over those that were judged."""
    judged = [row for row in rows.values() if row.get("stage_s")]
    names = dict.fromkeys(name for row in judged for name in row["stage_s"])
    found = {name: sum(row["stage_s"].get(name, 0.0) for row in judged) / len(judged) for name in names}
    if judged:
        found["all"] = sum(row["seconds"] for row in judged) / len(judged)
    return {name: round(s, 2) for name, s in found.items()}


def _markdown(said: dict[str, Any]) -> str:
    head = [
        "# The operator `compiler` alone on KernelBench",
        "",
        f"{said['verified']} of {said['done']} problems verified (asked {said['asked']}, aim {said['aim']}); "
        f"{said['faster']} shown to be faster; {said['wall_s']:.0f} s in all. Verified: correct in fresh processes, "
        "whatever the speedup.",
        "",
        ", ".join(f"{name} {value}" for name, value in {**said["setting"], **said["device"]}.items()),
        "",
        "| problem | verdict | speedup | candidate | eager | compile | s |",
        "|---|---|---|---|---|---|---|",
    ]
    lines = []
    for key, row in said["rows"].items():
        speedup, times = row.get("speedup"), row.get("time_ns") or {}
        times = times if isinstance(times, dict) else {}
        shown = [f"{times[name] / 1e6:.4g} ms" if name in times else "" for name in ("candidate", "eager", "compile")]
        figure = "{:.3f} [{:.3f}, {:.3f}]".format(*speedup) if speedup else ""
        verdict = row["verdict"] if row["verified"] else f"{row['verdict']}: {_cell(row['reason'])}"
        lines.append(f"| {key} | {verdict} | {figure} | {' | '.join(shown)} | {row['seconds']:.1f} |")
    return "\n".join([*head, *lines, ""])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")[:160]


def _sentence(row: Row) -> str:
    figure = f"{row['speedup'][0]:.3f}x" if row.get("speedup") else row["reason"][:200]
    return f"{row['verdict']}: {figure} ({row['seconds']:.1f} s)"


def _order(key: str) -> tuple[str, int, str]:
    level, _, stem = key.partition("/")
    return level, int(stem.partition("_")[0]), stem


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", required=True, help="a KernelBench checkout")
    parser.add_argument("--levels", default="1,2")
    parser.add_argument("--problems", default=None, help="such as 1-20,33")
    parser.add_argument("--target", default=None)
    parser.add_argument("--precision", default="strict_float32")
    parser.add_argument("--plan", default="full")
    parser.add_argument("--baselines", default="eager,compile", help="eager alone is quicker, and says less")
    parser.add_argument("--sets", type=int, default=0, help="fresh process sets; fewer than the plan's are quicker")
    parser.add_argument("--sanitize", action="store_true", help="under compute-sanitizer's tools too, a minute each")
    parser.add_argument("--only", default="default", help="settings of the operator, separated by commas")
    parser.add_argument("--emit", type=Path, default=None, help="folder of the candidates; those missing are written")
    parser.add_argument("--only-emit", action="store_true", help="judge nothing")
    parser.add_argument("--jobs", type=int, default=1, help="problems at a time; each needs its own memory")
    parser.add_argument("--gpus", type=int, default=0, help="spread the workers over so many GPUs")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds after which a problem's worker is ended")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no problem after this time")
    parser.add_argument("--retry", action="store_true", help="try again the problems that were not verified")
    parser.add_argument("--home", default=None)
    parser.add_argument("--out", type=Path, default=RESULTS / "kernelbench_compiler.json")
    return parser.parse_args()


if __name__ == "__main__":
    main()
