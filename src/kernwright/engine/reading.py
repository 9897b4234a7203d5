"""A run as it stands, for those who only look. Takes no lock."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kernwright.core.candidate import Candidate
from kernwright.core.errors import UserError
from kernwright.core.events import Entry, RunStarted
from kernwright.core.graph import Graph, fold
from kernwright.core.model import Reply
from kernwright.core.node import Node
from kernwright.core.problem import Problem
from kernwright.core.spec import RunSpec
from kernwright.store.codec import decode, decode_candidate
from kernwright.store.sql import SqlStore


@dataclass(frozen=True, slots=True)
class RunView:
    """One run."""

    id: str
    graph: Graph
    spec: RunSpec
    problem: Problem
    started_at: float
    """Seconds since the epoch."""
    _store: SqlStore

    def node(self, number: int) -> Node:
        """Raises UserError where there is no such node."""
        nodes = self.graph.nodes
        if not 0 <= number < len(nodes):
            there = f"its nodes are 0 to {len(nodes) - 1}" if nodes else "it has none yet"
            raise UserError(f"Run {self.id} has no node {number}; {there}.")
        return nodes[number]

    def events(self) -> Iterator[Entry]:
        """Its journal."""
        return iter(self._store.events(self.id))

    def candidate(self, node: Node) -> Candidate:
        """Raises UserError where the node has no candidate."""
        if node.candidate is None:
            raise UserError(
                f"Node {node.id} of run {self.id} has no candidate; `kernwright show {self.id}` lists them."
            )
        return decode_candidate(self._store.get(node.candidate))

    def reply(self, node: Node) -> str:
        """The last that a model or agent said for the node; empty where nobody was asked or nothing came."""
        blobs = [call.reply for call in self.graph.calls if call.node == node.id and call.reply]
        return decode(Reply, self._store.get(blobs[-1])).text if blobs else ""


@contextmanager
def reading(home: Path, run: str) -> Iterator[RunView]:
    """The run whose id begins like this, or the `latest`.

    Raises:
        UserError: there is no such run, or it was never completed.
    """
    with _store(home) as store:
        if store is None:
            raise UserError(f"There are no runs in {home}; begin one with `kernwright evolve PROBLEM`.")
        yield _view(store, store.resolve_run(run))


@contextmanager
def reading_all(home: Path) -> Iterator[Sequence[RunView]]:
    """Every run, oldest first."""
    with _store(home) as store:
        yield [_view(store, run) for run in store.runs()] if store is not None else []


def export_recording(home: Path, run: str, path: Path, *, author: str = "", samples: bool = False) -> str:
    """Write a run as a recording that `replay` reads; the run's full id.

    Raises:
        UserError: there is no such run, or the file cannot be written.
    """
    from .recording import export_recording as write

    with _store(home) as store:
        if store is None:
            raise UserError(f"There are no runs in {home}; begin one with `kernwright evolve PROBLEM`.")
        full = store.resolve_run(run)
        try:
            write(store, full, path, author=author, samples=samples)
        except OSError as error:
            raise UserError(f"{path} cannot be written: {error.strerror}; give another path.") from None
        return full


@contextmanager
def _store(home: Path) -> Iterator[SqlStore | None]:
    store = SqlStore.open_existing(home)
    try:
        yield store
    finally:
        if store is not None:
            store.close()


def _view(store: SqlStore, run: str) -> RunView:
    first: list[Entry] = []

    def seen() -> Iterator[Entry]:
        for entry in store.events(run):
            if not first:
                first.append(entry)
            yield entry

    graph = fold(seen())
    if not first or not isinstance(first[0].event, RunStarted) or graph.spec is None or graph.problem is None:
        raise UserError(f"The journal of run {run} does not begin with its start; it was never completed.")
    return RunView(run, graph, graph.spec, graph.problem, first[0].at, store)
