"""Hostile input by the million: the reader of bundles, and what a runner may say.

Nothing may raise but a refusal, and no bundle may be accepted that states anything else than the one that it was
made from. Three kinds of input: bytes of a bundle edited anywhere; parts of a bundle edited and all hashes computed
anew, which only the statistics can refuse; replies of a runner edited and given to the judge's handle on it.
"""

import argparse
import json
import math
import multiprocessing
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from environment import environment
from rich.console import Console

from kernwright.core.jobs import JUDGE_VERSION
from kernwright.testing.fuzz_targets import TARGETS

SHARES = {"bundle bytes": 0.3, "bundle resealed": 0.1, "runner": 0.6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", default="", help="write the counts as JSON")
    arguments = parser.parse_args()
    console = Console()
    report = {}
    for name, share in SHARES.items():
        count = math.ceil(arguments.inputs * share / arguments.processes)
        orders = [(name, arguments.seed * 1000 + i, count) for i in range(arguments.processes)]
        began = monotonic()
        with multiprocessing.get_context("spawn").Pool(arguments.processes) as pool:
            found: Counter[str] = sum(pool.starmap(fuzz, orders), Counter())
        spent = monotonic() - began
        report[name] = {
            "inputs": found.total(),
            "per_s": round(found.total() / spent),
            "seconds": round(spent),
            **found,
        }
        console.print(name, report[name])
    console.print(environment())
    if arguments.out:
        told = {
            "judge": JUDGE_VERSION,
            "seed": arguments.seed,
            "targets": report,
            "environment": environment(),
        }
        Path(arguments.out).write_text(json.dumps(told, indent=1) + "\n")
    faults = sum(count for each in report.values() for what, count in each.items() if what.startswith("FAULT"))
    sys.exit(1 if faults else 0)


def fuzz(name: str, seed: int, count: int) -> Counter[str]:
    """What came of so many inputs of one kind."""
    found: Counter[str] = Counter()
    with TARGETS[name](random.Random(seed)) as target:
        once: Callable[[], str] = target
        for number in range(count):
            try:
                found[once()] += 1
            except Exception as error:
                found[f"FAULT {type(error).__name__}"] += 1
                print(f"{name}, seed {seed}, input {number}: {error!r}", file=sys.stderr, flush=True)
    return found


if __name__ == "__main__":
    main()
