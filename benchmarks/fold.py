"""Folds a journal from disk and prints how long it takes: `python benchmarks/fold.py [NODES]`, 100,000 by default.

Every node is a Picked, a Drafted and an Evaluated with small timings. Reading from SQLite is included;
writing the journal is not. Also printed: appending one event through the store, durable against a kill.
"""

import math
import platform
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table
from sqlalchemy import insert

from kernwright.core.brief import Pick, Proposed
from kernwright.core.events import Drafted, Evaluated, Event, Picked, RunStarted
from kernwright.core.graph import fold
from kernwright.core.outcome import CheckResult, Evaluation, Interval, Measured, Samples, Timings, WorkloadTiming
from kernwright.core.problem import Problem, Workload
from kernwright.core.spec import RunSpec
from kernwright.store import sqlite
from kernwright.store.codec import encode_event
from kernwright.store.sql import SqlStore
from kernwright.store.tables import EVENTS

FOLD_LIMIT_S, APPEND_LIMIT_MS = 5.0, 0.3


def evaluation(candidate: str, speedup: float) -> Evaluation:
    """A measured evaluation with one workload and two participants of four samples each."""
    interval = Interval(estimate=speedup, low=speedup * 0.98, high=speedup * 1.02, n=8)
    times = tuple(1e6 / speedup + step for step in range(4))
    samples = tuple(
        Samples(participant=who, workload="wide", process_set=0, device_ns=times, call_ns=times, judge_ns=times)
        for who in ("candidate", "eager")
    )
    workload = WorkloadTiming(
        workload="wide",
        weight=1.0,
        time_ns={"candidate": 1e6 / speedup, "eager": 1e6},
        baseline="eager",
        speedup=interval,
        copy_ns=4e5,
    )
    timings = Timings(
        workloads=(workload,),
        speedup=interval,
        speedup_call=interval,
        speedup_eager=interval,
        speedup_compile=None,
        speedup_champion=None,
        baseline="eager",
        faster=speedup > 1,
        aa_floor=0.01,
        cache="llc-warm",
        threads=1,
        samples=samples,
    )
    return Evaluation(
        candidate=candidate,
        problem="p" * 32,
        plan="quick",
        target="cpu:x86-64-v4",
        machine="m" * 16,
        judge_version="1",
        outcome=Measured(timings=timings, reason="correct and timed"),
        checks=(CheckResult(name="close", passed=True, evidence={"error_ratio": 0.5}),),
    )


def journal(nodes: int) -> Iterator[Event]:
    """Events of a run in which every proposal improves on a random earlier one."""
    rng = random.Random(0)
    problem = Problem(name="softmax", source="class Model: ...", workloads=(Workload(name="wide"),))
    yield RunStarted(spec=RunSpec(target="cpu"), problem=problem)
    for node in range(nodes):
        pick = Pick(parents=(rng.randrange(node),), intent="improve") if node else Pick()
        candidate, speedup = f"{node:032x}", math.exp(rng.gauss(0, 0.3))
        yield Picked(node=node, pick=pick)
        yield Drafted(node=node, draft=Proposed(candidate=candidate, operator="null", item=str(node)))
        yield Evaluated(
            node=node,
            purpose="search",
            key=candidate,
            score=math.log(speedup),
            evaluation=evaluation(candidate, speedup),
        )


def write(home: Path, run: str, nodes: int) -> None:
    """Put the journal on disk in one transaction, which the store itself never does."""
    engine = sqlite.open_engine(home / "journal.db")
    with engine.execution_options(write=True).begin() as connection:
        batch = []
        for seq, event in enumerate(journal(nodes), 1):
            batch.append(
                {"run": run, "seq": seq, "at": float(seq), "kind": event.kind, "body": encode_event(event).decode()}
            )
            if len(batch) == 10_000:
                connection.execute(insert(EVENTS), batch)
                batch.clear()
        if batch:
            connection.execute(insert(EVENTS), batch)
    engine.dispose()


def append_ms(store: SqlStore, events: int) -> list[float]:
    """Milliseconds of each of so many appends, a third of them evaluations."""
    taken = []
    for _, event in zip(range(events), journal(events), strict=False):
        start = time.perf_counter()
        store.append("appended", event)
        taken.append((time.perf_counter() - start) * 1e3)
    return taken


def processor() -> str:
    """The processor's model, where the system says."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    """Build, measure, print."""
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        store = SqlStore(home)
        write(home, "folded", nodes)
        wall, cpu = time.perf_counter(), time.process_time()
        graph = fold(store.events("folded"))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        assert len(graph.nodes) == nodes
        assert graph.seq == 3 * nodes + 1
        appends = append_ms(store, 5_000)
        store.close()
    table = Table(title=f"Python {platform.python_version()} on {processor()}")
    for column in ("figure", "measured", "at most"):
        table.add_column(column)
    table.add_row(f"fold {nodes:,} nodes, wall", f"{wall:.2f} s", f"{FOLD_LIMIT_S * nodes / 100_000:g} s")
    table.add_row("  processor time of it", f"{cpu:.2f} s", "")
    table.add_row("append one event, median", f"{statistics.median(appends):.3f} ms", f"{APPEND_LIMIT_MS} ms")
    table.add_row("  mean", f"{statistics.fmean(appends):.3f} ms", "")
    Console().print(table)


if __name__ == "__main__":
    main()
