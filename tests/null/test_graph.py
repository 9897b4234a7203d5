"""The fold of a journal, against the plainest account of what it should be."""

import gc
import math
import random
from collections.abc import Iterator
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernwright.core.brief import Draft, Exhausted, Intent, Pick, Proposed, Unusable
from kernwright.core.errors import MachineFault
from kernwright.core.events import Drafted, Entry, Evaluated, Event, Faulted, Picked, Resumed, RunFinished
from kernwright.core.graph import Graph, fold
from kernwright.core.outcome import Evaluation, Interval, Measured, Outcome, Timings, Verified, Wrong
from kernwright.core.plan import FULL
from kernwright.core.spec import Budget
from kernwright.search.termination import promising, reached, unconfirmed_top

INTERVAL = Interval(estimate=1.0, low=1.0, high=1.0, n=8)
TIMINGS = Timings(
    workloads=(),
    speedup=INTERVAL,
    speedup_call=INTERVAL,
    speedup_eager=None,
    speedup_compile=None,
    speedup_champion=None,
    baseline="eager",
    faster=False,
    aa_floor=0.01,
    cache="cold",
    threads=1,
    samples=(),
)
WRONG = Wrong(reason="no")
VERIFIED = Verified(timings=TIMINGS, reason="", confirmations=5)
MEASURED = Measured(timings=TIMINGS, reason="")
FASTER = Verified(timings=replace(TIMINGS, faster=True), reason="", confirmations=5)
INTENTS: list[Intent] = ["start", "improve", "tune"]
SCORES = st.one_of(st.none(), st.floats(), st.sampled_from([0.0, -0.0, 0.5, 1.0, math.nan]))


def evaluation(outcome: Outcome) -> Evaluation:
    return Evaluation(
        candidate="c",
        problem="p",
        plan="quick",
        target="cpu",
        machine="m",
        judge_version="1",
        outcome=outcome,
    )


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    match draw(st.sampled_from("pppue")):
        case "p":
            return Proposed(candidate=draw(st.sampled_from("ab")), operator="o", usd=draw(st.floats(0, 1)))
        case "u":
            return Unusable(operator="o", reason="", usd=draw(st.floats(0, 1)))
        case _:
            return Exhausted(operator="o", intent=draw(st.sampled_from(["start", "tune"])))


@st.composite
def journals(draw: st.DrawFn, size: int = 40) -> list[Entry]:
    """Events in an order that an engine could write, evaluations more often than it would."""
    events: list[Event] = []
    nodes, undrafted, proposed = 0, set[int](), list[int]()
    for _ in range(draw(st.integers(0, size))):
        what = draw(st.sampled_from(["pick", "draft", "evaluate", "evaluate", "fault", "resume", "finish"]))
        if what == "pick" or not nodes:
            parents = draw(st.lists(st.integers(0, nodes - 1), max_size=2, unique=True)) if nodes else []
            intent = draw(st.sampled_from(INTENTS))
            events.append(Picked(node=nodes, pick=Pick(parents=tuple(parents), intent=intent)))
            undrafted.add(nodes)
            nodes += 1
        elif what == "draft" and undrafted:
            node = draw(st.sampled_from(sorted(undrafted)))
            undrafted.remove(node)
            draft = draw(drafts())
            events.append(Drafted(node=node, draft=draft))
            if isinstance(draft, Proposed):
                proposed.append(node)
        elif what == "evaluate" and proposed:
            events.append(
                Evaluated(
                    node=draw(st.sampled_from(proposed)),
                    purpose=draw(st.sampled_from(["search", "search", "tune", "confirm"])),
                    key=draw(st.sampled_from("kl")),
                    score=draw(SCORES),
                    evaluation=evaluation(draw(st.sampled_from([WRONG, VERIFIED, FASTER]))),
                    reused=draw(st.booleans()),
                )
            )
        elif what == "fault":
            events.append(Faulted(machine="m", reason=""))
        elif what == "resume":
            events.append(Resumed(budget=Budget(proposals=draw(st.integers(0, 9)))))
        elif what == "finish":
            events.append(RunFinished(reason="", champion=None))
    gaps = draw(st.lists(st.floats(-5, 60), min_size=len(events), max_size=len(events)))
    at, entries = 1e9, []
    for seq, (event, gap) in enumerate(zip(events, gaps, strict=True), 1):
        at += gap
        entries.append(Entry(seq=seq, at=at, event=event))
    return entries


def best_first(graph: Graph) -> list[int]:
    merits = [(node.merit, node.id) for node in graph.nodes]
    return [id for _, id in sorted((-merit, id) for merit, id in merits if merit is not None)]


def visible(graph: Graph) -> dict[str, object]:
    """All that a reader of the graph can see."""
    public = {f.name: getattr(graph, f.name) for f in fields(graph) if not f.name.startswith("_")}
    ranked = [node.id for node in graph.ranked(len(graph.nodes))]
    return public | {"spent": graph.spent, "ranked": ranked, "in_flight": graph.in_flight()}


@settings(deadline=None)
@given(journal=journals(), look=st.sets(st.integers(0, 40)))
def test_views_are_the_same_whenever_one_looks(journal: list[Entry], look: set[int]) -> None:
    """The ranking is brought up to date only when it is asked for; that must never show."""
    watched = Graph()
    for entry in journal:
        watched.apply(entry)
        if entry.seq in look:
            assert [node.id for node in watched.ranked(len(journal))] == best_first(watched)
    unwatched = fold(journal)
    assert [node.id for node in unwatched.ranked(len(journal))] == best_first(unwatched)
    best = unwatched.best()
    assert (best.id if best else None) == next(iter(best_first(unwatched)), None)
    assert visible(watched) == visible(unwatched)


def test_the_ranking_of_many_nodes_is_kept_up_to_date_one_by_one() -> None:
    rng = random.Random(1)
    graph = fold(Entry(seq=node + 1, at=0.0, event=Picked(node=node, pick=Pick())) for node in range(200))
    stale, top = 0, None
    for step in range(1000):
        # A new score for any node, often for the best or the last one, so that some rise, some fall and some fail.
        node = rng.choice(
            [rng.randrange(200), rng.randrange(200), step % 200, max(step - 1, 0) % 200, *best_first(graph)[:1]]
        )
        score = rng.choice([None, rng.gauss(0, 1), rng.gauss(0, 1), 0.25, math.nan])
        event = Evaluated(node=node, purpose="search", key="k", score=score, evaluation=evaluation(WRONG))
        graph.apply(Entry(seq=201 + step, at=0.0, event=event))
        before, top = top, max((n.merit for n in graph.nodes if n.merit is not None), default=None)
        stale = 0 if top != before else stale + 1
        assert graph.stale == stale
        if step % 4 == 0:
            assert [n.id for n in graph.ranked(200)] == best_first(graph)
    assert len(best_first(graph)) > 60


@settings(deadline=None)
@given(journal=journals())
def test_counts_are_those_of_the_events(journal: list[Entry]) -> None:
    graph = fold(journal)
    events = [entry.event for entry in journal]
    picked = [event for event in events if isinstance(event, Picked)]
    answers = [event.draft for event in events if isinstance(event, Drafted)]
    ended = {e.node for e in events if isinstance(e, Drafted) and not isinstance(e.draft, Proposed)}
    ended |= {e.node for e in events if isinstance(e, Evaluated) and e.purpose != "tune"}
    assert len(graph.nodes) == len(picked)
    assert [node.id for node in graph.nodes] == list(range(len(picked)))
    assert graph.spent.proposals == len(picked) - sum(isinstance(draft, Exhausted) for draft in answers)
    assert graph.spent.evaluations == sum(isinstance(e, Evaluated) and not e.reused for e in events)
    assert graph.spent.usd == pytest.approx(sum(d.usd for d in answers if not isinstance(d, Exhausted)))
    assert graph.faults == sum(isinstance(event, Faulted) for event in events)
    assert [node.id for node in graph.in_flight()] == sorted({event.node for event in picked} - ended)
    assert all(node.in_flight == (node.id not in ended) for node in graph.nodes)
    for node in graph.nodes:
        assert list(graph.children(node.id)) == [e.node for e in picked if node.id in e.pick.parents]


@settings(deadline=None)
@given(journal=journals())
def test_nodes_hold_the_newest_evaluation_and_the_best_credit(journal: list[Entry]) -> None:
    graph = fold(journal)
    newest: dict[int, Evaluated] = {}
    credit: dict[int, float] = {}
    stale, top = 0, None
    for event in (entry.event for entry in journal):
        if isinstance(event, Resumed):
            stale = 0
        if not isinstance(event, Evaluated) or event.purpose == "tune":
            continue
        score = None if event.score is None or math.isnan(event.score) else event.score
        newest[event.node] = replace(event, score=score)
        pick = graph.nodes[event.node].pick
        if pick.intent == "tune" and score is not None:
            for parent in pick.parents:
                credit[parent] = max(score, credit.get(parent, -math.inf))
        merits = [max(e.score, credit.get(n, e.score)) for n, e in newest.items() if e.score is not None]
        before, top = top, max(merits, default=None)
        if event.purpose == "search":
            stale = 0 if top != before else stale + 1
    assert graph.stale == stale
    for node in graph.nodes:
        last = newest.get(node.id)
        assert node.evaluation is (last.evaluation if last else None)
        assert node.score == (last.score if last else None)
        assert node.verified == (last is not None and last.evaluation.outcome is not WRONG)
        assert node.credit == credit.get(node.id)
    champion = graph.champion()
    verified = [node for node in graph.nodes if node.verified and node.score is not None]
    assert (champion is None) == (not verified)
    ranks = [(node.faster, node.score or 0.0) for node in verified]
    assert champion is None or (champion.faster, champion.score or 0.0) == max(ranks)


@settings(deadline=None)
@given(journal=journals(), cut=st.integers(0, 40))
def test_a_fold_can_stop_and_go_on(journal: list[Entry], cut: int) -> None:
    graph = fold(journal[:cut])
    for entry in journal[cut:]:
        graph.apply(entry)
    assert visible(graph) == visible(fold(journal))


@settings(deadline=None)
@given(journal=journals(), data=st.data())
def test_a_missing_entry_is_noticed(journal: list[Entry], data: st.DataObject) -> None:
    if len(journal) < 2:
        return
    lost = data.draw(st.integers(0, len(journal) - 2))
    with pytest.raises(MachineFault, match="an entry is missing"):
        fold(journal[:lost] + journal[lost + 1 :])


def test_time_counts_only_while_an_engine_runs() -> None:
    events: list[tuple[float, Event]] = [
        (100.0, Resumed(budget=Budget())),
        (107.0, Faulted(machine="m", reason="")),
        (5000.0, Resumed(budget=Budget())),
        (5002.5, Faulted(machine="m", reason="")),
        (5001.0, Faulted(machine="m", reason="")),  # the clock was set back
        (5001.5, Faulted(machine="m", reason="")),
    ]
    graph = fold(Entry(seq=seq, at=at, event=event) for seq, (at, event) in enumerate(events, 1))
    assert graph.spent.seconds == 10.0


@pytest.mark.parametrize("enabled", [True, False])
def test_reading_leaves_garbage_collection_as_it_was(enabled: bool) -> None:
    def broken() -> Iterator[Entry]:
        yield Entry(seq=1, at=0.0, event=Faulted(machine="m", reason=""))
        raise OSError("gone")

    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        fold([])
        assert gc.isenabled() == enabled
        with pytest.raises(OSError, match="gone"):
            fold(broken())
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was else gc.disable)()


def judged(*outcomes: Outcome) -> Graph:
    """A graph with a node for each outcome, whose score is higher the later it comes."""
    events: list[Event] = []
    for node, outcome in enumerate(outcomes):
        events += [
            Picked(node=node, pick=Pick(parents=(), intent="start")),
            Drafted(node=node, draft=Proposed(candidate=str(node), operator="o")),
            Evaluated(
                node=node, purpose="search", key=str(node), score=float(node + 1), evaluation=evaluation(outcome)
            ),
        ]
    return fold([Entry(seq=n, at=float(n), event=event) for n, event in enumerate(events, 1)])


def test_a_confirmation_that_shows_nothing_neither_leads_nor_keeps_others_from_theirs() -> None:
    graph = judged(FASTER, MEASURED, VERIFIED)
    champion, top = graph.champion(), unconfirmed_top(graph, FULL)
    assert champion is not None
    assert champion.id == 0
    assert top is not None
    assert top.id == 1
    assert promising(graph, 1.0, FULL) == top
    alone = judged(MEASURED, VERIFIED).champion()
    assert alone is not None
    assert alone.id == 1
    assert unconfirmed_top(judged(MEASURED, VERIFIED), FULL) is None


def test_a_speedup_that_is_not_shown_reaches_nothing() -> None:
    assert reached(judged(VERIFIED), 1.0) is None
    assert reached(judged(FASTER), 1.0) == "a verified speedup of at least 1 was reached"
