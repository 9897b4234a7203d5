"""The graph of proposals: a fold of the journal, with the views that policies need kept up to date."""

import gc
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan

from .brief import REMARKS, Exhausted, Intent, Proposed
from .errors import MachineFault
from .events import (
    Asked,
    Drafted,
    Entry,
    Evaluated,
    ModelCalled,
    NoteLearned,
    Picked,
    Profiled,
    Resumed,
    RunFinished,
    RunStarted,
    Seed,
    Steered,
)
from .node import Node
from .note import Note
from .outcome import Verified, timings_of
from .problem import Problem
from .ranking import Ranking, Tree
from .spec import Budget, RunSpec, Spent

BANNED = "Do not try this: "
"""Begins the hint that a banned idea is."""
ROOTS = -1
"""In place of a node's id: the parent of those that have none."""


@dataclass(slots=True)
class Graph:
    """State of a run. Only `apply` changes it; policies get it as a `GraphView`."""

    spec: RunSpec | None = None
    problem: Problem | None = None
    start: tuple[str, ...] = ()
    seeds: tuple[Seed, ...] = ()
    knowledge: str = ""
    """Blob of what may be told."""
    nodes: list[Node] = field(default_factory=list)
    budget: Budget = Budget()
    until: float | None = None
    patience: int | None = None
    finished: RunFinished | None = None
    endings: list[int] = field(default_factory=list)
    """How many nodes there were each time that the run ended."""
    exhausted: set[Intent] = field(default_factory=set)
    """Intents for which no operator has anything more."""
    used_items: set[tuple[str, str]] = field(default_factory=set)
    """(operator, item) of every draft."""
    asked: set[int] = field(default_factory=set)
    """Nodes whose briefs the engine that took the run up last has someone outside answer."""
    over: str = ""
    """Why an operator had nothing more, where it said so."""
    calls: list[ModelCalled] = field(default_factory=list)
    """Of models, in the order in which they ended."""
    evaluations: dict[str, Evaluated] = field(default_factory=dict)
    """By key: what identical source reuses."""
    stale: int = 0
    """Evaluated proposals since the best score last rose."""
    faults: int = 0
    failed_baselines: dict[str, str] = field(default_factory=dict)
    """Those that are not tried again, with the reason."""
    pinned: dict[int, int] = field(default_factory=dict)
    """Nodes that a person wants expanded, with how many nodes there were when that was said."""
    banned: set[int] = field(default_factory=set)
    """Nodes that a person wants no children of."""
    hints: list[str] = field(default_factory=list)
    """What a person said; every later brief tells it."""
    told: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """Of each node whose brief held notes, their names."""
    learnt: dict[str, Note] = field(default_factory=dict)
    """Notes of this run, by name."""
    seq: int = 0
    _children: dict[int, list[int]] = field(default_factory=dict)
    _islands: dict[int, list[int]] = field(default_factory=dict)
    _ranked: Ranking = field(default_factory=Ranking)
    _ranked_on: dict[int, Ranking] = field(default_factory=dict)
    """By island."""
    _tree: Tree | None = None
    """Kept up to date once somebody has asked for it."""
    _unsettled: set[int] = field(default_factory=set)
    """Nodes that `_tree` has not seen as they are."""
    _top: float | None = None
    """The highest merit."""
    _open: set[int] = field(default_factory=set)
    _last_at: float | None = None
    _proposals: int = 0
    _evaluations: int = 0
    _seconds: float = 0.0
    _usd: float = 0.0
    _tokens_in: int = 0
    _tokens_out: int = 0

    @property
    def spent(self) -> Spent:
        """What the run has spent so far."""
        return Spent(
            proposals=self._proposals,
            evaluations=self._evaluations,
            seconds=self._seconds,
            usd=self._usd,
            tokens_in=self._tokens_in,
            tokens_out=self._tokens_out,
        )

    def apply(self, entry: Entry) -> None:
        """Fold one more event in.

        Raises:
            MachineFault: the journal is not one: a sequence number or node is missing.
        """
        if entry.seq != self.seq + 1:
            raise MachineFault(f"journal entry {entry.seq} follows {self.seq}: an entry is missing")
        self.seq = entry.seq
        match entry.event:
            case Picked() as event:
                self._picked(event)
            case Drafted() as event:
                self._drafted(event)
            case Asked(node=node):
                self.asked.add(node)
            case Evaluated() as event:
                self._evaluated(event)
            case RunStarted() as event:
                self.spec, self.problem, self.start = event.spec, event.problem, event.start
                self.seeds, self.knowledge = event.seeds, event.knowledge
                self.budget, self.until, self.patience = event.spec.budget, event.spec.until, event.spec.patience
                self._last_at = entry.at
            case Resumed() as event:
                self.budget, self.until, self.patience = event.budget, event.until, event.patience
                self.finished = None
                self.exhausted, self.over, self.asked = set(), "", set()
                self.failed_baselines = {} if event.baselines_again else self.failed_baselines
                self.stale = 0
                self._last_at = entry.at
            case ModelCalled() as event:
                self.calls.append(event)
                self._usd += event.usd
                self._tokens_in += event.tokens_in
                self._tokens_out += event.tokens_out
            case RunFinished() as event:
                self.finished = event
                self.endings.append(len(self.nodes))
            case Profiled(node=node, profile=profile, diagnosis=diagnosis):
                self.nodes[node] = replace(self.nodes[node], profile=profile, diagnosis=diagnosis)
            case NoteLearned(note=note):
                self.learnt[note.name] = note
            case Steered() as event:
                self._steered(event)
            case _:
                self.faults += 1
        if not isinstance(entry.event, Steered):  # said while no engine ran, it must not count the idle time before it
            self._clock(entry.at)

    def node(self, node: int) -> Node:
        """The node with this id.

        Raises:
            KeyError: there is none.
        """
        if not 0 <= node < len(self.nodes):
            raise KeyError(node)
        return self.nodes[node]

    def is_aside(self, call: ModelCalled) -> bool:
        """Whether a model was asked about a node, not for it."""
        return call.intent != self.nodes[call.node].pick.intent

    def children(self, node: int) -> Sequence[int]:
        """Ids of the nodes that have this one among their parents, oldest first; of those with none for `ROOTS`.

        Remarks are not among them.
        """
        return self._children.get(node, ())

    @property
    def islands(self) -> Mapping[int, Sequence[int]]:
        """Ids of the nodes of each island, oldest first."""
        return self._islands

    def ranked(self, k: int, island: int | None = None) -> list[Node]:
        """The k nodes of highest merit, on one island where one is given, best first; ties in order of age."""
        ranking = self._ranked if island is None else self._ranked_on.get(island)
        return [self.nodes[i] for _, i in ranking.sorted(self.nodes)[:k]] if ranking is not None else []

    def subtree(self, node: int) -> tuple[int, float]:
        """Visits under this node, itself included, and the sum of their rewards; see `ranking.Tree`."""
        if self._tree is None:
            self._tree, self._unsettled = Tree(), set(range(len(self.nodes)))
        if self._unsettled:
            for id in sorted(self._unsettled):
                this = self.nodes[id]
                parent = this.pick.parents[0] if this.pick.parents else ROOTS
                none = isinstance(this.draft, Exhausted) or this.pick.intent in REMARKS
                self._tree.settle(id, parent, 0 if none else 1, this.score)
            self._unsettled.clear()
        return self._tree.visits[node], self._tree.rewards[node]

    def best(self) -> Node | None:
        """The node of highest merit; None while nothing was measured."""
        return next(iter(self.ranked(1)), None)

    def champion(self) -> Node | None:
        """The verified node of highest score, one that is shown to be faster before others; None without one."""
        verified = [node for node in self.ranked(len(self.nodes)) if node.verified and node.score is not None]
        return max(verified, key=lambda n: (n.faster, n.score or 0.0, -n.id), default=None)

    def in_flight(self) -> list[Node]:
        """Nodes that are picked or drafted and not at an end, oldest first."""
        return [self.nodes[i] for i in sorted(self._open)]

    def _clock(self, at: float) -> None:
        if self._last_at is not None and at > self._last_at:
            self._seconds += at - self._last_at
        self._last_at = at

    def _picked(self, event: Picked) -> None:
        if event.node != len(self.nodes):
            raise MachineFault(f"the journal opens node {event.node} where {len(self.nodes)} is next")
        self.nodes.append(Node(id=event.node, pick=event.pick))
        if event.pick.intent not in REMARKS:
            for parent in event.pick.parents or (ROOTS,):
                self._children.setdefault(parent, []).append(event.node)
            self._proposals += 1
        if event.pick.island is not None:
            self._islands.setdefault(event.pick.island, []).append(event.node)
        self._unsettled.add(event.node)
        self._open.add(event.node)

    def _drafted(self, event: Drafted) -> None:
        draft = event.draft
        if event.told:
            self.told[event.node] = event.told
        old = self.nodes[event.node]
        self.nodes[event.node] = Node(  # spelt out: `dataclasses.replace` takes half of the time of a fold
            id=old.id,
            pick=old.pick,
            draft=draft,
            evaluation=old.evaluation,
            searched=old.searched,
            score=old.score,
            credit=old.credit,
            verified=old.verified,
        )
        if isinstance(draft, Exhausted):
            self.exhausted.add(draft.intent)
            self.over = draft.reason or self.over
            self._proposals -= old.pick.intent not in REMARKS
            self._unsettled.add(event.node)
        else:
            self.used_items.add((draft.operator, draft.item))
            self._usd += draft.usd
        if not isinstance(draft, Proposed):
            self._open.discard(event.node)

    def _evaluated(self, event: Evaluated) -> None:
        if not event.reused:
            if event.purpose == "tune":
                self.evaluations.setdefault(event.key, event)
            else:  # measured on fresh data, which a trial that was picked as the best of many is not
                self.evaluations[event.key] = event
            self._evaluations += 1
            self.failed_baselines |= event.evaluation.failed_baselines
        if event.purpose == "tune":
            return
        old = self.nodes[event.node]
        best_before = self._top
        new = Node(
            id=old.id,
            pick=old.pick,
            draft=old.draft,
            evaluation=event.evaluation,
            searched=event.evaluation if event.purpose == "search" else old.searched,
            score=None if event.score is None or isnan(event.score) else event.score,
            credit=old.credit,
            verified=isinstance(event.evaluation.outcome, Verified),
            profile=old.profile,
            diagnosis=old.diagnosis,
        )
        self._replace(old, new)
        self._open.discard(event.node)
        if new.pick.intent == "tune" and new.score is not None:
            for parent in new.pick.parents:
                self._credit(parent, new.score)
        if event.purpose == "search":
            self.stale = 0 if self._top != best_before else self.stale + 1

    def _credit(self, parent: int, score: float) -> None:
        old = self.nodes[parent]
        if old.credit is None or score > old.credit:
            self._replace(old, replace(old, credit=score))

    def _replace(self, old: Node, new: Node) -> None:
        self.nodes[new.id] = new
        self._unsettled.add(new.id)
        before, after = old.merit, new.merit
        if before == after:
            return
        self._ranked.moved(new.id, before)
        if new.pick.island is not None:
            self._ranked_on.setdefault(new.pick.island, Ranking()).moved(new.id, before)
        if after is not None and (self._top is None or after >= self._top):
            self._top = after
        elif before is not None and before == self._top:
            ranking = self._ranked.sorted(self.nodes)
            self._top = -ranking[0][0] if ranking else None

    def _steered(self, event: Steered) -> None:
        node = event.node if event.node is not None else ROOTS
        match event.action:
            case "pin":
                self.banned.discard(node)
                self.pinned[node] = len(self.nodes)
            case "ban" if event.node is not None:
                self.pinned.pop(node, None)
                self.banned.add(node)
            case "free" if event.node is None:
                self.hints = [hint for hint in self.hints if hint != event.text]
            case "free":
                self.pinned.pop(node, None)
                self.banned.discard(node)
            case "ban":
                self._hint(BANNED + event.text)
            case "hint":
                self._hint(event.text)
            case _:
                pass  # a fork changes nothing here: the other run begins with the node

    def _hint(self, text: str) -> None:
        if text not in self.hints:
            self.hints.append(text)


def fold(entries: Iterable[Entry]) -> Graph:
    """The state after these entries."""
    graph = Graph()
    collecting = gc.isenabled()
    gc.disable()  # all that is read stays alive: to look for garbage in it would take as long as reading
    try:
        for entry in entries:
            graph.apply(entry)
    finally:
        if collecting:
            gc.enable()
    return graph


def speedup_of(node: Node) -> float | None:
    """Speedup over the faster baseline; None where it was not measured."""
    timings = timings_of(node.evaluation.outcome) if node.evaluation else None
    return timings.speedup.estimate if timings else None
