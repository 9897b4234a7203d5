"""The gallery's champions under compute-sanitizer: memcheck, racecheck and initcheck, each of which finds a planted
fault first.

A judgement looks at a candidate with these tools before it confirms it, where they are installed; the gallery's own
were made where they were not. Here each champion is judged again by a short plan (8 blocks, eager alone, one fresh
process set), whose times are not kept. Writes as it goes; with --out, what is there already is not done again.
"""

import argparse
import asyncio
import json
import math
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

from environment import environment
from gpu_rate import HERE, JUDGE

from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Evaluation
from kernwright.core.plan import FULL, Plan
from kernwright.engine import intake
from kernwright.engine.bundles.verifying import verify
from kernwright.engine.executors.processes import Processes
from kernwright.engine.exporting import BUNDLE_SUFFIX

RESULTS = HERE / "results" / "gallery_sanitizers.json"
SHORT = replace(FULL, blocks=8, max_blocks=8, process_sets=1, short_sets=1, baselines=("eager",))


def main() -> None:
    arguments = _arguments()
    kept: dict[str, Any] = {"rows": {}, "seconds": 0.0}
    if arguments.out.is_file():
        kept = json.loads(arguments.out.read_text())
    begun, before = monotonic(), kept["seconds"]
    with tempfile.TemporaryDirectory() as home:
        chosen = arguments.only.split(",") if arguments.only else None
        jobs = {path.parent.name: _job(path, home, SHORT) for path in _bundles(arguments)}
        left = {
            name: job
            for name, job in jobs.items()
            if (chosen is None or name in chosen)
            and (
                kept["rows"].get(name, {}).get("candidate") != job.candidate.id or kept["rows"][name]["outcome"] is None
            )
        }

        def save(name: str, row: dict[str, Any]) -> None:
            kept["rows"][name] = row
            kept["rows"] = {key: kept["rows"][key] for key in sorted(kept["rows"]) if key in jobs}
            kept["seconds"] = round(before + monotonic() - begun, 1)
            kept["summary"] = _summary(kept["rows"], len(jobs))
            kept["environment"] = environment()
            part = arguments.out.with_suffix(".part")
            part.write_text(json.dumps(kept, indent=1) + "\n")
            part.replace(arguments.out)
            print(f"[{len(kept['rows'])}] {name}: {row}"[:300], file=sys.stderr, flush=True)

        asyncio.run(_judged(left, arguments, home, save))
    print(json.dumps(kept.get("summary", {}), indent=1))


async def _judged(jobs: dict[str, EvalJob], arguments: argparse.Namespace, home: str, save: Any) -> None:
    executor = Processes(JUDGE, home, arguments.jobs, lambda text: None)
    free, end = asyncio.Semaphore(arguments.jobs), monotonic() + 60 * arguments.minutes

    async def one(name: str, job: EvalJob) -> None:
        async with free:
            if monotonic() > end:
                return
            try:
                row = _row(await executor.submit(job))
            except Exception as error:  # one champion is not all
                row = {"outcome": None, "error": f"{error}"[:500]}
            save(name, {"candidate": job.candidate.id, **row})

    try:
        await asyncio.gather(*(one(name, job) for name, job in jobs.items()))
    finally:
        await executor.close()


def _row(found: Evaluation) -> dict[str, Any]:
    tools = {
        check.name.removeprefix("sanitize: "): {"detail": check.detail, "passed": check.passed, **check.evidence}
        for check in found.checks
        if check.name.startswith("sanitize: ")
    }
    reason = getattr(found.outcome, "reason", "")
    return {"outcome": found.outcome.kind, "reason": reason[:300], "tools": tools, "stage_s": found.stage_s}


def _summary(rows: dict[str, Any], champions: int) -> dict[str, Any]:
    names = sorted({name for row in rows.values() for name in row.get("tools", {})})
    said = {
        name: [tool for row in rows.values() if (tool := row.get("tools", {}).get(name)) is not None] for name in names
    }
    return {"champions": champions} | {
        name: {
            "nothing reported": sum(tool["detail"] == "nothing reported" for tool in tools),
            "reported": sum(not tool["passed"] for tool in tools),
            "not watched, or not to the end": sum(tool["detail"].startswith("not watched") for tool in tools),
        }
        for name, tools in said.items()
    }


def _job(path: Path, home: str, plan: Plan) -> EvalJob:
    bundle = verify(path).sealed.bundle
    return intake.job_of(bundle.problem, bundle.candidate, bundle.evaluation.target, plan, Path(home))


def _bundles(arguments: argparse.Namespace) -> list[Path]:
    return sorted(arguments.gallery.glob(f"*/*{BUNDLE_SUFFIX}"))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gallery", type=Path, default=HERE.parent / "gallery")
    parser.add_argument("--only", help="folders of the gallery, such as conv1d,level1-23-softmax")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 3))
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin none after this time")
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
