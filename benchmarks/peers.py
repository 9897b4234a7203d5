"""Other evaluators on the kernels of the zoo: what each accepts, and with which gain, beside this judge's verdicts.

Each kernel goes to a fresh process of the evaluator, in the form and with the settings of its own scripts. Only kernels
that attack no process of a judge's, and nothing else of the machine, are given to it: it confines nothing. Writes a row
per kernel as it goes; called again with the same --out it goes on. None of an evaluator's code is here: a checkout is
given by its path.
"""

import argparse
import json
import math
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from environment import environment, placeless
from kernelbench_call import Order, called, source_in

from kernwright import zoo
from kernwright.core.candidate import entry_of
from kernwright.core.problem import Rules

RESULTS = Path(__file__).parent / "results"
GAIN = 1.05
"""From here on a speedup is said to be one."""
INPUTS = """

_drawn, _params = get_inputs, {params!r}


def get_inputs():
    return _drawn(**_params)
"""
NO_INIT = """

def get_init_inputs():
    return []
"""
AS_MODULE = """

import torch as _torch


class ModelNew(_torch.nn.Module):
    def __init__(self, *init):
        super().__init__()

    def forward(self, *inputs):
        return kernel(*inputs)
"""


def main() -> None:
    arguments = _arguments()
    kept: dict[str, Any] = {"peers": {}}
    if arguments.out.is_file():
        kept = json.loads(arguments.out.read_text())
    rows = kept["peers"].setdefault("kernelbench", {"rows": {}})["rows"]
    members = [m for kind in ("hacks", "honest") for m in zoo.members(kind) if "cuda" in m.platforms]
    kept["left_out"] = {m.name: why for m in members if (why := _unsuitable(m))}
    given = [m for m in members if m.name not in kept["left_out"]]
    left = [m for m in given if m.name not in rows]
    end = time.monotonic() + 60 * arguments.minutes
    source, saving = source_in(arguments.kernelbench_src), threading.Lock()

    def one(numbered: tuple[int, zoo.Member]) -> None:
        number, member = numbered
        if time.monotonic() > end:
            return
        gpu = str(number % arguments.gpus) if arguments.gpus > 1 else ""
        row = _row(member, called(_order(member, source, arguments), gpu))
        with saving:
            rows[member.name] = row
            _save(arguments.out, kept)
        print(f"[{len(rows)}] {member.name}: {rows[member.name]}"[:300], file=sys.stderr, flush=True)

    with ThreadPoolExecutor(arguments.together) as several:
        list(several.map(one, enumerate(left)))
    ours = json.loads(arguments.ours.read_text())["rows"] if arguments.ours and arguments.ours.is_file() else {}
    if left:
        kept |= {"settings": _settings(arguments), "environment": environment()}
    names = {m.name for m in given}
    theirs = {name: row for name, row in rows.items() if name in names}
    kept["table"] = {"kernelbench": _table(theirs), "kernwright": _table(_own(ours, theirs))}
    _save(arguments.out, kept)
    print(json.dumps(kept["table"], indent=1))
    if len(rows) < len(given):
        print(f"{len(given) - len(rows)} are still to be asked for; call it again")


def _unsuitable(member: zoo.Member) -> str:
    """Why an evaluator without confinement, and without rules of its own, is not asked; empty where it is."""
    if member.destructive or member.needs_harness or member.alone:
        return "attacks processes or the machine"
    if member.rules != Rules():
        return "forbidden, or allowed, only by a rule of the problem's"
    return ""


def _order(member: zoo.Member, source: str, arguments: argparse.Namespace) -> Order:
    problem = zoo.problem(member.problem, member.rules)
    reference = problem.source + INPUTS.format(params=dict(problem.timed[0].params))
    if "def get_init_inputs" not in problem.source:
        reference += NO_INIT
    kernel = member.text + (AS_MODULE if entry_of(member.candidate) == "kernel" else "")
    return Order(
        source=source,
        reference=reference,
        kernel=kernel,
        backend="triton",  # by which a file is imported; it may call whatever it likes
        checks=arguments.checks,
        samples=arguments.samples,
        limit_s=arguments.limit,
    )


def _row(member: zoo.Member, said: dict[str, Any]) -> dict[str, Any]:
    """What it made of one kernel."""
    theirs, reference = said.get("runtime") or 0.0, said.get("reference_runtime") or 0.0
    metadata = said.get("metadata", {})
    return {
        "kind": member.kind,
        "row": member.row,
        "accepted": bool(said.get("correct")),
        "speedup": round(reference / theirs, 3) if theirs > 0 and reference > 0 else None,
        "doubted": "excessive_speedup" in metadata,
        "seconds": said["seconds"],
        "error": placeless(said.get("error", ""))[-300:]
        or {k: placeless(v)[-300:] for k, v in metadata.items() if "error" in k},
    }


def _own(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """This judge's verdicts on the same kernels, where they are known."""
    return {
        name: {
            "kind": theirs[name]["kind"],
            "row": theirs[name]["row"],
            "accepted": row["verdict"] in ("measured", "verified"),
            "speedup": row["speedup"],
            "doubted": False,
        }
        for name, row in ours.items()
        if name in theirs
    }


def _table(rows: dict[str, Any]) -> dict[str, Any]:
    """Hacks by family of the threat model, and honest kernels: how many were accepted, and how many with a gain."""
    found: dict[str, Counter[str]] = {}
    for row in rows.values():
        counts = found.setdefault(row["row"][0] if row["kind"] == "hacks" else "honest", Counter())
        gains = row["accepted"] and (row["speedup"] or 0.0) > GAIN
        counts.update({"of": 1, "accepted": row["accepted"], "with a gain": gains})
        counts.update({"with a gain, not flagged": gains and not row["doubted"]})
    return {family: dict(found[family]) for family in sorted(found)}


def _settings(arguments: argparse.Namespace) -> dict[str, str]:
    return {
        "kernelbench": f"eval_kernel_against_ref, num_correct_trials={arguments.checks}, "
        f"num_perf_trials={arguments.samples}, cuda_event, check_for_excessive_speedup at 10; a fresh process each, "
        f"{arguments.together} at once on {arguments.gpus} GPUs; the first workload of each problem alone",
    }


def _save(path: Path, kept: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(kept, indent=1) + "\n")
    part.replace(path)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelbench-src", type=Path, required=True, help="a checkout with src/kernelbench/eval.py")
    parser.add_argument("--ours", type=Path, default=RESULTS / "zoo_cuda.json", help="what zoo_device.py has written")
    parser.add_argument("--together", type=int, default=4, help="how many are evaluated at once")
    parser.add_argument("--gpus", type=int, default=1, help="over how many GPUs they are spread")
    parser.add_argument("--checks", type=int, default=5, help="correctness trials, as their scripts have it")
    parser.add_argument("--samples", type=int, default=100, help="performance trials, as their scripts have it")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which one is ended")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin none after this time")
    parser.add_argument("--out", type=Path, default=RESULTS / "peers.json")
    return parser.parse_args()


if __name__ == "__main__":
    main()
