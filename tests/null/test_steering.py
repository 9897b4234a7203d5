"""A person takes a hand in a search, with an engine alive and without one."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Kernwright
from engine_runs import created, journal, of_kind, scripted

from kernwright.cli.run_view import wish
from kernwright.core.errors import UserError
from kernwright.core.events import Picked, RunStarted, Steered
from kernwright.core.inbox import Steer
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine import service, steering
from kernwright.store.sql import SqlStore
from kernwright.testing.scripted import scripted as candidate

LINES = ("SPEEDUP = 1.5", "SPEEDUP = 1.1", "N = {node}")
MAILBOX = OperatorSpec(name="mailbox", settings={"starts": 4})


@pytest.fixture
def kernwright(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Kernwright:
    return Kernwright(tmp_path / "home", capsys)


def begun(home: Path, **changes: Any) -> str:
    """A run with two nodes of which the first is the better, that asks someone outside."""
    run = created(home, MAILBOX, policy="greedy", policy_settings={"starts": 2}, **changes)
    for line in LINES[:2]:
        service.tell(home, run, service.ask(home, run).node, candidate(line))
    return run


def test_a_pin_a_ban_and_a_hint_are_events_and_are_honoured(tmp_path: Path) -> None:
    run = begun(tmp_path)
    wishes = (
        Steer(action="pin", node=1, author="me"),
        Steer(action="hint", text="wider loads"),
        Steer(action="ban", node=0),
    )
    assert steering.steer(tmp_path, run, wishes)
    said = of_kind(tmp_path, run, Steered)
    assert [(e.action, e.node, e.text, e.author) for e in said] == [
        ("pin", 1, "", "me"), ("hint", None, "wider loads", ""), ("ban", 0, "", "")
    ]  # fmt: skip
    brief = service.ask(tmp_path, run)
    assert [parent.node for parent in brief.parents] == [1]
    assert service.load(tmp_path, run).hints == ["wider loads"]
    assert brief.hints == ("wider loads",)


def test_time_between_an_engine_s_end_and_a_wish_is_not_spent(tmp_path: Path) -> None:
    run = begun(tmp_path)
    before = service.load(tmp_path, run).spent.seconds
    time.sleep(0.05)
    steering.steer(tmp_path, run, (Steer(action="pin", node=0),))
    assert service.load(tmp_path, run).spent.seconds == before


def test_an_engine_that_is_alive_takes_a_wish_up_between_its_steps(tmp_path: Path) -> None:
    run = begun(tmp_path, budget=Budget(proposals=5))
    ended: list[Any] = []
    seen = threading.Event()

    def observe(entry: Any, graph: Any) -> None:
        if isinstance(entry.event, (Picked, Steered)):
            seen.set()

    engine = threading.Thread(target=lambda: ended.append(service.drive(tmp_path, run, resume=True, observe=observe)))
    engine.start()
    assert seen.wait(30)
    seen.clear()
    assert not steering.steer(tmp_path, run, (Steer(action="pin", node=1), Steer(action="ban", node=0)))
    assert seen.wait(30)
    while len(of_kind(tmp_path, run, Steered)) < 2:
        assert engine.is_alive()
    for node in (2, 3, 4):
        service.tell(tmp_path, run, node, candidate(f"SPEEDUP = 1.2; N = {node}"))
    engine.join(30)
    assert not engine.is_alive()
    assert [e.action for e in of_kind(tmp_path, run, Steered)] == ["pin", "ban"]
    store = SqlStore(tmp_path)
    assert store.inbox(run) == []
    store.close()


def test_what_was_said_to_an_engine_that_died_is_taken_up_by_the_next(tmp_path: Path) -> None:
    run = begun(tmp_path)
    store = SqlStore(tmp_path)
    store.post(run, Steer(action="pin", node=1))
    store.close()
    assert [parent.node for parent in service.ask(tmp_path, run).parents] == [1]


def test_a_search_that_runs_heeds_what_was_said_before_it(tmp_path: Path) -> None:
    operator = scripted(*LINES, forever=True, intents="start,improve")
    run = created(tmp_path, operator, policy="greedy", policy_settings={"starts": 2}, budget=Budget(proposals=2))
    store = SqlStore(tmp_path)
    store.post(run, Steer(action="hint", text="early"))
    store.close()
    graph = service.drive(tmp_path, run, resume=False)
    assert graph.hints == ["early"]
    events = [entry.event.kind for entry in journal(tmp_path, run)]
    assert events.index("steered") < events.index("picked")


def test_a_fork_begins_with_the_node_and_both_runs_say_so(tmp_path: Path) -> None:
    run = begun(tmp_path, repairs=1)
    new = steering.fork(tmp_path, run, 1, "me")
    [event] = of_kind(tmp_path, run, Steered)
    assert (event.action, event.node, event.text) == ("fork", 1, new)
    [started] = of_kind(tmp_path, new, RunStarted)
    old = service.load(tmp_path, run)
    assert started.start == (old.nodes[1].candidate,)
    assert started.spec.operators[0].name == "given"
    assert (started.spec.repairs, started.problem) == (1, old.problem)


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        (Steer(action="pin", node=9), "has no node 9; its nodes are 0 to 1"),
        (Steer(action="ban", node=-3), "has no node -3"),
        (Steer(action="hint", text="  "), "The hint is empty"),
        (Steer(action="ban", text=""), "The idea to ban is empty"),
        (Steer(action="hint", text="x" * 3000), "3000 characters"),
        (Steer(action="hint", text="x" * 200_000), "200000 characters"),
        (Steer(action="pin", node=0, author="x" * 3000), "3000 characters"),
        (Steer(action="free", text="never said"), "'never said' is none of the hints .*: nobody has given any"),
        (Steer(action="free", text=""), "is none of the hints"),
        (Steer(action="hint", text="ask with sk-planted-0123456789abcdef"), "holds a key"),
    ],
)
def test_a_wish_that_cannot_be_met_is_refused_and_nothing_is_written(
    tmp_path: Path, wish: Steer, sentence: str
) -> None:
    run = begun(tmp_path)
    with pytest.raises(UserError, match=sentence):
        steering.steer(tmp_path, run, (Steer(action="pin", node=0), wish))
    assert of_kind(tmp_path, run, Steered) == []


def test_a_hint_and_a_banned_idea_are_taken_back_by_their_text(kernwright: Kernwright) -> None:
    run = begun(kernwright.home)
    kernwright("steer", run, "--hint", "wider loads", "--ban", "shared memory", "--hint", "wider stores")
    assert "is several of the hints" in kernwright.refused("steer", run, "--free", "wider")
    said = kernwright("steer", run, "--free", "shared memory", "--free", "stores").out
    assert "hint: wider loads" in said
    assert service.load(kernwright.home, run).hints == ["wider loads"]
    assert service.ask(kernwright.home, run).hints == ("wider loads",)
    kernwright("steer", run, "--ban", "shared memory")
    assert service.load(kernwright.home, run).hints == ["wider loads", "Do not try this: shared memory"]
    assert "taken back: wider stores" in [wish(event) for event in of_kind(kernwright.home, run, Steered)]


def test_hints_have_a_length_together(tmp_path: Path) -> None:
    run = begun(tmp_path)
    hints = tuple(Steer(action="hint", text=f"{i} " + "x" * 1990) for i in range(5))
    with pytest.raises(UserError, match=r"would have 9960 characters; .* Take one back with --free"):
        steering.steer(tmp_path, run, hints)
    assert steering.steer(tmp_path, run, hints[:4])
    with pytest.raises(UserError, match="keep to 8000"):
        steering.steer(tmp_path, run, hints[4:])
    assert steering.steer(tmp_path, run, (Steer(action="free", text=hints[0].text), hints[4]))


def test_what_has_no_candidate_is_neither_pinned_nor_forked(tmp_path: Path) -> None:
    run = created(tmp_path, scripted("unusable: nothing in it"), MAILBOX)
    service.ask(tmp_path, run)
    for done in (
        lambda: steering.steer(tmp_path, run, (Steer(action="pin", node=0),)),
        lambda: steering.fork(tmp_path, run, 0),
    ):
        with pytest.raises(UserError, match="has no candidate"):
            done()


def test_the_command_says_what_holds(kernwright: Kernwright) -> None:
    run = begun(kernwright.home)
    assert "nobody has steered it" in kernwright("steer", run).out
    said = kernwright("steer", run, "--pin", "1", "--ban", "0", "--ban", "shared memory", "--hint", "wider loads").out
    assert "pinned: node 1" in said
    assert "banned: node 0" in said
    assert "hint: Do not try this: shared memory" in said
    assert kernwright("steer", run, "--free", "0", "--json").json == {
        "run": run, "queued": False, "pinned": [1], "banned": [],
        "hints": ["Do not try this: shared memory", "wider loads"],
    }  # fmt: skip
    assert kernwright("show", run, "--json").json["steering"]["pinned"] == [1]
    assert "hint: wider loads" in kernwright("show", run).out


def test_a_fork_by_command_can_be_started(kernwright: Kernwright) -> None:
    operator = scripted(*LINES, intents="start,improve")
    run = created(kernwright.home, operator, budget=Budget(proposals=3))
    service.drive(kernwright.home, run, resume=False)
    new = kernwright("steer", run, "--fork", "1", "--json").json["run"]
    assert kernwright("resume", new).code == 0
    assert service.load(kernwright.home, new).nodes[0].draft is not None
    assert "begins run" not in kernwright("show", new).out


def test_what_cannot_be_steered_is_refused(kernwright: Kernwright) -> None:
    run = created(kernwright.home, scripted(*LINES), budget=Budget(proposals=2))
    service.drive(kernwright.home, run, resume=False)
    assert "has ended (the budget of 2 proposals is spent)" in kernwright.refused("steer", run, "--pin", "0")
    assert "no run" in kernwright.refused("steer", "nosuch", "--pin", "0").lower()
    assert "second command" in kernwright.refused("steer", run, "--fork", "0", "--pin", "0")
    assert "has no node 7" in kernwright.refused("steer", run, "--fork", "7")
