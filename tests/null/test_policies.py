"""Policies: deterministic, within bounds, never starving; and the same picks from the same journal."""

import inspect
import math
import random
from pathlib import Path
from typing import get_type_hints

import pytest
from engine_runs import created, journal, scripted
from hypothesis import given
from hypothesis import strategies as st
from policy_graphs import INTENTS, exhausted, graph_of, graphs, node

from kernwright.core.brief import Pick, Proposed
from kernwright.core.errors import UserError
from kernwright.core.events import Drafted, Event, Picked
from kernwright.core.graph import Graph
from kernwright.core.ports import Policy
from kernwright.core.resolve import resolve
from kernwright.core.spec import Budget
from kernwright.engine import service
from kernwright.engine.methods import require_policy
from kernwright.search.policies import TABLE
from kernwright.search.policies.best_of_n import BestOfN
from kernwright.search.policies.elite import Elite
from kernwright.search.policies.greedy import Greedy

EVERY = pytest.mark.parametrize("name", sorted(TABLE))


@EVERY
@given(graph=graphs(), n=st.integers(1, 6), seed=st.integers())
def test_picks_are_deterministic_bounded_and_of_parents_that_are_there(
    name: str, graph: Graph, n: int, seed: int
) -> None:
    before = repr((graph.nodes, graph.exhausted, graph.in_flight(), graph.spent))
    picks = list(resolve(TABLE[name])().pick(graph, n, random.Random(seed)))
    assert picks == list(resolve(TABLE[name])().pick(graph, n, random.Random(seed)))
    assert repr((graph.nodes, graph.exhausted, graph.in_flight(), graph.spent)) == before
    assert len(picks) <= n
    for pick in picks:
        assert pick.intent not in graph.exhausted
        assert len(set(pick.parents)) == len(pick.parents)
        for parent in pick.parents:
            assert not graph.nodes[parent].in_flight
            assert graph.nodes[parent].candidate is not None


@EVERY
@given(graph=graphs())
def test_where_everything_is_exhausted_nothing_is_picked(name: str, graph: Graph) -> None:
    graph.exhausted.update(INTENTS)
    assert tuple(resolve(TABLE[name])().pick(graph, 4, random.Random(0))) == ()


@EVERY
def test_the_same_journal_and_seed_give_the_same_picks(tmp_path: Path, name: str) -> None:
    lines = ["SPEEDUP = 1.2; BLOCK = 1; KNOBS = {'BLOCK': [1, 2]}", "WRONG = True", "SPEEDUP = 1.1", "N = {node}"]
    operator = scripted(*lines, forever=True, intents="start,improve,combine,tune,repair")
    settings = {"starts": 3} if name == "greedy" else {}
    run = created(
        tmp_path, operator, policy=name, policy_settings=settings, budget=Budget(proposals=25), seed=7,
        evaluations_in_flight=2,
    )  # fmt: skip
    service.drive(tmp_path, run, resume=False)
    graph, replayed = Graph(), 0
    policy: Policy = resolve(TABLE[name])(**settings)
    for entry in journal(tmp_path, run):
        if isinstance(entry.event, Picked):
            [pick] = policy.pick(graph, 1, random.Random(f"7:{entry.event.node}"))
            assert pick == entry.event.pick
            replayed += 1
        graph.apply(entry)
    assert replayed >= 16


def test_greedy_starts_then_tunes_the_best_once_then_improves_it() -> None:
    greedy, rng = Greedy(), random.Random(0)
    assert greedy.pick(graph_of(), 3, rng) == (Pick(memory=False),) * 3
    begun = [*node(0, 0.1), *node(1, 0.5, knobs=("BLOCK",)), *exhausted(2, "start")]
    tune = Pick(parents=(1,), intent="tune")
    assert greedy.pick(graph_of(*begun), 3, rng) == (tune,)
    tuned = [*begun, *node(3, 0.6, tune)]
    assert greedy.pick(graph_of(*tuned), 2, rng) == (Pick(parents=(1,), intent="improve"),) * 2
    assert greedy.pick(graph_of(*tuned, *exhausted(4, "improve")), 2, rng) == ()


def test_greedy_waits_for_its_starts_before_it_chooses_one() -> None:
    events = [*node(0, 0.1), *node(1, 0.5)[:2], *exhausted(2, "start")]
    assert Greedy().pick(graph_of(*events), 3, random.Random(0)) == ()


def test_greedy_stops_starting_at_its_setting() -> None:
    events = [*node(0, 0.1), *node(1, 0.5)]
    assert Greedy(starts=3).pick(graph_of(*events), 4, random.Random(0)) == (Pick(memory=False),)
    assert Greedy(starts=2).pick(graph_of(*events), 1, random.Random(0)) == (Pick(parents=(1,), intent="improve"),)


def test_greedy_asks_for_another_start_while_nothing_was_measured() -> None:
    events = [*node(0, None), *node(1, None)]
    assert Greedy(starts=2).pick(graph_of(*events), 4, random.Random(0)) == (Pick(),)
    assert Greedy(starts=2).pick(graph_of(*events, *exhausted(2, "start")), 4, random.Random(0)) == ()


def test_best_of_n_makes_n_starts() -> None:
    assert BestOfN(n=3).pick(graph_of(*node(0, 0.1)), 8, random.Random(0)) == (Pick(),) * 2
    assert BestOfN(n=1).pick(graph_of(*node(0, 0.1)), 8, random.Random(0)) == ()


def test_elite_takes_parents_from_its_population_only_and_prefers_the_better() -> None:
    events = [event for id in range(8) for event in node(id, id / 10)]
    graph = graph_of(*events)
    picks = [pick for seed in range(300) for pick in Elite(n=3).pick(graph, 1, random.Random(seed))]
    parents = [parent for pick in picks for parent in pick.parents]
    assert set(parents) == {5, 6, 7}
    assert parents.count(7) > parents.count(6) > parents.count(5)
    combined = [pick for pick in picks if pick.intent == "combine"]
    assert {len(pick.parents) for pick in combined} == {2}
    assert 0.2 < len(combined) / len(picks) < 0.4


def test_elite_counts_equal_source_once() -> None:
    twins: list[Event] = []
    for id in range(6):
        [picked, _, evaluation] = node(id, 0.5 if id else 0.1)
        draft = Proposed(candidate="twin" if id else "other", operator="scripted", item=str(id))
        twins += [picked, Drafted(node=id, draft=draft), evaluation]
    picks = [p for seed in range(100) for p in Elite(n=2).pick(graph_of(*twins), 1, random.Random(seed))]
    assert {parent for pick in picks for parent in pick.parents} == {0, 1}


def test_elite_goes_back_to_starts_when_only_they_are_left() -> None:
    events = [*(event for id in range(5) for event in node(id, 0.1)), *exhausted(5, "improve", "combine")]
    assert Elite(n=5).pick(graph_of(*events), 2, random.Random(0)) == (Pick(),)


@EVERY
def test_every_number_among_the_settings_says_what_it_may_be(name: str) -> None:
    kind = resolve(TABLE[name])
    hints = get_type_hints(kind.__init__, include_extras=True)
    settings = [p.name for p in inspect.signature(kind).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for key in settings:
        if hints[key] in (bool, str):
            continue
        with pytest.raises(UserError, match=f"'{key}' of policy '{name}' is -1; it should be"):
            require_policy(name, {key: -1})
        assert hints[key] not in (int, float)


@pytest.mark.parametrize(
    ("name", "settings"),
    [("islands", {"temperature": 0.0}), ("mcts", {"c": math.nan}), ("elite", {"combine": 1.5}), ("eoh", {"n": True})],
)
def test_a_setting_that_no_search_can_run_with_is_refused(name: str, settings: dict[str, float]) -> None:
    with pytest.raises(UserError, match="it should be"):
        require_policy(name, settings)
