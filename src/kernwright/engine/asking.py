"""Ask and tell: proposals by someone outside, with or without an engine that runs."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import get_args

from kernwright.core.brief import Brief, Exhausted, Intent, Pick
from kernwright.core.candidate import Candidate
from kernwright.core.errors import UserError
from kernwright.core.events import Drafted, Evaluated, Picked, Resumed
from kernwright.core.expectation import MOST
from kernwright.core.graph import Graph
from kernwright.core.inbox import Told
from kernwright.core.spec import OperatorSpec
from kernwright.search.operators.mailbox import STARTS, Mailbox, proposed, serves
from kernwright.search.policies.moves import failed
from kernwright.store.sql import SqlStore

from . import wiring
from .answers import answered_nodes, settle
from .briefs import brief_of
from .evaluations import Evaluations
from .journal import Journal, Observe, holding
from .profiles import Profiles

NAME = Mailbox.name


class NotYet(UserError):
    """Whoever asks again a little later may be answered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A candidate for the brief of a node."""

    node: int
    candidate: Candidate
    author: str
    summary: str
    expects: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    later: bool = False
    """Not to be evaluated now."""


def ask(store: SqlStore, run: str) -> Brief:
    """See `service.ask`."""
    with holding(store, run) as held:
        answered = answered_nodes(store.inbox(run))
        journal = Journal(store, run)
        mailbox = _mailbox(journal)
        if held:
            _settle(store, journal)
        nodes = _open_nodes(journal.graph, answered, held=held)
        if not nodes and not held:
            raise NotYet(
                f"An engine is at work on run {run} and no brief is open yet; ask again in a moment, or --wait."
            )
        return brief_of(journal, nodes[0] if nodes else _picked(journal, mailbox))


def tell(
    store: SqlStore, run: str, home: Path, said: Answer, observe: Observe | None, progress: Callable[[str], None] | None
) -> Evaluated | None:
    """See `service.tell`."""
    with holding(store, run) as held:
        answered = answered_nodes(store.inbox(run))
        journal = Journal(store, run, observe if held else None)
        _mailbox(journal)
        if held:
            _settle(store, journal)
        _check_open(journal.graph, said.node, answered, held=held)
        told = Told(
            node=said.node,
            candidate=journal.put(said.candidate),
            author=said.author or journal.spec.author,
            summary=said.summary,
            expects=said.expects[:MOST],
            insights=said.insights,
        )
        if not held:
            if said.later:
                raise UserError(f"An engine is at work on run {run} and judges every answer; stop it, or tell it now.")
            store.post(run, told)
            return None
        _draft(journal, told)
        if said.later:
            return None
        return asyncio.run(_evaluated(journal, home, said.node, progress or (lambda text: None)))


def place(store: SqlStore, run: str, parent: int | None) -> int:
    """See `service.place`."""
    with holding(store, run) as held:
        if not held:
            raise UserError(
                f"An engine is at work on run {run} and takes answers to its briefs alone; see them with: kernwright "
                f"ask {run} --wait 60"
            )
        journal = Journal(store, run)
        _mailbox(journal)
        _settle(store, journal)
        _require_room(journal)
        node = len(journal.graph.nodes)
        journal.write(Picked(node=node, pick=_unasked(journal.graph, parent)))
        return node


def _unasked(graph: Graph, parent: int | None) -> Pick:
    if parent is None:
        return Pick()
    if not 0 <= parent < len(graph.nodes) or graph.nodes[parent].candidate is None:
        raise UserError(f"There is no candidate at node {parent} of this run that another one could be made of.")
    return Pick(parents=(parent,), intent="repair" if failed(graph.nodes[parent]) else "improve")


def _mailbox(journal: Journal) -> OperatorSpec:
    for operator in journal.spec.operators:
        if operator.name == NAME:
            return operator
    raise UserError(f"Run {journal.run!r} takes no answers from outside; begin one whose operators include {NAME!r}.")


def _starts(mailbox: OperatorSpec) -> int:
    return int(mailbox.settings.get("starts", STARTS))


def _settle(store: SqlStore, journal: Journal) -> None:
    """Begin a spell of work with no engine: its clock starts, and answers that waited become drafts."""
    graph = journal.graph
    if graph.seq > 1:
        journal.write(Resumed(budget=graph.budget, until=graph.until, patience=graph.patience))
    settle(store, journal.run, partial(_draft, journal), journal.write, graph)


def _draft(journal: Journal, told: Told) -> None:
    intent = journal.graph.node(told.node).pick.intent
    draft = proposed(told, intent, journal.candidate(told.candidate))
    # The same brief that was asked for: what it tells is settled once its parents are judged.
    journal.write(Drafted(node=told.node, draft=draft, told=brief_of(journal, told.node).told))


async def _evaluated(journal: Journal, home: Path, node: int, say: Callable[[str], None]) -> Evaluated | None:
    spec = journal.spec
    async with wiring.executor_of(spec, home, say) as executor:
        evaluations = Evaluations(journal, executor, wiring.fitness_of(spec), partial(wiring.job_of, journal, home))
        done = await evaluations.of(node, "search")
        # The next brief may show it as a parent, and is made without an executor.
        profiles = Profiles(journal, executor, partial(wiring.job_of, journal, home), wanted=wiring.told(spec))
        await profiles.of_told(node)
        return done


def _open_nodes(graph: Graph, said: set[int], *, held: bool) -> list[int]:
    """`said` was read before the journal: an engine takes an answer out of the inbox once its draft is journalled, so
    that it is seen in one of them.

    Not `held`: an engine lives, and other operators of it may be at work on what its mailbox does not wait for.
    """
    undrafted = [node for node in graph.in_flight() if node.draft is None and node.pick.intent in Mailbox.intents]
    return [node.id for node in undrafted if node.id not in said and (held or node.id in graph.asked)]


def _check_open(graph: Graph, node: int, said: set[int], *, held: bool) -> None:
    nodes = _open_nodes(graph, said, held=held)
    if node in nodes:
        return
    there = f"open: {', '.join(map(str, nodes))}" if nodes else "none is open; `kernwright ask` opens one"
    if not 0 <= node < len(graph.nodes):
        raise UserError(f"There is no brief {node} in this run ({there}).")
    draft = graph.nodes[node].draft
    if isinstance(draft, Exhausted):
        raise UserError(f"Brief {node} was closed, since no operator had anything for it ({there}).")
    if draft is None and node not in said and not held:
        raise NotYet(f"The engine at work on this run asks nobody outside about brief {node} now ({there}).")
    if draft is None and node not in said:
        raise UserError(f"Brief {node} is another operator's, not for an answer from outside ({there}).")
    raise UserError(f"Brief {node} has its answer already ({there}).")


def _picked(journal: Journal, mailbox: OperatorSpec) -> int:
    """Open a node for someone outside, whatever the other operators would still have to say."""
    _require_room(journal)
    graph, spec = journal.graph, journal.spec
    node = len(graph.nodes)
    policy = wiring.policy_of(spec)
    starts = _starts(mailbox)
    for _ in get_args(Intent):
        picks = policy.pick(graph, 1, random.Random(f"{spec.seed}:{node}"))
        if not picks or picks[0].intent in graph.exhausted:
            break
        if serves(picks[0].intent, graph.used_items, starts):
            journal.write(Picked(node=node, pick=picks[0]))
            return node
        graph.exhausted.add(picks[0].intent)
    waiting = sum(node.candidate is not None for node in graph.in_flight())
    remedy = f"let the engine go on with: kernwright resume {journal.run}"
    if spec.elsewhere:
        remedy = (
            f"have what waits ({waiting}) judged elsewhere: kernwright jobs export {journal.run} -o jobs; or hand in "
            f"another one unasked: kernwright tell {journal.run} new FILE"
        )
    raise UserError(f"Policy {spec.policy!r} has nothing to ask someone outside at present; {remedy}")


def _require_room(journal: Journal) -> None:
    graph = journal.graph
    if over := graph.spent.exceeds(replace(graph.budget, evaluations=None, seconds=None)):
        raise UserError(
            f"Nothing more can be asked: {over}. Give more with: kernwright resume {journal.run} --budget proposals=N"
        )
