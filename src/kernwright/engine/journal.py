"""A run's journal with the state that it folds to."""

import platform
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from kernwright.core.brief import Draft, Proposed
from kernwright.core.candidate import Candidate
from kernwright.core.errors import MachineFault, RunLocked
from kernwright.core.events import Drafted, Entry, Event, Faulted
from kernwright.core.graph import Graph, fold
from kernwright.core.note import Shelf
from kernwright.core.ports import Store
from kernwright.core.problem import Problem
from kernwright.core.spec import RunSpec
from kernwright.knowledge.library import Library
from kernwright.store.codec import decode_candidate, encode, encode_candidate
from kernwright.store.sql import SqlStore

from .shelves import library_of, shelf_of

T = TypeVar("T")
Observe = Callable[[Entry, Graph], None]

RECENT = 256
"""Candidates that are kept in memory."""
RETRIES = 2
"""How often a step is tried again after the machine failed."""


class GaveUp(MachineFault):
    """The machine failed at every attempt; trying the step around this one again is no use."""


class Journal:
    """The only writer of one run. The graph is never ahead of what is on disk."""

    def __init__(self, store: Store, run: str, observe: Observe | None = None, graph: Graph | None = None) -> None:
        """`graph` is the state at an earlier place, for whoever goes through the journal again."""
        self.run = run
        self.graph = fold(store.events(run)) if graph is None else graph
        if self.graph.spec is None or self.graph.problem is None:
            raise MachineFault(f"The journal of run {run!r} does not begin with run_started; it was never completed.")
        self.spec: RunSpec = self.graph.spec
        self.problem: Problem = self.graph.problem
        self.problem_id = self.problem.id
        self._store = store
        self._observe = observe
        self._recent: dict[str, Candidate] = {}
        self._shelf: Shelf | None = None
        self._library: Library | None = None

    def write(self, event: Event) -> None:
        """Append, then fold in, then tell whoever watches."""
        if isinstance(event, Drafted):
            event = replace(event, draft=self.measured(event.draft))
        entry = self._store.append(self.run, event)
        self.graph.apply(entry)
        if self._observe is not None:
            self._observe(entry, self.graph)

    def measured(self, draft: Draft) -> Draft:
        """The draft with the length of its source."""
        if not isinstance(draft, Proposed) or draft.chars:
            return draft
        return replace(draft, chars=sum(len(file.text) for file in self.candidate(draft.candidate).files))

    def put(self, candidate: Candidate) -> str:
        """Keep a candidate; its blob."""
        return self._remembered(self._store.put(encode_candidate(candidate)), candidate)

    def keep(self, fact: object) -> str:
        """Keep a fact that is no candidate; its blob."""
        return self._store.put(encode(fact))

    def candidate(self, blob: str) -> Candidate:
        """The candidate of a blob; raises KeyError where there is none."""
        if blob not in self._recent:
            self._remembered(blob, decode_candidate(self._store.get(blob)))
        return self._recent[blob]

    @property
    def shelf(self) -> Shelf:
        """What the run may be told, as it was when it began."""
        if self._shelf is None:
            self._shelf = shelf_of(self._store, self.graph.knowledge)
        return self._shelf

    @property
    def library(self) -> Library | None:
        """The same, to be searched; None where it is nothing."""
        if self._library is None and self.shelf.packs:
            self._library = library_of(self._store, self.shelf)
        return self._library

    def _remembered(self, blob: str, candidate: Candidate) -> str:
        self._recent[blob] = candidate
        if len(self._recent) > RECENT:
            del self._recent[next(iter(self._recent))]
        return blob

    async def retried(self, node: int, step: Callable[[], Awaitable[T]]) -> T:
        """The step's answer; every fault of the machine is journalled.

        Raises:
            GaveUp: the machine failed at every attempt.
        """
        for attempt in range(RETRIES + 1):
            try:
                return await step()
            except GaveUp:
                raise
            except MachineFault as fault:
                self.write(Faulted(machine=platform.node(), reason=str(fault), node=node))
                if attempt == RETRIES:
                    raise GaveUp(f"{fault} (tried {RETRIES + 1} times)") from fault
        raise AssertionError("the last attempt returns or raises")


@contextmanager
def holding(store: SqlStore, run: str) -> Iterator[bool]:
    """Whether no engine is alive, so that the run's lock could be taken; it is let go afterwards."""
    lock = store.lock(run)
    try:
        lock.__enter__()
    except RunLocked:
        yield False
        return
    try:
        yield True
    finally:
        lock.__exit__(None, None, None)
