"""The policies of published methods choose as their papers say."""

import math
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_graphs import exhausted, graph_of, graphs, node

from kernwright.core.brief import REMARKS, Exhausted, Pick
from kernwright.core.events import Drafted, Entry, Evaluated, Event, Picked
from kernwright.core.graph import ROOTS, Graph
from kernwright.core.outcome import Evaluation, Interval, Measured, WorkloadTiming
from kernwright.core.ports import GraphView, Policy
from kernwright.search.policies import eoh, islands, kernwright, map_elites, mcts, moves, pareto, stages, stagnation
from kernwright.search.policies.elite import Elite
from kernwright.search.policies.evolution import Evolution
from kernwright.search.policies.refine import Refine
from kernwright.search.policies.single_best import SingleBest
from kernwright.testing.null import null_timings


def many(policy: Policy, graph: GraphView, times: int = 300) -> list[Pick]:
    """What it picks under many seeds."""
    return [pick for seed in range(times) for pick in policy.pick(graph, 1, random.Random(seed))]


def scored(*scores: float) -> list[Event]:
    return [event for id, score in enumerate(scores) for event in node(id, score)]


def on_workloads(id: int, **speedups: float) -> list[Event]:
    """A node with a speedup on each of these workloads."""
    timings = null_timings(1.0)
    each = tuple(
        WorkloadTiming(
            workload=name, weight=1.0, time_ns={"candidate": 1e6}, baseline="eager", copy_ns=None,
            speedup=Interval(estimate=value, low=value, high=value, n=8),
        )
        for name, value in speedups.items()
    )  # fmt: skip
    [picked, drafted, done] = node(id, math.log(sum(speedups.values()) / len(speedups)))
    assert isinstance(done, Evaluated)
    evaluation = replace(done.evaluation, outcome=Measured(timings=replace(timings, workloads=each), reason=""))
    return [picked, drafted, replace(done, evaluation=evaluation)]


@given(graph=graphs(), data=st.data())
def test_what_a_graph_keeps_for_policies_is_what_it_would_find_anew(graph: Graph, data: st.DataObject) -> None:
    """Rankings by island, children of the roots and subtrees, asked for at any moment."""
    for number, ids in graph.islands.items():
        assert list(ids) == [n.id for n in graph.nodes if n.pick.island == number]
        ranked = [n.id for n in graph.ranked(99, number)]
        assert ranked == [n.id for n in graph.ranked(99) if n.pick.island == number]
    assert list(graph.children(ROOTS)) == [n.id for n in graph.nodes if not n.pick.parents]
    for this in graph.nodes:
        children = [n.id for n in graph.nodes if this.id in n.pick.parents and n.pick.intent not in REMARKS]
        assert list(graph.children(this.id)) == children
        below = {this.id}
        for other in graph.nodes:
            if other.pick.parents and other.pick.parents[0] in below:
                below.add(other.id)
        under = [graph.nodes[i] for i in below]
        counted = [n for n in under if not isinstance(n.draft, Exhausted) and n.pick.intent not in REMARKS]
        rewards = [1 / (1 + math.exp(-n.score)) for n in counted if n.score is not None]
        assert graph.subtree(this.id)[0] == len(counted)
        assert graph.subtree(this.id)[1] == pytest.approx(sum(rewards))


@given(scores=st.lists(st.floats(-1, 1), min_size=3, max_size=8), at=st.integers(0, 3))
def test_a_subtree_is_the_same_however_early_it_was_asked_for(scores: list[float], at: int) -> None:
    events = [
        e for i, s in enumerate(scores) for e in node(i, s, Pick(parents=(i // 2,), intent="improve") if i else None)
    ]
    early, late = graph_of(*events[: 3 * at]), graph_of(*events)
    if early.nodes:
        early.subtree(0)
    for event in events[3 * at :]:
        early.apply(Entry(seq=early.seq + 1, at=0.0, event=event))
    for id in range(len(scores)):
        assert early.subtree(id)[0] == late.subtree(id)[0]
        assert early.subtree(id)[1] == pytest.approx(late.subtree(id)[1])


# EvoEngineer


def test_single_best_starts_again_from_the_best() -> None:
    assert SingleBest().pick(graph_of(), 2, random.Random(0)) == (Pick(), Pick())
    graph = graph_of(*scored(0.1, 0.7, 0.3))
    assert set(many(SingleBest(), graph, 20)) == {Pick(parents=(1,), intent="start")}
    graph.exhausted.add("start")
    assert set(many(SingleBest(), graph, 20)) == {Pick(parents=(1,), intent="improve")}


def test_elite_of_full_evolves_once_two_are_valid() -> None:
    full = Elite(n=5, combine=0.5, tournament=1, valid=2)
    one = [*node(0, 0.1), *node(1, None), *node(2, None)]
    assert full.pick(graph_of(*one), 1, random.Random(0)) == (Pick(),)
    picks = many(full, graph_of(*one, *node(3, 0.2)))
    assert {(len(p.parents), p.intent) for p in picks} == {(2, "combine"), (1, "improve")}
    assert all(set(p.parents) <= {0, 3} for p in picks)


# EoH


def test_rank_weights_are_those_of_eoh() -> None:
    assert eoh.rank_weights(3) == [1 / 4, 1 / 5, 1 / 6]


def test_eoh_draws_parents_by_rank_and_takes_its_kinds_in_turn() -> None:
    policy = eoh.EoH(n=3, parents=1, starts=4)
    events = scored(0.1, 0.2, 0.3, 0.4)
    seen = Counter(pick.parents[0] for pick in many(policy, graph_of(*events, *node(4, 0.0), *node(5, 0.0)), 3000))
    weights = dict(zip((3, 2, 1), eoh.rank_weights(3), strict=True))
    for id, weight in weights.items():
        assert seen[id] / 3000 == pytest.approx(weight / sum(weights.values()), abs=0.04)
    variants = []
    for id in range(4, 12):
        [pick] = eoh.EoH(n=3, starts=4).pick(graph_of(*events), 1, random.Random(id))
        variants.append((pick.variant, pick.intent, len(pick.parents)))
        events += node(id, 0.0, pick)
    kinds = [("e1", "combine", 2), ("e2", "combine", 2), ("m1", "improve", 1), ("m2", "improve", 1)]
    assert variants == kinds * 2


def test_eoh_simplifies_only_where_that_is_on_and_drops_equal_scores() -> None:
    graph = graph_of(*scored(0.5, 0.5, 0.5, 0.4, 0.3))
    on = eoh.EoH(n=2, starts=1, simplify=True)
    assert {p for pick in many(on, graph) for p in pick.parents} == {0, 3}
    for id in range(5, 9):
        graph = graph_of(*scored(*[0.1] * id))
        assert ("m3" in {p.variant for p in many(on, graph, 5)}) == ((id - 1) % 5 == 4)
        assert "m3" not in {p.variant for p in many(eoh.EoH(starts=1), graph, 5)}


# FunSearch


def test_the_temperature_falls_and_starts_again() -> None:
    assert islands.temperature_at(0) == 0.1
    assert islands.temperature_at(15_000) == pytest.approx(0.05)
    assert islands.temperature_at(30_000) == 0.1


def test_shorter_programs_are_likelier_in_a_cluster() -> None:
    short, middle, long = islands.length_weights([100, 150, 200])
    assert short > middle > long
    assert long / short == pytest.approx(math.exp(-0.5))


def island_run(policy: islands.Islands, steps: int, fail: int = 5) -> Graph:
    """A search in which every `fail`th proposal fails and scores are drawn."""
    events: list[Event] = []
    scores = random.Random(1)
    graph = graph_of()
    for id in range(steps):
        picks = policy.pick(graph, 1, random.Random(id))
        events = node(id, None if id % fail == fail - 1 else scores.uniform(-1, 1), picks[0])
        for event in events:
            graph.apply(Entry(seq=graph.seq + 1, at=0.0, event=event))
    return graph


def test_a_child_stays_on_its_island() -> None:
    graph = island_run(islands.Islands(islands=4, reset_every=60), 200)
    crossings = 0
    for this in graph.nodes:
        home = this.pick.island
        if home is None:
            continue
        founder = graph.nodes[graph.islands[home][0]]
        for parent in this.pick.parents:
            outside = graph.nodes[parent].pick.island != home
            assert not outside or parent in founder.pick.parents
            crossings += outside
    assert crossings >= 4
    assert len({n.pick.island for n in graph.nodes if n.pick.island is not None and n.pick.island < 4}) == 4


def test_the_weaker_half_is_founded_anew_from_a_survivor_s_best() -> None:
    policy = islands.Islands(islands=4, reset_every=100)
    graph = island_run(policy, 99)
    strength = {
        place: max(moves.merit(n) for n in islands.members(graph, number, 1))
        for place, number in policy.living(graph).items()
    }
    weak = set(sorted(strength, key=lambda place: strength[place])[:2])
    survivors = {islands.members(graph, place, 1)[0].id for place in set(strength) - weak}
    founded = {}
    graph = island_run(policy, 104)
    for number in (n for n in graph.islands if n >= 4):
        first = graph.nodes[graph.islands[number][0]]
        founded[number % 4] = first
        assert first.pick.parents[0] in survivors | {
            n.id for s in survivors for n in graph.nodes[99:] if n.pick.island == graph.nodes[s].pick.island
        }
    assert set(founded) == weak
    assert {policy.living(graph)[place] for place in weak} == {4 + place for place in weak}


def test_programs_are_shown_worst_first_and_a_hot_island_takes_weak_ones() -> None:
    start = node(0, 0.0)
    events = [
        *start,
        *(e for id in range(1, 7) for e in node(id, id / 10, Pick(parents=(0,), intent="improve", island=0))),
    ]
    cold, hot = islands.Islands(islands=1, temperature=0.01), islands.Islands(islands=1, temperature=10.0)
    for pick in many(cold, graph_of(*events)):
        assert pick.intent == "combine"
        assert pick.parents[0] < pick.parents[1]
        assert pick.island == 0
    weakest = [min(pick.parents) for pick in many(hot, graph_of(*events))]
    assert weakest.count(0) > 30
    assert [min(pick.parents) for pick in many(cold, graph_of(*events))].count(0) == 0


# AI CUDA Engineer


def test_stages_follow_each_other() -> None:
    policy = stages.Stages(generations=2, proposals=2)
    seen, events = [], list[Event]()
    for id in range(8):
        [pick] = policy.pick(graph_of(*events), 1, random.Random(0))
        seen.append((pick.intent, pick.variant, pick.parents))
        events += node(id, id / 10, pick)
    assert [(i, v) for i, v, _ in seen] == [
        ("start", "convert"),
        ("port", "translate"),
        *[("improve", "optimise")] * 4,
        *[("combine", "compose")] * 2,
    ]
    assert seen[1][2] == (0,)
    assert seen[5][2] == (4, 0, 1, 2, 3)  # the best is improved, the others stand by, slow ones first
    assert seen[7][2] == (2, 3, 4, 5, 6)


def test_a_failed_translation_goes_back_with_its_error() -> None:
    policy = stages.Stages()
    events = [
        *node(0, 0.0, Pick(variant="convert")),
        *node(1, None, Pick(parents=(0,), intent="port", variant="translate")),
    ]
    assert policy.pick(graph_of(*events), 1, random.Random(0)) == (
        Pick(parents=(1,), intent="repair", variant="translate"),
    )
    over = graph_of(*events, *exhausted(2, "repair", "port"))
    assert policy.pick(over, 1, random.Random(0)) == (Pick(variant="translate"),)


# KernelEvolve


def test_uct_is_its_formula() -> None:
    assert mcts.uct(3.0, 4, 10, 0.5) == pytest.approx(3 / 4 + 0.5 * math.sqrt(math.log(10) / 4))
    assert mcts.uct(0.0, 0, 10, 0.5) == math.inf


def test_uct_on_a_tree_made_by_hand() -> None:
    improve = {id: Pick(parents=(parent,), intent="improve") for id, parent in {2: 0, 3: 0, 4: 2}.items()}
    events = [
        *node(0, 0.0),
        *node(1, 0.2),
        *node(2, 2.0, improve[2]),
        *node(3, None, improve[3]),
        *node(4, 3.0, improve[4]),
    ]
    graph = graph_of(*events)

    def reward(*scores: float) -> float:
        return sum(1 / (1 + math.exp(-score)) for score in scores)

    assert graph.subtree(0) == (4, pytest.approx(reward(0.0, 2.0, 3.0)))
    assert graph.subtree(2) == (2, pytest.approx(reward(2.0, 3.0)))
    # Root 0: 0.58 with 4 visits, root 1: 0.55 with 1. Little exploration goes down the first, much to the second.
    assert mcts.Mcts(drafts=2, c=0.0, branching=2).leaf(graph) is graph.nodes[2]
    assert mcts.Mcts(drafts=2, c=2.0, branching=2).leaf(graph) is graph.nodes[1]
    assert mcts.Mcts(drafts=2, c=0.0, branching=1).leaf(graph) is graph.nodes[4]
    flying = graph_of(*events, *(Picked(node=id, pick=Pick(parents=(2,), intent="improve")) for id in (5, 6, 7)))
    assert mcts.Mcts(drafts=2, c=0.0, branching=2).leaf(flying) is flying.nodes[1]


def test_what_was_no_proposal_is_no_visit() -> None:
    """Neither text about a node nor a place where an operator had nothing more changes where the tree is expanded."""
    events = [*node(0, 1.0), *node(1, 0.0), *node(2, 1.0, Pick(parents=(0,), intent="improve"))]
    policy = mcts.Mcts(drafts=2, c=0.55, branching=1)
    before = policy.leaf(graph_of(*events))
    others: list[Event] = [Picked(node=id, pick=Pick(parents=(0,), intent="explain")) for id in range(3, 40)]
    after = policy.leaf(graph_of(*events, *others))
    assert before is not None
    assert after is not None
    assert after.id == before.id == 2


def test_drafts_come_before_the_tree() -> None:
    assert set(many(mcts.Mcts(drafts=4), graph_of(*scored(0.1, 0.2, 0.3)), 5)) == {Pick(memory=False)}


def test_evolution_lets_the_old_die_but_the_best() -> None:
    events = [*node(0, 0.9), *node(1, 0.8), *(e for id in range(2, 30) for e in node(id, 0.1 + id / 1000))]
    alive = [n.id for n in Evolution(drafts=1, population=3, window=2).alive(graph_of(*events))]
    assert alive == [0, 29, 28]
    picks = many(Evolution(drafts=1, population=3, window=2, crossover=0.5), graph_of(*events))
    assert 0.4 < sum(p.intent == "combine" for p in picks) / len(picks) < 0.6


# The others


def test_refine_is_one_chain() -> None:
    refine, rng = Refine(), random.Random(0)
    assert refine.pick(graph_of(), 4, rng) == (Pick(),)
    assert refine.pick(graph_of(*scored(0.5, 0.1)), 4, rng) == (Pick(parents=(1,), intent="improve"),)
    assert refine.pick(graph_of(*scored(0.5), *node(1, None)), 4, rng) == (Pick(parents=(1,), intent="repair"),)
    assert refine.pick(graph_of(*scored(0.5), *node(1, 0.1)[:2]), 4, rng) == ()


def test_map_elites_keeps_the_best_of_each_kind() -> None:
    def built(id: int, score: float, registers: float) -> list[Event]:
        [picked, drafted, done] = node(id, score)
        assert isinstance(done, Evaluated)
        evaluation: Evaluation = replace(done.evaluation, resources={"registers": registers})
        return [picked, drafted, replace(done, evaluation=evaluation)]

    graph = graph_of(*built(0, 0.1, 32), *built(1, 0.9, 200), *built(2, 0.3, 40), *built(3, 0.2, 250))
    policy = map_elites.MapElites(starts=2, combine=0.0)
    assert [n.id for n in policy.elites(graph)] == [1, 2]
    assert 100 < Counter(p.parents for p in many(policy, graph))[(2,)] < 200


def test_a_bottleneck_is_read_from_the_clock() -> None:
    [picked, drafted, done] = node(0, 0.0)
    graph = graph_of(picked, drafted, done)
    assert map_elites.bottleneck(graph.nodes[0]) == "compute"
    assert map_elites.cell(graph.nodes[0], ["registers"]) == ("compute", -1)


@pytest.mark.parametrize(
    ("time_ns", "copy_ns", "kind"),
    [(9_000.0, 100.0, "launch"), (50_000.0, 30_000.0, "memory"), (50_000.0, 20_000.0, "compute")],
)
def test_a_bottleneck_is_of_the_heaviest_workload(time_ns: float, copy_ns: float, kind: str) -> None:
    [picked, drafted, done] = on_workloads(0, light=1.0, heavy=1.0)
    assert isinstance(done, Evaluated)
    outcome = done.evaluation.outcome
    assert isinstance(outcome, Measured)
    light, heavy = outcome.timings.workloads
    heavy = replace(heavy, weight=9.0, time_ns={"candidate": time_ns}, copy_ns=copy_ns)
    light = replace(light, weight=1.0, time_ns={"candidate": 1.0}, copy_ns=1.0)
    timings = replace(outcome.timings, workloads=(light, heavy))
    evaluation = replace(done.evaluation, outcome=replace(outcome, timings=timings))
    graph = graph_of(picked, drafted, replace(done, evaluation=evaluation))
    assert map_elites.bottleneck(graph.nodes[0]) == kind


def test_the_front_holds_the_best_of_each_workload() -> None:
    graph = graph_of(*on_workloads(0, a=2.0, b=1.0), *on_workloads(1, a=1.0, b=3.0), *on_workloads(2, a=1.6, b=2.6))
    policy = pareto.Pareto(starts=1, combine=0.5)
    picks = many(policy, graph)
    assert {p for pick in picks for p in pick.parents} == {0, 1}
    assert (0, 1) in {p.parents for p in picks}


def test_stagnation_leaves_the_beaten_track() -> None:
    policy = stagnation.Stagnation(calm="greedy", patience=3, share=1.0)
    rising = graph_of(*scored(0.1, 0.2, 0.3), *exhausted(3, "start"))
    assert set(many(policy, rising, 20)) == {Pick(parents=(2,), intent="improve")}
    stuck = graph_of(*scored(0.3, 0.1, 0.1, 0.1, 0.1))
    assert {p.variant for p in many(policy, stuck)} == {stagnation.RESTRUCTURE}
    assert {p.intent for p in many(policy, stuck)} == {"start", "combine", "improve"}


def test_the_default_gives_some_islands_no_memory_and_tunes_its_best() -> None:
    policy = kernwright.Kernwright(starts=3, islands=3, plain=1, tuned=0)
    events: list[Event] = []
    for id in range(3):
        [pick] = policy.pick(graph_of(*events), 1, random.Random(0))
        assert (pick.intent, pick.island, pick.memory) == ("start", id, id > 0)
        events += node(id, id / 10, pick, knobs=("BLOCK",))
    assert policy.pick(graph_of(*events), 1, random.Random(0))[0].intent == "tune"
    events += node(3, 0.5, Pick(parents=(2,), intent="tune"))
    picks = many(policy, graph_of(*events))
    assert {(p.island, p.memory) for p in picks} == {(0, False), (1, True), (2, True)}


def test_an_open_node_is_never_a_parent() -> None:
    events = [*scored(0.1, 0.2), *node(2, 0.9)[:2], Picked(node=3, pick=Pick())]
    assert not isinstance(events[-1], Drafted)
    for policy in (SingleBest(), mcts.Mcts(drafts=1), eoh.EoH(starts=1), Evolution(drafts=1)):
        assert {p for pick in many(policy, graph_of(*events), 30) for p in pick.parents} <= {0, 1}
