"""Survivors are looked at once, when somebody builds on them; nothing of that ends a run or changes a score."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine_runs import PROBLEM, append, created, journal, kinds, of_kind, scripted, spec

from kernwright.core.events import Drafted, Evaluated, Faulted, ModelCalled, Profiled, RunStarted
from kernwright.core.graph import Graph, fold
from kernwright.core.guidance import Guidance
from kernwright.core.model import ModelSpec
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine import service
from kernwright.engine.briefs import brief_of
from kernwright.engine.journal import Journal
from kernwright.engine.profiles import look_of
from kernwright.engine.replaying import replayed
from kernwright.engine.wiring import job_of, told
from kernwright.store.sql import SqlStore
from kernwright.testing.scripted import scripted as candidate

TOLD = Guidance(profile=True, diagnosis=True)
BUSY = 'COUNTERS = {"dram_busy": 0.9, "dram_bytes": 1000.0}'
LESS = 'SPEEDUP = {speedup}; COUNTERS = {"dram_busy": 0.5, "dram_bytes": 400.0}'


def driven(home: Path, *operators: OperatorSpec, **changes: Any) -> tuple[str, Graph]:
    settings = {"guidance": TOLD, "budget": Budget(proposals=2), "policy_settings": {"starts": 1}, **changes}
    settings = {"proposals_in_flight": 1, **settings}
    run = created(home, *operators, **settings)
    return run, service.drive(home, run, resume=False)


def both(*lines: str) -> OperatorSpec:
    return scripted(*lines, intents="start,improve")


def brief(home: Path, run: str, node: int) -> Any:
    store = SqlStore(home)
    try:
        return brief_of(Journal(store, run), node)
    finally:
        store.close()


def test_a_parent_is_looked_at_before_the_brief_that_shows_it(tmp_path: Path) -> None:
    run, graph = driven(tmp_path, both(f"SPEEDUP = 1.5; {BUSY}", "SPEEDUP = 1.1"))
    entries = [entry.event for entry in journal(tmp_path, run)]
    [profiled] = [event for event in entries if isinstance(event, Profiled) and event.node == 0]
    assert entries.index(profiled) < entries.index(next(e for e in entries if isinstance(e, Drafted) and e.node == 1))
    assert profiled.diagnosis is not None
    assert profiled.diagnosis.bottlenecks == ("dram",)
    assert graph.nodes[0].profile == profiled.profile
    shown = brief(tmp_path, run, 1)
    assert "DRAM runs at 90.0% of its peak" in shown.diagnosis
    assert shown.bottlenecks == ("dram",)
    assert shown.parents[0].profile == profiled.profile


def test_nobody_is_looked_at_where_nobody_is_told(tmp_path: Path) -> None:
    lines = (f"SPEEDUP = 1.5; {BUSY}", "SPEEDUP = 1.1")
    for home, changes in (("a", {"guidance": Guidance()}), ("b", {"profiles": "none"})):
        (tmp_path / home).mkdir()
        run, _ = driven(tmp_path / home, both(*lines), **changes)
        assert "profiled" not in kinds(tmp_path / home, run)


def test_a_tuning_tells_nobody_so_its_parent_is_not_looked_at(tmp_path: Path) -> None:
    operators = (scripted("X = 1; KNOBS = {'X': [1, 2]}; SPEEDUP = 1.5"), scripted("SPEEDUP = 1.1", intents="tune"))
    run, graph = driven(tmp_path, *operators, policy="greedy")
    assert any(node.pick.intent == "tune" for node in graph.nodes)
    assert graph.champion() is not None
    assert "profiled" not in kinds(tmp_path, run)  # the champion neither: nobody was told anything


def test_nobody_is_looked_at_for_an_operator_that_reads_no_brief(tmp_path: Path) -> None:
    operators = (OperatorSpec(name="compiler"), OperatorSpec(name="tuner"))
    assert not told(spec(*operators, guidance=TOLD))
    assert told(spec(*operators, OperatorSpec(name="llm"), guidance=TOLD))
    assert told(spec(OperatorSpec(name="mailbox"), guidance=TOLD))
    assert not told(spec(OperatorSpec(name="mailbox")))


def test_one_that_failed_is_not_looked_at(tmp_path: Path) -> None:
    run, _ = driven(tmp_path, both("WRONG = True", "SPEEDUP = 1.2"))
    assert 0 not in {event.node for event in of_kind(tmp_path, run, Profiled)}


def test_the_champion_is_looked_at_in_the_end_and_nobody_twice(tmp_path: Path) -> None:
    run, graph = driven(
        tmp_path, both(f"SPEEDUP = 1.5; {BUSY}", "SPEEDUP = 1.9", "SPEEDUP = 1.2"), budget=Budget(proposals=3)
    )
    champion = graph.champion()
    assert champion is not None
    looked = [event.node for event in of_kind(tmp_path, run, Profiled)]
    assert champion.id in looked
    assert len(looked) == len(set(looked))
    again = service.drive(tmp_path, run, resume=True)
    assert again.champion() is not None
    assert [event.node for event in of_kind(tmp_path, run, Profiled)] == looked


def test_identical_source_is_looked_at_once(tmp_path: Path) -> None:
    line = f"SPEEDUP = 1.5; {BUSY}"
    run, graph = driven(tmp_path, both(line, line, "SPEEDUP = 1.1"), budget=Budget(proposals=3))
    seen = [event.profile for event in of_kind(tmp_path, run, Profiled)]
    assert all(profile.tools == ("nothing",) for profile in seen)
    assert graph.nodes[0].candidate == graph.nodes[1].candidate


def test_a_profiler_that_fails_is_journalled_once_and_the_run_goes_on(tmp_path: Path) -> None:
    run, graph = driven(
        tmp_path, both('SPEEDUP = 1.5; BLIND = "no eyes"', "SPEEDUP = 1.1", "SPEEDUP = 1.2"), budget=Budget(proposals=3)
    )
    assert graph.finished is not None
    faults = [event for event in of_kind(tmp_path, run, Faulted) if "no eyes" in event.reason]
    assert len(faults) == 1
    [event] = [event for event in of_kind(tmp_path, run, Profiled) if event.node == 0]
    assert event.profile.missing == ("profiling: no eyes",)
    assert event.diagnosis is None
    assert brief(tmp_path, run, 1).diagnosis == ""
    assert graph.spent.evaluations == len([e for e in of_kind(tmp_path, run, Evaluated) if not e.reused])


class Expecting:
    """A scripted operator whose second candidate states what it changes."""

    name = "expecting"
    intents = frozenset({"start", "improve"})

    def __init__(self, context: Any, *, expects: str = "DRAM bytes -50 %", speedup: float = 1.9) -> None:
        self._less = LESS.replace("{speedup}", str(speedup))
        self._put = context.put
        self._expects = tuple(expects.split("; "))

    async def propose(self, brief: Any) -> Any:
        from kernwright.core.brief import Proposed

        text = f"SPEEDUP = 1.5; {BUSY}" if brief.intent == "start" else f"NODE = {brief.node}; {self._less}"
        return Proposed(
            candidate=self._put(candidate(text)),
            operator=self.name,
            item=str(brief.node),
            summary=f"idea {brief.node}",
            expects=() if brief.intent == "start" else self._expects,
        )


def test_what_was_expected_is_looked_at_and_told_to_those_who_follow(tmp_path: Path) -> None:
    run, graph = driven(tmp_path, OperatorSpec(name="test_profiles:Expecting"), budget=Budget(proposals=4))
    assert graph.nodes[1].diagnosis is not None
    [seen] = graph.nodes[1].diagnosis.expected
    assert seen.verdict == "came"
    assert (seen.before, seen.after) == (1000, 400)
    child = next(node.id for node in graph.nodes if node.pick.parents == (1,))
    shown = brief(tmp_path, run, child)
    assert "expected was 'DRAM bytes -50 %'; it came" in shown.diagnosis
    assert "against solution 0, which it came from: " in shown.diagnosis
    assert "DRAM bytes 1 kB -> 400 B" in shown.diagnosis


def test_an_expectation_of_one_that_nobody_builds_on_is_looked_at_too(tmp_path: Path) -> None:
    operator = OperatorSpec(name="test_profiles:Expecting", settings={"speedup": 0.7})
    _, graph = driven(tmp_path, operator)
    assert graph.children(1) == ()
    assert graph.nodes[1].diagnosis is not None
    assert graph.nodes[1].diagnosis.expected[0].verdict == "came"


def test_time_alone_needs_no_look(tmp_path: Path) -> None:
    operator = OperatorSpec(name="test_profiles:Expecting", settings={"expects": "time -20 %; it is nicer"})
    run, graph = driven(tmp_path, operator, plan=replace(spec().plan), until=None)
    first = [event.node for event in of_kind(tmp_path, run, Profiled)]
    champion = graph.champion()
    assert champion is not None
    assert set(first) == {0, champion.id}


def test_a_resume_goes_on_from_what_was_seen(tmp_path: Path) -> None:
    run = created(tmp_path, both("SPEEDUP = 1.1"), guidance=TOLD, budget=Budget(proposals=2), proposals_in_flight=1)
    full, _ = driven(tmp_path, both(f"SPEEDUP = 1.5; {BUSY}", "SPEEDUP = 1.1"))
    events = [entry.event for entry in journal(tmp_path, full)]
    store = SqlStore(tmp_path)
    started = next(store.events(run)).event
    store.close()
    assert isinstance(started, RunStarted)
    at = next(i for i, event in enumerate(events) if isinstance(event, Profiled))
    append(tmp_path, run, *events[1 : at + 1])  # killed right after the look
    graph = service.drive(tmp_path, run, resume=True)
    assert [event.node for event in of_kind(tmp_path, run, Profiled)].count(0) == 1
    assert graph.finished is not None


def test_an_answer_from_outside_is_looked_at_for_the_next_brief(tmp_path: Path) -> None:
    mailbox = OperatorSpec(name="mailbox")
    run = created(tmp_path, mailbox, guidance=TOLD, budget=Budget(proposals=4))
    first = service.ask(tmp_path, run)
    assert first.diagnosis == ""
    service.tell(tmp_path, run, first.node, candidate(f"SPEEDUP = 1.5; {BUSY}"))
    second = service.ask(tmp_path, run)
    assert second.bottlenecks == ("dram",)
    assert "DRAM runs at 90.0% of its peak" in second.diagnosis
    service.tell(
        tmp_path,
        run,
        second.node,
        candidate(LESS.replace("{speedup}", "1.9")),
        expects=("DRAM bytes -50 %", "a", "b", "c"),
    )
    graph = service.load(tmp_path, run)
    assert graph.nodes[second.node].draft.expects == ("DRAM bytes -50 %", "a", "b")  # type: ignore[union-attr]
    assert graph.nodes[second.node].diagnosis is not None
    assert graph.nodes[second.node].diagnosis.expected[0].verdict == "came"


def test_a_model_is_asked_after_the_rules_where_the_run_wants_it(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    start = "NAME: a\n```python file=kernel.py\nSPEEDUP = 1.5\n" + BUSY + "\ndef kernel(x):\n    return x\n```\n"
    opinion = "It reads twice.\nBOTTLENECK: l2 - the second pass hits L2"
    improve = start.replace("1.5", "1.7").replace("NAME: a", "NAME: b\nEXPECT: DRAM bytes -30 %")
    replies = tmp_path / "replies.json"
    replies.write_text(json.dumps([start, opinion, improve, opinion, opinion, opinion]))
    run, graph = driven(
        tmp_path,
        OperatorSpec(name="llm"),
        models=(ModelSpec(name=f"scripted:{replies}"),),
        guidance=replace(TOLD, diagnosis_model=True),
    )
    diagnosis = graph.nodes[0].diagnosis
    assert diagnosis is not None
    assert diagnosis.bottlenecks == ("dram", "l2")
    assert diagnosis.model.startswith("scripted:")
    asked = [call for call in of_kind(tmp_path, run, ModelCalled) if graph.is_aside(call)]
    assert {call.node for call in asked} >= {0}
    assert graph.nodes[1].draft.expects == ("DRAM bytes -30 %",)  # type: ignore[union-attr]
    store = SqlStore(tmp_path)
    done = replayed(store, run)
    store.close()
    assert done.differences == ()
    assert done.prompts == 2  # of those that wrote


def test_a_look_job_names_the_platforms_profiler_or_none() -> None:
    plain = job_of(_Fake(), Path(), candidate("X = 1"), spec().plan)  # type: ignore[arg-type]
    assert look_of(replace(plain, target="cpu:x86-64-v3")).profiler.endswith("cpu:Cpu")
    assert look_of(replace(plain, target="nowhere:1")).profiler == ""
    assert look_of(plain).kind == "profile"
    assert plain.kind == "judge"
    assert look_of(plain).id != plain.id


class _Fake:
    """As much of a journal as a job is made of."""

    spec = replace(spec(), target="cpu:x86-64-v3")
    problem = PROBLEM
    graph = Graph()


def test_an_evaluation_that_follows_keeps_what_was_seen(tmp_path: Path) -> None:
    run, graph = driven(tmp_path, both(f"SPEEDUP = 1.5; {BUSY}", "SPEEDUP = 1.1"))
    assert graph.nodes[0].verified  # confirmed after it was looked at
    assert graph.nodes[0].profile is not None
    assert fold(journal(tmp_path, run)).nodes == graph.nodes
