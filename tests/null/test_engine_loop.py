"""The loop: steps, endings, confirmation, reuse, faults and resuming."""

import asyncio
import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from engine_runs import PROBLEM, append, created, journal, kinds, of_kind, once_each, scripted, spec

from kernwright.core.brief import Exhausted, Pick, Proposed
from kernwright.core.errors import MachineFault, RunLocked, UserError
from kernwright.core.events import Drafted, Entry, Evaluated, Faulted, Picked, Resumed
from kernwright.core.graph import Graph
from kernwright.core.plan import FULL
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine import service, wiring
from kernwright.engine.journal import Journal
from kernwright.store.codec import encode_candidate
from kernwright.store.sql import SqlStore
from kernwright.testing.null import EXECUTED
from kernwright.testing.scripted import scripted as candidate


def test_a_run_ends_when_nothing_is_left_and_its_champion_is_verified(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.5", "SPEEDUP = 2.0", "SPEEDUP = 1.2"))
    graph = service.drive(tmp_path, run, resume=False)
    assert graph.finished is not None
    assert graph.finished.reason == "nothing left to try"
    assert graph.finished.champion == 1
    assert [node.verified for node in graph.nodes[:3]] == [False, True, False]
    assert service.load(tmp_path, run).finished == graph.finished


def test_every_step_is_three_events_and_confirmation_one_more(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.5"), budget=Budget(proposals=1))
    service.drive(tmp_path, run, resume=False)
    step = ["picked", "drafted", "evaluated"]
    assert kinds(tmp_path, run) == ["run_started", *step, "evaluated", "run_finished"]


def test_proposals_go_on_while_evaluations_run(tmp_path: Path) -> None:
    run = created(tmp_path, scripted(*[f"N = {n}; SLEEP_S = 0.2" for n in range(4)]), proposals_in_flight=2)
    service.drive(tmp_path, run, resume=False)
    events = [entry.event for entry in journal(tmp_path, run)]
    first = next(i for i, event in enumerate(events) if isinstance(event, Evaluated))
    assert len([event for event in events[:first] if isinstance(event, Drafted)]) == 3


def test_observers_see_every_event_after_it_is_on_disk(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.5"))
    seen: list[int] = []

    def observe(entry: Entry, graph: Graph) -> None:
        assert graph.seq == entry.seq == journal(tmp_path, run)[-1].seq
        seen.append(entry.seq)

    graph = service.drive(tmp_path, run, resume=False, observe=observe)
    assert seen == list(range(2, graph.seq + 1))


def test_identical_source_is_evaluated_once_also_while_it_is_in_flight(tmp_path: Path) -> None:
    (tmp_path / EXECUTED).touch()
    line = "SPEEDUP = 1.5; SLEEP_S = 0.1"
    run = created(tmp_path, scripted(*[line] * 6), evaluations_in_flight=3)
    graph = service.drive(tmp_path, run, resume=False)
    searched = [e for e in of_kind(tmp_path, run, Evaluated) if e.purpose == "search"]
    assert [e.reused for e in searched] == [False] + [True] * 5
    assert graph.spent.evaluations == 2
    assert len((tmp_path / EXECUTED).read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("budget", "proposals", "evaluations"),
    [(Budget(proposals=5), 5, 6), (Budget(evaluations=4), 4, 5)],
)
def test_budgets_bound_the_search_but_not_the_confirmation(
    tmp_path: Path, budget: Budget, proposals: int, evaluations: int
) -> None:
    run = created(tmp_path, scripted("NODE = {node}", forever=True), budget=budget)
    graph = service.drive(tmp_path, run, resume=False)
    assert (graph.spent.proposals, graph.spent.evaluations) == (proposals, evaluations)
    assert graph.finished is not None
    assert "is spent" in graph.finished.reason
    assert not graph.in_flight()


def test_time_runs_out_also_while_everything_waits(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.5", "NODE = {node}", sleep_s=30.0), budget=Budget(seconds=0.2))
    began = time.monotonic()
    graph = service.drive(tmp_path, run, resume=False)
    assert time.monotonic() - began < 10
    assert graph.finished is not None
    assert graph.finished.reason == "the budget of 0.2 seconds is spent"
    assert len(graph.in_flight()) > 0


def test_resuming_with_more_budget_goes_on_where_the_run_ended(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("NODE = {node}", forever=True), budget=Budget(proposals=3, seconds=100.0))
    service.drive(tmp_path, run, resume=False)
    graph = service.drive(tmp_path, run, resume=True, budget=Budget(proposals=7))
    assert graph.budget == Budget(proposals=7, seconds=100.0)
    assert graph.spent.proposals == 7
    once_each(tmp_path, run)


def test_a_run_that_has_begun_is_not_begun_again(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.5"))
    service.drive(tmp_path, run, resume=False)
    with pytest.raises(UserError, match="kernwright resume"):
        service.drive(tmp_path, run, resume=False)


def test_until_ends_only_on_a_verified_lower_bound(tmp_path: Path) -> None:
    lines = ["SPEEDUP = 1.9; CONFIRMED = 1.2", "SPEEDUP = 1.1", "SPEEDUP = 2.0", "SPEEDUP = 0.9"]
    enough = Budget(proposals=100)  # on a busy machine many are made while the confirmation is under way
    run = created(tmp_path, scripted(*lines, forever=True), until=1.8, proposals_in_flight=1, budget=enough)
    graph = service.drive(tmp_path, run, resume=False)
    assert graph.finished is not None
    assert graph.finished.reason == "a verified speedup of at least 1.8 was reached"
    assert graph.finished.champion == 2
    assert graph.nodes[0].verified
    assert len(graph.nodes) < 100


def test_patience_ends_a_search_that_stands_still(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.5", "SPEEDUP = 1.0; N = {node}", forever=True), patience=4)
    graph = service.drive(tmp_path, run, resume=False)
    assert graph.finished is not None
    assert graph.finished.reason == "no better score in 4 evaluated proposals"


def test_a_confirmation_that_falls_behind_the_next_confirms_that_one_too(tmp_path: Path) -> None:
    lines = ["SPEEDUP = 2.0; CONFIRMED = 1.1", "SPEEDUP = 1.6; CONFIRMED = 1.4", "SPEEDUP = 1.3"]
    run = created(tmp_path, scripted(*lines))
    graph = service.drive(tmp_path, run, resume=False)
    assert [e.node for e in of_kind(tmp_path, run, Evaluated) if e.purpose == "confirm"] == [0, 1]
    assert graph.finished is not None
    assert graph.finished.champion == 1


def test_at_most_three_are_confirmed_and_a_wrong_one_is_no_champion(tmp_path: Path) -> None:
    run = created(tmp_path, scripted(*[f"SPEEDUP = {2 - i / 10}; WRONG = 'confirm'" for i in range(5)]))
    graph = service.drive(tmp_path, run, resume=False)
    assert [e.score for e in of_kind(tmp_path, run, Evaluated) if e.purpose == "confirm"] == [None] * 3
    assert graph.finished is not None
    assert graph.finished.champion is None
    assert graph.nodes[0].score is None


def test_what_the_search_verified_is_not_confirmed_again(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.5"), plan=FULL)
    graph = service.drive(tmp_path, run, resume=False)
    assert graph.spent.evaluations == 1
    assert graph.finished is not None
    assert graph.finished.champion == 0


def test_failures_are_values_and_the_search_goes_on(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("WRONG = True", "unusable: no code in the reply", "SPEEDUP = 1.1"))
    graph = service.drive(tmp_path, run, resume=False)
    assert graph.nodes[0].score is None
    assert graph.nodes[0].evaluation is not None
    assert graph.nodes[1].draft is not None
    assert graph.nodes[1].draft.kind == "unusable"
    assert graph.finished is not None
    assert graph.finished.champion == 2


def test_a_machine_fault_is_retried_and_journalled(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.5; FAULTS = 2"))
    graph = service.drive(tmp_path, run, resume=False)
    assert [e.reason for e in of_kind(tmp_path, run, Faulted)] == ["fault 0 as ordered", "fault 1 as ordered"]
    assert graph.finished is not None
    assert graph.finished.champion == 0


def test_a_machine_that_stays_broken_ends_the_run_and_a_resume_goes_on(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.5; FAULTS = 4"))
    with pytest.raises(MachineFault, match="tried 3 times"):
        service.drive(tmp_path, run, resume=False)
    assert kinds(tmp_path, run).count("faulted") == 3
    assert "run_finished" not in kinds(tmp_path, run)
    graph = service.drive(tmp_path, run, resume=True)
    assert graph.finished is not None
    assert graph.finished.champion == 0
    once_each(tmp_path, run)


def test_a_bug_in_an_operator_is_said_and_not_swallowed(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("bug: ouch", forever=True))
    with pytest.raises(MachineFault, match="operator 'scripted' failed"):
        service.drive(tmp_path, run, resume=False)
    assert "ouch" in of_kind(tmp_path, run, Faulted)[0].reason


def test_the_problem_at_fault_ends_the_run_with_that_sentence(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("USER_ERROR = 'the reference gives NaN'"))
    with pytest.raises(UserError, match="the reference gives NaN"):
        service.drive(tmp_path, run, resume=False)


def test_resuming_after_a_kill_proposes_and_submits_exactly_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / EXECUTED).touch()
    run = created(tmp_path, scripted("SPEEDUP = 1.1", "SPEEDUP = 1.2", "SPEEDUP = 1.3", forever=False))
    store = SqlStore(tmp_path)
    blob = store.put(encode_candidate(candidate("SPEEDUP = 1.1")))
    store.close()
    draft = Proposed(candidate=blob, operator="scripted", item="0")
    append(
        tmp_path,
        run,
        Picked(node=0, pick=Pick()),
        Picked(node=1, pick=Pick()),
        Drafted(node=0, draft=draft),
    )
    graph = service.drive(tmp_path, run, resume=True)
    assert [node.candidate is not None for node in graph.nodes[:3]] == [True, True, True]
    assert graph.nodes[0].draft == draft
    once_each(tmp_path, run)
    assert sorted(n.draft.item for n in graph.nodes if isinstance(n.draft, Proposed)) == ["0", "1", "2"]
    assert len((tmp_path / EXECUTED).read_text().splitlines()) == 4


def test_a_second_engine_is_refused(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.5"))
    store = SqlStore(tmp_path)
    with store.lock(run), pytest.raises(RunLocked):
        service.drive(tmp_path, run, resume=False)
    store.close()


def test_an_engine_waits_for_a_command_that_holds_the_run_for_a_moment(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.5"))
    store = SqlStore(tmp_path)
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with store.lock(run):
            held.set()
            let_go.wait(0.3)

    other = threading.Thread(target=hold)
    other.start()
    held.wait()
    assert service.drive(tmp_path, run, resume=False).finished is not None
    other.join()
    store.close()


@pytest.mark.parametrize("executor", ["inline", "processes"])
def test_ctrl_c_leaves_a_journal_that_can_be_resumed(tmp_path: Path, executor: str) -> None:
    lines = ["SPEEDUP = 1.1", "SPEEDUP = 1.2; SLEEP_S = 3.0", "SPEEDUP = 1.3"]
    run = created(tmp_path, scripted(*lines), executor=executor)
    pressed = threading.Event()

    def press(entry: Entry, graph: Graph) -> None:
        if isinstance(entry.event, Evaluated) and not pressed.is_set():
            pressed.set()
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        service.drive(tmp_path, run, resume=False, observe=press)
    assert "run_finished" not in kinds(tmp_path, run)
    graph = service.drive(tmp_path, run, resume=True)
    assert graph.finished is not None
    assert graph.finished.champion == 2
    once_each(tmp_path, run)


def test_a_trial_counts_is_journalled_and_the_winner_is_measured_afresh(tmp_path: Path) -> None:
    run = created(
        tmp_path,
        scripted("SPEEDUP = 1.2; BLOCK = 1; KNOBS = {'BLOCK': [1, 2]}"),
        OperatorSpec(name="kernwright.testing.scripted:Scripted", settings={"intents": "tune", "trials": 3}),
    )
    graph = service.drive(tmp_path, run, resume=False)
    trials = [e for e in of_kind(tmp_path, run, Evaluated) if e.purpose == "tune"]
    assert len(trials) == 3
    winner = next(n for n in graph.nodes if n.pick.intent == "tune")
    assert {e.node for e in trials} == {winner.id}
    assert winner.pick.parents == (0,)
    assert graph.spent.evaluations == 1 + 3 + 1 + 1


def test_trials_leave_the_winner_its_evaluation(tmp_path: Path) -> None:
    run = created(
        tmp_path,
        scripted("SPEEDUP = 1.2; BLOCK = 1; KNOBS = {'BLOCK': [1, 2]}"),
        OperatorSpec(name="kernwright.testing.scripted:Scripted", settings={"intents": "tune", "trials": 50}),
        budget=Budget(evaluations=6),
    )
    graph = service.drive(tmp_path, run, resume=False)
    purposes = [e.purpose for e in of_kind(tmp_path, run, Evaluated)]
    assert purposes == ["search", "tune", "tune", "tune", "tune", "search", "confirm"]
    assert not graph.in_flight()


def test_operators_are_asked_in_order_and_exhausted_only_when_all_are(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.1"), scripted("SPEEDUP = 9.0", intents="improve"))
    graph = service.drive(tmp_path, run, resume=False)
    exhausted = [n.draft.intent for n in graph.nodes if isinstance(n.draft, Exhausted)]
    assert set(exhausted) == {"start", "improve"}
    improved = next(n for n in graph.nodes if n.pick.intent == "improve" and n.candidate)
    assert improved.pick.parents == (0,)


def test_unknown_names_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    for wrong in (
        spec(scripted(""), policy="greedi"),
        spec(OperatorSpec(name="tunner")),
        spec(scripted(""), executor="process"),
        spec(scripted(""), target="gpu:x"),
        spec(),
        replace(spec(scripted("")), evaluations_in_flight=0),
    ):
        with pytest.raises(UserError):
            service.create(tmp_path, wrong, PROBLEM)
    store = SqlStore(tmp_path)
    assert store.runs() == []
    store.close()


def test_settings_that_nothing_takes_are_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not take the settings"):
        created(tmp_path, scripted("", starts=3))


def test_seconds_do_not_count_while_no_engine_runs(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("NODE = {node}", forever=True), budget=Budget(proposals=2))
    service.drive(tmp_path, run, resume=False)
    time.sleep(0.6)
    graph = service.drive(tmp_path, run, resume=True, budget=Budget(proposals=3))
    assert graph.spent.seconds < 0.6
    assert len(of_kind(tmp_path, run, Resumed)) == 1


def test_no_task_is_left_behind(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("bug: ouch", forever=True))
    left: list[int] = []

    async def driven() -> None:
        store = SqlStore(tmp_path)
        journal = Journal(store, run)
        async with wiring.executor_of(journal.spec, tmp_path, print) as executor:
            with pytest.raises(MachineFault):
                await wiring.loop_of(journal, store, executor, tmp_path).run()
        left.append(len(asyncio.all_tasks()))
        store.close()

    asyncio.run(driven())
    assert left == [1]
