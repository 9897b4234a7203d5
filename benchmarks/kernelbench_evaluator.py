"""KernelBench's own evaluator and this judge on the same kernels, with as many checks and samples.

Theirs is called as their users do: a fresh Python process for each kernel, timed whole. Ours is warm, as in a search.
Every kernel differs from every other in one number, so that each is compiled. Printed: how long one kernel takes, one
at a time, and how many a minute several at once; CUDA by NVRTC (ours) stands against `load_inline` (theirs) and is
labelled so, beside the same `load_inline` file given to both. Writes as it goes; with --out, what is there already is
not measured again.
"""

import argparse
import asyncio
import json
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

from environment import environment
from gpu_rate import HERE, SERIES, pool
from kernelbench_call import Order, called, source_in

from kernwright.core.plan import QUICK, Plan

RESULTS = HERE / "results" / "kernelbench_evaluator.json"
PAIRS = (
    ("Triton", "triton", "triton"),
    ("CUDA: NVRTC by us, load_inline by them", "cuda", "load_inline"),
    ("CUDA: load_inline by both", "load_inline", "load_inline"),
    ("C++", "cpp", "cpp"),
)
"""What is compared: its name, ours, theirs. The last is no GPU's: with a stand-in for theirs, it tries this script."""
THEIRS = {"triton": "triton", "load_inline": "cuda", "cpp": "cpp"}
"""What their evaluator calls the form."""


def main() -> None:
    arguments = _arguments()
    said: dict[str, Any] = {"ours": {}, "theirs": {}, "environment": {}}
    if arguments.out.is_file():
        said = json.loads(arguments.out.read_text())
    forms = arguments.forms.split(",")
    end = monotonic() + 60 * arguments.minutes
    # Theirs first: with our workers' processes asleep on the device, they would have less of it.
    for name in dict.fromkeys(theirs for _, _, theirs in PAIRS if theirs in forms):
        number = arguments.triton if name == "triton" else arguments.inline
        for together in (1, arguments.together):
            key = f"{name} x{together}"
            if number and together and monotonic() < end and not said["theirs"].get(key, {}).get("correct"):
                said["theirs"][key] = _theirs(arguments, name, max(number, together), together)
                _save(arguments, said)
                print(f"theirs, {key}: {_short(said['theirs'][key])}", file=sys.stderr, flush=True)
    asyncio.run(_ours(arguments, forms, said, end))
    said["compared"] = _compared(said, arguments)
    _save(arguments, said)
    print(json.dumps({name: said[name] for name in ("compared", "settings", "environment")}, indent=1))


def _theirs(arguments: argparse.Namespace, name: str, number: int, together: int) -> dict[str, Any]:
    begun = monotonic()
    with ThreadPoolExecutor(together) as several:
        calls = list(several.map(lambda _: _call(arguments, name), range(number)))
    seconds = monotonic() - begun
    good = [call for call in calls if call.get("correct")]
    return {
        "calls": number,
        "together": together,
        "correct": len(good),
        "seconds_each": [call["seconds"] for call in calls],
        "seconds_median": round(median(call["seconds"] for call in good or calls), 3),
        "per_minute": round(60 * len(good) / seconds, 2),
        "runtime": [call.get("runtime") for call in calls],
        "reference_runtime": [call.get("reference_runtime") for call in calls],
        "stubs": calls[0].get("stubs", []),
        "failed": [{k: v for k, v in call.items() if k in ("error", "metadata")} for call in calls if call not in good],
    }


def _call(arguments: argparse.Namespace, name: str) -> dict[str, Any]:
    """One kernel, in a fresh process; whatever goes wrong is in what is returned."""
    series = SERIES[name]
    return called(
        Order(
            source=source_in(arguments.kernelbench_src),
            reference=(HERE / "problems" / f"{series.problem}.py").read_text(),
            kernel=series.text(),
            backend=THEIRS[name],
            checks=arguments.checks,
            samples=arguments.samples,
            limit_s=arguments.limit,
        )
    )


def _plans(samples: int) -> dict[str, Plan]:
    """Ours: one with as many samples of candidate and eager as theirs, and the quick plan as it comes."""
    blocks = max(8, math.ceil(samples / 2))
    like = replace(QUICK, blocks=blocks, max_blocks=blocks, baselines=("eager",))
    return {"as many samples": like, "quick": QUICK}


async def _ours(arguments: argparse.Namespace, forms: list[str], said: dict[str, Any], end: float) -> None:
    wanted = [
        (f"{form} x{workers}, {label}", form, workers, number, plan)
        for form in dict.fromkeys(ours for _, ours, _ in PAIRS if ours in forms)
        for label, plan in _plans(arguments.samples).items()
        for workers, number in ((1, arguments.alone), (arguments.workers, arguments.several))
        if number
    ]
    open_ = [each for each in wanted if not _all_measured(said["ours"].get(each[0], {}))]
    if not open_:
        return
    async with pool(max(workers for _, _, workers, _, _ in open_)) as crew:
        for key, form, workers, number, plan in open_:
            if monotonic() > end:
                print("The time is up; call it again to go on.", file=sys.stderr)
                return
            try:
                row = await crew.rate(form, workers, number, plan)
                if device := row.pop("environment"):
                    said["environment"] = {"host": environment(), **device}
            except Exception as error:  # one series is not all
                row = {"error": f"{error!r}"[:500]}
            said["ours"][key] = row
            _save(arguments, said)
            print(f"ours, {key}: {_short(row)}", file=sys.stderr, flush=True)


def _all_measured(row: dict[str, Any]) -> bool:
    """A candidate that did not come to its timing says nothing of how long judging takes."""
    return set(row.get("outcomes", {})) == {"measured"} and not row.get("faults")


def _best(ours: dict[str, Any], form: str, label: str) -> dict[str, Any]:
    """The row of the number of workers that judged most a minute; empty where there is none of several."""
    rows = [ours[key] for key in ours if key.startswith(f"{form} x") and key.endswith(f", {label}")]
    several = [row for row in rows if row.get("workers", 1) > 1 and _all_measured(row)]
    return max(several, key=lambda row: float(row["per_minute"]), default={})


def _compared(said: dict[str, Any], arguments: argparse.Namespace) -> list[dict[str, Any]]:
    found = []
    for title, ours, theirs in PAIRS:
        alone, over = (said["theirs"].get(f"{theirs} x{n}", {}) for n in (1, arguments.together))
        for label in _plans(arguments.samples):
            one = said["ours"].get(f"{ours} x1, {label}", {})
            several = _best(said["ours"], ours, label)
            if not (alone.get("correct") and _all_measured(one)):
                continue
            row = {
                "what": title,
                "our plan": label,
                "ours_s": one["seconds_each"],
                "theirs_s": alone["seconds_median"],
                "latency_ratio": round(alone["seconds_median"] / one["seconds_each"], 2),
                "ours_a_minute": several.get("per_minute"),
                "our_workers": several.get("workers"),
                "theirs_a_minute_alone": alone["per_minute"],
                "theirs_a_minute_together": over.get("per_minute"),
                "our_evidence": one.get("evidence"),
            }
            if several:
                best = max(alone["per_minute"], over.get("per_minute") or 0.0)
                row["throughput_ratio"] = round(several["per_minute"] / best, 2)
                row["throughput_ratio_to_one_at_a_time"] = round(several["per_minute"] / alone["per_minute"], 2)
            found.append(row)
    return found


def _save(arguments: argparse.Namespace, said: dict[str, Any]) -> None:
    said["settings"] = {
        "theirs": f"num_correct_trials={arguments.checks}, num_perf_trials={arguments.samples} of candidate and of "
        "eager, cuda_event; a fresh process and empty compiler caches for each kernel; timed whole",
        "ours": f"'as many samples': the quick plan with {_plans(arguments.samples)['as many samples'].blocks} ABBA "
        "blocks (two samples of each participant a block), eager alone as baseline, half of the timed calls compared "
        "besides every check; 'quick': the quick plan as it is, with torch.compile as a baseline too; workers warm",
        "together": f"theirs {arguments.together} processes at once, whose timings then disturb each other; ours "
        "as many workers as 'our_workers' says, timing exclusive",
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    part = arguments.out.with_suffix(".part")
    part.write_text(json.dumps(said, indent=1) + "\n")
    part.replace(arguments.out)


def _short(row: dict[str, Any]) -> str:
    names = ("correct", "seconds_median", "seconds_each", "per_minute", "outcomes", "error", "failed", "faults")
    return ", ".join(f"{name} {row[name]}"[:400] for name in names if row.get(name))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelbench-src", type=Path, required=True, help="a checkout with src/kernelbench/eval.py")
    parser.add_argument("--forms", default="triton,cuda,load_inline")
    parser.add_argument("--triton", type=int, default=4, help="calls of theirs for Triton")
    parser.add_argument("--inline", type=int, default=2, help="calls of theirs for load_inline; each takes a minute")
    parser.add_argument("--together", type=int, default=4, help="theirs at once; 0 leaves that out")
    parser.add_argument("--alone", type=int, default=6, help="candidates of ours one at a time")
    parser.add_argument("--several", type=int, default=24, help="candidates of ours several at once")
    parser.add_argument("--workers", type=int, default=5)
    parser.add_argument("--checks", type=int, default=5, help="correctness trials, as their scripts have it")
    parser.add_argument("--samples", type=int, default=100, help="performance trials, as their scripts have it")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds after which a call of theirs is ended")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no series after this time")
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
