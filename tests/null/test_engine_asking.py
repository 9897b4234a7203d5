"""Ask and tell, with an engine alive and without one."""

import math
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from engine_runs import PROBLEM, append, created, journal, kinds, of_kind, once_each, scripted, spec

from kernwright.core.brief import Brief, Exhausted, Pick, Proposed
from kernwright.core.errors import UserError
from kernwright.core.events import Asked, Drafted, Evaluated, Picked, Resumed
from kernwright.core.graph import Graph
from kernwright.core.inbox import Told
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine import asking, service
from kernwright.store.codec import encode_candidate
from kernwright.store.sql import SqlStore
from kernwright.testing.scripted import scripted as candidate

MAILBOX = OperatorSpec(name="mailbox")


def test_ask_opens_a_brief_and_says_the_same_until_it_is_answered(tmp_path: Path) -> None:
    run = created(tmp_path, MAILBOX)
    brief = service.ask(tmp_path, run)
    assert (brief.node, brief.intent, brief.parents) == (0, "start", ())
    assert service.ask(tmp_path, run) == brief
    assert len(of_kind(tmp_path, run, Picked)) == 1


def test_tell_drafts_evaluates_and_the_next_brief_shows_it(tmp_path: Path) -> None:
    run = created(tmp_path, MAILBOX)
    brief = service.ask(tmp_path, run)
    said = candidate("SPEEDUP = 1.5; BLOCK = 1; KNOBS = {'BLOCK': [1, 2]}")
    evaluated = service.tell(tmp_path, run, brief.node, said, author="someone", summary="blocks")
    assert evaluated is not None
    assert evaluated.evaluation.candidate == said.id
    [drafted] = of_kind(tmp_path, run, Drafted)
    assert (drafted.draft.author, drafted.draft.summary, drafted.draft.knobs) == ("someone", "blocks", ("BLOCK",))
    following = service.ask(tmp_path, run)
    assert following.intent == "improve"
    assert following.parents[0].candidate == said
    assert following.parents[0].evaluation == evaluated.evaluation
    once_each_so_far(tmp_path, run)


def test_a_failure_is_to_be_repaired_next(tmp_path: Path) -> None:
    run = created(tmp_path, MAILBOX)
    service.tell(tmp_path, run, service.ask(tmp_path, run).node, candidate("WRONG = True"))
    brief = service.ask(tmp_path, run)
    assert (brief.intent, [parent.node for parent in brief.parents]) == ("repair", [0])


def test_unknown_answered_and_foreign_briefs_are_refused(tmp_path: Path) -> None:
    run = created(tmp_path, MAILBOX)
    service.tell(tmp_path, run, service.ask(tmp_path, run).node, candidate("SPEEDUP = 1.5"))
    with pytest.raises(UserError, match="no brief 7"):
        service.tell(tmp_path, run, 7, candidate(""))
    with pytest.raises(UserError, match="has its answer already"):
        service.tell(tmp_path, run, 0, candidate(""))
    append(tmp_path, run, Picked(node=1, pick=Pick(parents=(0,), intent="tune")))
    with pytest.raises(UserError, match="another operator's"):
        service.tell(tmp_path, run, 1, candidate(""))
    closed = Drafted(node=2, draft=Exhausted(operator="mailbox", intent="start"))
    append(tmp_path, run, Picked(node=2, pick=Pick()), closed)
    with pytest.raises(UserError, match="Brief 2 was closed, since no operator had anything for it"):
        service.tell(tmp_path, run, 2, candidate(""))
    other = created(tmp_path, scripted("SPEEDUP = 1.5"))
    for call in (lambda: service.ask(tmp_path, other), lambda: service.tell(tmp_path, other, 0, candidate(""))):
        with pytest.raises(UserError, match="takes no answers"):
            call()


def test_a_spent_budget_is_said(tmp_path: Path) -> None:
    run = created(tmp_path, MAILBOX, budget=Budget(proposals=1))
    service.tell(tmp_path, run, service.ask(tmp_path, run).node, candidate("SPEEDUP = 1.5"))
    with pytest.raises(UserError, match=r"resume .* --budget"):
        service.ask(tmp_path, run)


@pytest.mark.timeout(60)
def test_a_budget_that_is_spent_without_an_open_brief_ends_the_run_and_confirms(tmp_path: Path) -> None:
    run = created(tmp_path, MAILBOX, budget=Budget(proposals=6))
    service.tell(tmp_path, run, service.ask(tmp_path, run).node, candidate("SPEEDUP = 1.5"))
    service.ask(tmp_path, run)  # nobody will answer this one
    graph = service.drive(tmp_path, run, resume=True, budget=Budget(proposals=1))
    champion = graph.champion()
    assert champion is not None
    assert champion.verified


def test_a_baseline_that_failed_is_not_tried_again_until_a_resume(tmp_path: Path) -> None:
    run = created(tmp_path, MAILBOX, budget=Budget(proposals=3))

    def told(line: str) -> dict[str, str]:
        evaluated = service.tell(tmp_path, run, service.ask(tmp_path, run).node, candidate(line))
        assert evaluated is not None
        return evaluated.evaluation.failed_baselines

    assert told("SPEEDUP = 1.5; FAILED_BASELINES = {'compile': 'killed'}") == {"compile": "killed"}
    assert told("SPEEDUP = 1.4") == {"compile": "killed"}  # as the job said
    service.drive(tmp_path, run, resume=True, budget=Budget(proposals=2))  # confirms the best, with nothing left to ask
    [confirmed] = [event for event in of_kind(tmp_path, run, Evaluated) if event.purpose == "confirm"]
    assert confirmed.evaluation.failed_baselines == {"compile": "killed"}  # tried again, which failed again
    append(tmp_path, run, Resumed(budget=Budget(proposals=4), baselines_again=True))
    assert service.load(tmp_path, run).failed_baselines == {}
    assert told("SPEEDUP = 1.3") == {}


def test_time_between_ask_and_tell_is_not_spent(tmp_path: Path) -> None:
    run = created(tmp_path, MAILBOX)
    brief = service.ask(tmp_path, run)
    time.sleep(0.5)
    service.tell(tmp_path, run, brief.node, candidate("SPEEDUP = 1.5"))
    assert service.load(tmp_path, run).spent.seconds < 0.4
    assert len(of_kind(tmp_path, run, Resumed)) == 1


def test_a_living_engine_gets_the_answer_through_the_inbox(tmp_path: Path) -> None:
    run = created(tmp_path, MAILBOX, budget=Budget(proposals=3), proposals_in_flight=1)
    with _driven(tmp_path, run) as (engine, ended):
        for speedup in (1.2, 1.4, 1.3):
            brief = _asked(tmp_path, run, engine)
            assert service.tell(tmp_path, run, brief.node, candidate(f"SPEEDUP = {speedup}")) is None
    assert not engine.is_alive()
    assert ended[0].champion().score == pytest.approx(math.log(1.4))
    once_each(tmp_path, run)
    store = SqlStore(tmp_path)
    assert store.inbox(run) == []
    store.close()


def test_a_beginning_too_many_is_not_open_while_the_engine_closes_it(tmp_path: Path) -> None:
    run = created(tmp_path, MAILBOX)
    service.ask(tmp_path, run)
    store = SqlStore(tmp_path)
    with closing(store), store.lock(run):
        store.append(run, Asked(node=0))
        service.tell(tmp_path, run, 0, candidate("SPEEDUP = 1.5"))
        store.append(run, Picked(node=1, pick=Pick()))  # nothing is evaluated yet that could be improved
        with pytest.raises(UserError, match="no brief is open yet"):
            service.ask(tmp_path, run)
        with pytest.raises(UserError, match="asks nobody outside about brief 1 now"):
            service.tell(tmp_path, run, 1, candidate("SPEEDUP = 1.4"))


@pytest.mark.timeout(60)
def test_what_another_operator_is_at_work_on_is_not_open_while_an_engine_lives(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.1", sleep_s=1.0), MAILBOX, budget=Budget(proposals=2))
    with _driven(tmp_path, run) as (engine, ended):
        with pytest.raises(UserError, match="asks nobody outside about brief 0 now"):
            service.tell(tmp_path, run, 0, candidate("SPEEDUP = 3"))
        brief = _asked(tmp_path, run, engine)
        service.tell(tmp_path, run, brief.node, candidate("SPEEDUP = 2"))
    operators = [event.draft.operator for event in of_kind(tmp_path, run, Drafted) if isinstance(event.draft, Proposed)]
    assert sorted(operators) == ["mailbox", "scripted"]
    assert [event.node for event in of_kind(tmp_path, run, Asked)] == [brief.node]
    assert ended[0].champion().score == pytest.approx(math.log(2))


def test_what_an_engine_asked_for_is_open_to_all_once_it_is_gone(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("SPEEDUP = 1.1"), MAILBOX)
    append(tmp_path, run, Picked(node=0, pick=Pick()), Asked(node=0))
    assert service.load(tmp_path, run).asked == {0}
    assert service.ask(tmp_path, run).node == 0  # a spell of work without an engine
    assert service.load(tmp_path, run).asked == set()
    service.tell(tmp_path, run, 0, candidate("SPEEDUP = 1.5"))


class Between(SqlStore):
    """An engine journals an answer and takes it out of the inbox, just before that is read."""

    def inbox(self, run: str) -> Any:
        for id, message in super().inbox(run):
            assert isinstance(message, Told)
            draft = Proposed(candidate=message.candidate, operator="mailbox", item="start:0")
            self.append(run, Drafted(node=message.node, draft=draft))
            self.acknowledge(run, id)
        return super().inbox(run)


@pytest.mark.parametrize("again", [False, True])
def test_a_brief_that_is_answered_meanwhile_is_not_open(tmp_path: Path, again: bool) -> None:
    run = created(tmp_path, MAILBOX)
    service.ask(tmp_path, run)
    engine, store = SqlStore(tmp_path), Between(tmp_path)
    with closing(engine), closing(store), engine.lock(run):
        engine.append(run, Asked(node=0))
        engine.post(run, Told(node=0, candidate=engine.put(encode_candidate(candidate("SPEEDUP = 1.5")))))
        if again:
            with pytest.raises(UserError, match="Brief 0 has its answer already"):
                asking.tell(store, run, tmp_path, asking.Answer(0, candidate("SPEEDUP = 2"), "", "", False), None, None)
        else:
            with pytest.raises(UserError, match="no brief is open yet"):
                asking.ask(store, run)


def test_an_answer_that_no_engine_took_is_taken_by_the_next_ask(tmp_path: Path) -> None:
    run = created(tmp_path, MAILBOX)
    service.ask(tmp_path, run)
    store = SqlStore(tmp_path)
    blob = store.put(encode_candidate(candidate("SPEEDUP = 1.5")))
    store.post(run, Told(node=0, candidate=blob, author="late"))
    store.post(run, Told(node=0, candidate=blob, author="later"))
    store.close()
    with pytest.raises(UserError, match="nothing to ask"):  # it is drafted now, and waits for its evaluation
        service.ask(tmp_path, run)
    assert [e.draft.author for e in of_kind(tmp_path, run, Drafted)] == ["late"]
    graph = service.drive(tmp_path, run, resume=True, budget=Budget(proposals=1))
    assert graph.finished is not None
    assert graph.finished.champion == 0


def test_an_answer_journalled_before_a_kill_is_not_taken_twice(tmp_path: Path) -> None:
    run = created(tmp_path, MAILBOX, budget=Budget(proposals=1))
    store = SqlStore(tmp_path)
    blob = store.put(encode_candidate(candidate("SPEEDUP = 1.5")))
    store.append(run, Picked(node=0, pick=Pick()))
    store.post(run, Told(node=0, candidate=blob))
    store.append(run, Drafted(node=0, draft=Proposed(candidate=blob, operator="mailbox", item="start:0")))
    store.close()
    service.drive(tmp_path, run, resume=True)
    assert kinds(tmp_path, run).count("drafted") == 1


def test_a_starts_setting_asks_for_more_beginnings(tmp_path: Path) -> None:
    mailbox = OperatorSpec(name="mailbox", settings={"starts": 2})
    run = service.create(tmp_path, spec(mailbox), PROBLEM)
    intents = []
    for speedup in (1.1, 1.2, 1.3):
        brief = service.ask(tmp_path, run)
        intents.append(brief.intent)
        service.tell(tmp_path, run, brief.node, candidate(f"SPEEDUP = {speedup}"))
    assert intents == ["start", "start", "improve"]


def once_each_so_far(home: Path, run: str) -> None:
    evaluated = [e.event.node for e in journal(home, run) if isinstance(e.event, Evaluated)]
    assert len(evaluated) == len(set(evaluated))


@contextmanager
def _driven(home: Path, run: str) -> Iterator[tuple[threading.Thread, list[Graph]]]:
    """An engine that has picked, and the graph once it ended, which is waited for."""
    ended: list[Graph] = []
    engine = threading.Thread(target=lambda: ended.append(service.drive(home, run, resume=False)), daemon=True)
    engine.start()
    while "picked" not in kinds(home, run):
        time.sleep(0.05)
    try:
        yield engine, ended
    finally:
        engine.join(60)


def _asked(home: Path, run: str, engine: threading.Thread) -> Brief:
    """The next brief, however long the engine takes to open it."""
    while engine.is_alive():
        try:
            return service.ask(home, run)
        except UserError:
            engine.join(0.02)
    raise AssertionError("the engine ended and opened no brief")


def test_a_candidate_that_no_brief_asked_for(tmp_path: Path) -> None:
    run = created(tmp_path, MAILBOX, budget=Budget(proposals=4))
    first = service.place(tmp_path, run)
    service.tell(tmp_path, run, first, candidate("SPEEDUP = 1.5"))
    second = service.place(tmp_path, run, parent=first)
    service.tell(tmp_path, run, second, candidate("WRONG = True"))
    assert service.place(tmp_path, run, parent=second) == 2
    picks = [event.pick for event in of_kind(tmp_path, run, Picked)]
    assert [(pick.intent, pick.parents) for pick in picks] == [("start", ()), ("improve", (0,)), ("repair", (1,))]
    assert service.ask(tmp_path, run).node == 2
    with pytest.raises(UserError, match="no candidate at node 2"):
        service.place(tmp_path, run, parent=2)
    service.tell(tmp_path, run, service.place(tmp_path, run, parent=0), candidate("SPEEDUP = 1.6"))
    with pytest.raises(UserError, match="the budget of 4 proposals is spent"):
        service.place(tmp_path, run)


def test_an_engine_takes_answers_to_its_briefs_alone(tmp_path: Path) -> None:
    run = created(tmp_path, MAILBOX)
    with (
        closing(SqlStore(tmp_path)) as store,
        store.lock(run),
        pytest.raises(UserError, match="answers to its briefs alone"),
    ):
        asking.place(store, run, None)
