"""`kill -9` at random moments of a run, then `resume`: what was lost, what was done twice.

Each trial is a run in a process of its own, with trials of a tuner, identical source and several
proposals and evaluations in flight. The engine notes every draft and evaluation in a second file
once the journal has taken it; after the kill, the journal must hold all of these, and after the
resume, each must be there once and must not have been carried out again.
"""

import argparse
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from kernwright.core.events import Drafted, Entry, Evaluated, Picked
from kernwright.core.graph import Graph
from kernwright.core.problem import Problem, Workload
from kernwright.core.spec import Budget, OperatorSpec, RunSpec
from kernwright.engine import service
from kernwright.engine.executors.guard import descendants
from kernwright.store.sql import SqlStore
from kernwright.testing.null import EXECUTED

COMMITTED = "committed.log"
SCRIPTED = "kernwright.testing.scripted:Scripted"


def main() -> int:
    """Exit status 1 where anything was lost, repeated, or left running."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--executor", choices=["processes", "inline"], default="processes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", nargs=2, metavar=("HOME", "RUN"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.engine:
        _engine(Path(asked.engine[0]), asked.engine[1])
        return 0
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, executor {asked.executor}"
    )
    rng, total, at_kill = random.Random(asked.seed), Counter[str](), []
    whole = _uninterrupted(asked.executor)
    for trial in range(asked.kills):
        with tempfile.TemporaryDirectory() as folder:
            found = _trial(Path(folder), asked.executor, rng.uniform(1, whole))
        at_kill.append(found.pop("events at the kill"))
        total.update(found)
        if sys.stderr.isatty():
            print(f"\r{trial + 1} of {asked.kills}", end="", file=sys.stderr, flush=True)
    print(f"{'kills':32} {asked.kills:6}")
    print(f"{'  after it had ended':32} {total.pop('ended before', 0):6}")
    print(f"{'events at the kill, median':32} {sorted(at_kill)[len(at_kill) // 2]:6} of about {whole}")
    bad = 0
    for name in ("committed", "lost", "repeated in the journal", "carried out again", "not finished", "left running"):
        print(f"{name:32} {total[name]:6}")
        bad += total[name] if name != "committed" else 0
    return int(bad > 0)


def _engine(home: Path, run: str) -> None:
    notes = os.open(home / COMMITTED, os.O_WRONLY | os.O_APPEND)

    def note(entry: Entry, graph: Graph) -> None:
        os.write(notes, f"{_line(entry)}\n".encode())

    service.drive(home, run, resume=True, observe=note)


def _line(entry: Entry) -> str:
    """Names what was committed."""
    match entry.event:
        case Drafted(node=node, draft=draft):
            return f"{entry.seq} drafted {node} {draft.kind} {getattr(draft, 'candidate', '')}"
        case Evaluated() as event:
            return f"{entry.seq} evaluated {event.node} {event.purpose} {event.key} {event.reused}"
    return f"{entry.seq} {entry.event.kind}"


def _created(home: Path, executor: str) -> str:
    home.mkdir(exist_ok=True)
    for name in (COMMITTED, EXECUTED):
        (home / name).touch()
    knobs = "BLOCK = 1; KNOBS = {'BLOCK': [1, 2]}"
    lines = [f"SPEEDUP = 1.{n}; SLEEP_S = 0.01; {knobs}" for n in (1, 5, 3, 5, 2)]
    starts = OperatorSpec(name=SCRIPTED, settings={"script": "\n".join(lines), "sleep_s": 0.01})
    tuner = OperatorSpec(
        name=SCRIPTED, settings={"script": "SLEEP_S = 0.005; T = {node}", "intents": "tune", "trials": 4, "label": "t"}
    )
    rest = {
        "script": "SLEEP_S = 0.01; N = {seed}",
        "intents": "improve,combine",
        "sleep_s": 0.02,
        "forever": True,
        "label": "i",
    }
    spec = RunSpec(
        target="cpu:null",
        policy="elite",
        operators=(starts, tuner, OperatorSpec(name=SCRIPTED, settings=rest)),
        executor=executor,
        evaluator="kernwright.testing.null:NullEvaluator",
        budget=Budget(proposals=30),
        evaluations_in_flight=2,
    )
    return service.create(home, spec, Problem(name="nothing", source="", workloads=(Workload(name="default"),)))


def _started(home: Path, run: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, __file__, "--engine", str(home), run]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def _uninterrupted(executor: str) -> int:
    """How many events a run has that nobody kills."""
    with tempfile.TemporaryDirectory() as folder:
        run = _created(Path(folder), executor)
        assert _started(Path(folder), run).wait() == 0, "the run fails without being killed"
        return len(_entries(Path(folder), run))


def _trial(home: Path, executor: str, events: float) -> dict[str, int]:
    """Kill once so many events were noted, and a part of the time to the next one later."""
    run = _created(home, executor)
    engine = _started(home, run)
    while engine.poll() is None and (home / COMMITTED).read_bytes().count(b"\n") < int(events):
        time.sleep(0.001)
    time.sleep(events % 1 * 0.03)
    family = descendants(engine.pid)
    ended = engine.poll() is not None
    engine.send_signal(signal.SIGKILL)
    engine.wait()
    time.sleep(0.7)
    left = sum(map(_alive, family))
    before = _entries(home, run)
    noted = (home / COMMITTED).read_text().splitlines()
    kept = {_line(entry) for entry in before}
    executed_before = Counter((home / EXECUTED).read_text().splitlines())
    _started(home, run).wait()
    after = _entries(home, run)
    committed = {entry.event.key for entry in before if isinstance(entry.event, Evaluated)}
    executed = Counter((home / EXECUTED).read_text().splitlines())
    fresh = {entry.event.key for entry in after[len(before) :] if isinstance(entry.event, Evaluated)}
    again = sum(executed[key] - executed_before[key] for key in committed if key not in fresh)
    return {
        "events at the kill": len(before),
        "ended before": int(ended),
        "left running": left,
        "committed": sum("drafted" in line or "evaluated" in line for line in noted),
        "lost": sum(line not in kept for line in noted)
        + sum(old != new for old, new in zip(before, after, strict=False)),
        "repeated in the journal": _repeated(after),
        "carried out again": again,
        "not finished": int(after[-1].event.kind != "run_finished" or _open(after) > 0),
    }


def _repeated(entries: list[Entry]) -> int:
    """Drafts beyond one a node, searches beyond one a node, executions beyond one a key, items used twice."""
    counts: Counter[object] = Counter()
    for entry in entries:
        match entry.event:
            case Drafted(node=node, draft=draft):
                counts["draft", node] += 1
                if draft.kind == "proposed":
                    counts["item", draft.operator, draft.item] += 1
            case Evaluated() as event:
                if event.purpose != "tune":
                    counts["evaluation", event.node, event.purpose] += 1
                if not event.reused:
                    counts["execution", event.key, event.purpose == "tune"] += 1
    return sum(count - 1 for count in counts.values())


def _open(entries: list[Entry]) -> int:
    picked = {entry.event.node for entry in entries if isinstance(entry.event, Picked)}
    return len(picked - {entry.event.node for entry in entries if isinstance(entry.event, Drafted)})


def _entries(home: Path, run: str) -> list[Entry]:
    store = SqlStore(home)
    try:
        return list(store.events(run))
    finally:
        store.close()


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
