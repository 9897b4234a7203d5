"""A person takes a hand in a search: pins, bans, hints and forks, with or without an engine that runs."""

from dataclasses import replace
from pathlib import Path

from kernwright.core.errors import UserError
from kernwright.core.graph import BANNED, Graph, fold
from kernwright.core.inbox import Steer
from kernwright.core.secrets import require_keyless
from kernwright.core.spec import Budget
from kernwright.store.codec import decode_candidate
from kernwright.store.sql import SqlStore

from . import service
from .answers import steered
from .journal import Journal, holding

LONGEST, MOST = 2_000, 8_000
"""Characters of a hint, and of all that hold at a time: every brief that follows tells them."""
LONGEST_AUTHOR = 200


def steer(home: Path, run: str, wishes: tuple[Steer, ...]) -> bool:
    """Journal these wishes, all or none; False where an engine is alive, which will do it in a moment.

    Raises:
        UserError: the run is over or unknown, a node is unknown or has no candidate, a text is empty or too long, the
            hints together are, or one that is to be taken back is none or could be several.
    """
    with service.opened(home) as store:
        run = store.resolve_run(run)
        graph = fold(store.events(run))
        if graph.finished is not None:
            raise UserError(
                f"Run {run} has ended ({graph.finished.reason}), so there is nothing to steer; begin another from one "
                f"of its nodes with: kernwright steer {run} --fork NODE"
            )
        meant = tuple(_meant(graph, wish) if wish.action == "free" and wish.node is None else wish for wish in wishes)
        for wish in meant:
            _require(graph, run, wish)
        _require_room(graph, meant)
        return _said(store, run, meant)


def fork(home: Path, run: str, node: int, author: str = "", budget: Budget | None = None) -> str:
    """A new run with the same settings that begins with this node's candidate; its id. Ended runs can be forked.

    Raises:
        UserError: the run or node is unknown, or the node has no candidate.
    """
    with service.opened(home) as store:
        run = store.resolve_run(run)
        graph = fold(store.events(run))
        wish = Steer(action="fork", node=node, author=author)
        _require(graph, run, wish)
        assert graph.spec is not None
        assert graph.problem is not None
        blob = graph.node(node).candidate
        assert blob is not None
        candidate = decode_candidate(store.get(blob))
        spec = replace(graph.spec, budget=budget or graph.spec.budget)
        new = service.create(home, spec, graph.problem, [candidate])
        _said(store, run, (replace(wish, text=new),))
        return new


def _said(store: SqlStore, run: str, wishes: tuple[Steer, ...]) -> bool:
    with holding(store, run) as mine:
        if not mine:
            for wish in wishes:
                store.post(run, wish)
            return False
        journal = Journal(store, run)
        for wish in wishes:
            journal.write(steered(wish))
        return True


def _meant(graph: Graph, wish: Steer) -> Steer:
    """The wish with the whole hint that is to be taken back; a part of it that no other has is enough."""
    said = wish.text.strip()
    same = [hint for hint in graph.hints if said and said in (hint, hint.removeprefix(BANNED))]
    found = same or [hint for hint in graph.hints if said and said in hint]
    if len(found) != 1:
        which = "several" if found else "none"
        those = "; ".join(repr(_short(hint)) for hint in found or graph.hints) or "nobody has given any"
        raise UserError(
            f"{_short(said)!r} is {which} of the hints and banned ideas: {those}. Say more of the one meant."
        )
    return replace(wish, text=found[0])


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"


def _require_room(graph: Graph, wishes: tuple[Steer, ...]) -> None:
    """Raises UserError where the hints would be longer together than briefs should carry."""
    added = {(BANNED if w.action == "ban" else "") + w.text for w in wishes if w.node is None and w.action != "free"}
    freed = {w.text for w in wishes if w.action == "free"}
    together = sum(map(len, (set(graph.hints) - freed) | added))
    if added and together > MOST:
        raise UserError(
            f"All hints and banned ideas would have {together} characters; every brief tells them, so keep to {MOST}. "
            "Take one back with --free and its text."
        )


def _require(graph: Graph, run: str, wish: Steer) -> None:
    """Raises UserError for a wish that cannot be met."""
    if len(wish.author) > LONGEST_AUTHOR:
        raise UserError(f"The author's name has {len(wish.author)} characters; keep to {LONGEST_AUTHOR}.")
    if wish.action == "free" and wish.node is None:
        return
    if wish.node is None:
        if not wish.text.strip():
            raise UserError(f"The {'idea to ban' if wish.action == 'ban' else 'hint'} is empty; say it in a sentence.")
        if len(wish.text) > LONGEST:
            raise UserError(f"The text has {len(wish.text)} characters; every brief tells it, so keep to {LONGEST}.")
        require_keyless(wish.text, "The text")
        return
    if not 0 <= wish.node < len(graph.nodes):
        there = f"its nodes are 0 to {len(graph.nodes) - 1}" if graph.nodes else "it has none yet"
        raise UserError(f"Run {run} has no node {wish.node}; {there}.")
    if wish.action in ("pin", "fork") and graph.nodes[wish.node].candidate is None:
        raise UserError(
            f"Node {wish.node} of run {run} has no candidate, so nothing can be made of it; `kernwright show {run}` "
            "lists those that have."
        )
