"""Small runs for the engine's tests."""

from pathlib import Path
from typing import Any

from kernwright.core.events import Drafted, Entry, Evaluated, Event, Picked
from kernwright.core.problem import Problem, Scalar, Workload
from kernwright.core.spec import Budget, OperatorSpec, RunSpec
from kernwright.engine import service
from kernwright.store.sql import SqlStore

PROBLEM = Problem(name="nothing", source="", workloads=(Workload(name="default"),))


def scripted(*lines: str, **settings: Scalar) -> OperatorSpec:
    """A scripted operator that says these lines."""
    name = "kernwright.testing.scripted:Scripted"
    return OperatorSpec(name=name, settings={"script": "\n".join(lines), **settings})


def spec(*operators: OperatorSpec, **changes: Any) -> RunSpec:
    """A run that judges nothing, in this process."""
    plain: dict[str, Any] = {
        "target": "cpu:null",
        "operators": operators,
        "evaluator": "kernwright.testing.null:NullEvaluator",
        "executor": "inline",
    }
    return RunSpec(**plain | changes)


def created(home: Path, *operators: OperatorSpec, **changes: Any) -> str:
    """A run with these operators."""
    return service.create(home, spec(*operators, **changes), PROBLEM)


def journal(home: Path, run: str) -> list[Entry]:
    """Its entries."""
    store = SqlStore(home)
    try:
        return list(store.events(run))
    finally:
        store.close()


def kinds(home: Path, run: str) -> list[str]:
    """Its kinds of events, in order."""
    return [entry.event.kind for entry in journal(home, run)]


def of_kind(home: Path, run: str, kind: type[Any]) -> list[Any]:
    """Its events of one class."""
    return [entry.event for entry in journal(home, run) if isinstance(entry.event, kind)]


def append(home: Path, run: str, *events: Event) -> None:
    """As an engine that was killed afterwards would have left them."""
    store = SqlStore(home)
    try:
        for event in events:
            store.append(run, event)
    finally:
        store.close()


def once_each(home: Path, run: str) -> None:
    """Asserts that every node has one draft and one evaluation, and no work was done twice."""
    drafted = [e.node for e in of_kind(home, run, Drafted)]
    assert sorted(drafted) == sorted({e.node for e in of_kind(home, run, Picked)})
    searched = [e for e in of_kind(home, run, Evaluated) if e.purpose == "search"]
    assert len({e.node for e in searched}) == len(searched)
    executed = [(e.key, e.purpose == "tune") for e in of_kind(home, run, Evaluated) if not e.reused]
    assert len(set(executed)) == len(executed)


LIMITED = Budget(proposals=6)
