"""The gallery's champions under compute-sanitizer: memcheck, racecheck and initcheck, each of which finds a planted
fault first.

A judgement looks at a candidate with these tools before it confirms it, where they are installed; the gallery's own
were made where they were not. Here nothing is timed, so that several are looked at beside each other, and those as well
whose judgement leaves no room on the device for one process more. Every champion is called on three sets of inputs of
each workload. Writes as it goes; called again with the same --out it goes on with those that are not there.
"""

import argparse
import json
import math
import os
import random
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from environment import environment

from kernwright.core.plan import FULL
from kernwright.engine import intake
from kernwright.engine.bundles.verifying import verify
from kernwright.engine.exporting import BUNDLE_SUFFIX
from kernwright.evaluation.calls import calls_of
from kernwright.evaluation.footprint import memory_needed
from kernwright.evaluation.judge import Judge
from kernwright.evaluation.problem.setting import prepare
from kernwright.evaluation.sanitize import sanitizers_of, watch

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "gallery_sanitizers.json"
CLEAN = "nothing reported"


def main() -> None:
    arguments = _arguments()
    kept: dict[str, Any] = {"rows": {}, "seconds": 0.0}
    if arguments.out.is_file():
        kept = json.loads(arguments.out.read_text())
    begun, before = time.monotonic(), kept["seconds"]
    bundles = {path.parent.name: path for path in sorted(arguments.gallery.glob(f"*/*{BUNDLE_SUFFIX}"))}
    champions = {name: verify(path).sealed.bundle.candidate.id for name, path in bundles.items()}
    kept["rows"] = {n: row for n, row in kept["rows"].items() if row["candidate"] == champions.get(n)}
    left = [name for name in bundles if "tools" not in kept["rows"].get(name, {})]
    chosen = [name for name in left if not arguments.only or name in arguments.only.split(",")]
    with tempfile.TemporaryDirectory() as home:
        for name, row in _rows({name: bundles[name] for name in chosen}, home, arguments, begun):
            kept["rows"] = dict(sorted({**kept["rows"], name: {"candidate": champions[name], **row}}.items()))
            kept |= {"seconds": round(before + time.monotonic() - begun, 1), "environment": environment()}
            kept["summary"] = _summary(kept["rows"], len(bundles))
            part = arguments.out.with_suffix(".part")
            part.write_text(json.dumps(kept, indent=1) + "\n")
            part.replace(arguments.out)
            print(f"[{len(kept['rows'])}] {name}: {row}"[:300], file=sys.stderr, flush=True)
    print(json.dumps(kept.get("summary", {}), indent=1))


def _rows(bundles: dict[str, Path], home: str, arguments: argparse.Namespace, begun: float) -> Any:
    end = begun + 60 * arguments.minutes
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn"), max_tasks_per_child=1) as several:
        asked = {
            several.submit(watched, str(path), home, number % arguments.gpus, end): name
            for number, (name, path) in enumerate(bundles.items())
        }
        for each in as_completed(asked):
            try:
                row = each.result()
            except Exception as error:  # one champion is not all
                row = {"error": f"{type(error).__name__}: {error}"[:500]}
            if row is not None:
                yield asked[each], row


def watched(path: str, home: str, gpu: int, end: float) -> dict[str, Any] | None:
    """What each tool says of the champion in this bundle, in a process of its own; None where the time is up."""
    if time.monotonic() > end:
        return None
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[gpu]
    bundle = verify(Path(path)).sealed.bundle
    job = intake.job_of(bundle.problem, bundle.candidate, bundle.evaluation.target, FULL, Path(home))
    judge, begun = Judge(home), time.monotonic()
    try:
        shop, reference = judge.shop(job), judge.reference(job)
        reference.has_all_memory = True
        # One process has it open instead of two to four.
        with shop.session.reserved(memory_needed(reference, shop.session.apart_bytes).held // 2):
            settings = [
                prepare(reference, workload, index, random.Random(0), vary=True)
                for index, workload in enumerate(job.problem.workloads)
            ]
            for setting in settings:
                setting.lean = False  # cases are still made anew at each use; nothing else has to find room here
            found = list(watch(sanitizers_of(job), job, shop, settings, calls_of(reference)))
    finally:
        judge.close()
    tools = {
        check.name.removeprefix("sanitize: "): {"passed": check.passed, "detail": check.detail, **check.evidence}
        for check in found
    }
    return {"tools": tools, "seconds": round(time.monotonic() - begun, 1)}


def _summary(rows: dict[str, Any], champions: int) -> dict[str, Any]:
    tools = [(name, tool) for row in rows.values() for name, tool in row.get("tools", {}).items()]
    return {"champions": champions} | {
        name: {
            CLEAN: sum(tool["detail"] == CLEAN for other, tool in tools if other == name),
            "something reported": sum(not tool["passed"] for other, tool in tools if other == name),
            "not watched, or not to the end": sum(
                tool["passed"] and tool["detail"] != CLEAN for other, tool in tools if other == name
            ),
        }
        for name in sorted({name for name, _ in tools})
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gallery", type=Path, default=HERE.parent / "gallery")
    parser.add_argument("--only", help="folders of the gallery, such as conv1d,level1-23-softmax")
    parser.add_argument("--jobs", type=int, default=8, help="how many at once")
    parser.add_argument("--gpus", type=int, default=1, help="over so many GPUs")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin none after this time")
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
