"""What a person asks a model for beside a search: text about a candidate, or a port of it."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Literal

from kernwright import __version__
from kernwright.core.brief import Exhausted, Pick, Proposed, Remarked, Unusable
from kernwright.core.errors import UserError
from kernwright.core.events import Drafted, Picked, Resumed, RunFinished, RunStarted
from kernwright.core.graph import Graph
from kernwright.core.model import ModelSpec
from kernwright.core.spec import ELSEWHERE, Budget, OperatorSpec
from kernwright.store.codec import encode_candidate
from kernwright.store.sql import SqlStore

from . import targets, wiring
from .aside import asking_aside
from .briefs import brief_of
from .journal import Journal
from .reading import RunView, reading
from .service import GIVEN, opened
from .shelves import frozen, packs_of
from .written import language_of

Remark = Literal["explain", "critique"]


def remark(home: Path, run: str, node: int | None, intent: Remark, models: Sequence[ModelSpec] = ()) -> tuple[int, str]:
    """Have a model say something of a node, the champion or best where None; the note's node and its text.

    `models` are asked in place of the run's own. The note is a node of the run's graph.

    Raises:
        RunLocked: an engine holds the run.
        UserError: there is no such node or model, the node has no candidate, or a cap leaves no room.
    """
    with reading(home, run) as view:
        number, full = _subject(view, node), view.id
    with opened(home) as store, store.lock(full):
        return asyncio.run(_remarked(Journal(store, full), number, intent, models))


def port(
    home: Path,
    run: str,
    node: int | None,
    target: str | None,
    models: Sequence[ModelSpec] = (),
    budget: Budget | None = None,
    *,
    language: str | None = None,
    knowledge: Sequence[str | Path] = (),
) -> str:
    """A run for another target or in another language, where None the old one or any that suits; it begins with
    having a node's candidate ported. Its id; not driven yet.

    `knowledge` are folders of notes in place of the run's own.

    Raises:
        UserError: there is no such node, target, language or model, neither target nor language is said, the language
            cannot be had at the target, or the node has no candidate.
    """
    if target is None and language is None:
        raise UserError("A port goes somewhere: say --target, --language, or both.")
    with reading(home, run) as view:
        number = _subject(view, node)
        candidate = view.candidate(view.graph.nodes[number])
        problem, old, full = view.problem, view.spec, view.id
    where = targets.target_of(target, absent=True) if target else old.target
    executor = "processes" if where in targets.here() else ELSEWHERE
    if language is not None:
        _require_language(language, where, here=executor != ELSEWHERE)
    spec = replace(
        old,
        target=where,
        executor=executor if old.executor in ("processes", ELSEWHERE) else old.executor,
        models=tuple(models) or old.models,
        operators=_with_models(old.operators),
        languages=(language,) if language else (),
        budget=budget or old.budget,
        knowledge=packs_of(knowledge or [pack.path for pack in old.knowledge]),
    )
    wiring.check(spec)
    with closing(SqlStore(home)) as store:
        made = store.create_run(problem.name)
        blob = store.put(encode_candidate(candidate))
        told = frozen(home, spec, store)
        store.append(
            made, RunStarted(spec=spec, problem=problem, start=(blob,), knowledge=told, kernwright=__version__)
        )
        summary = f"node {number} of {full}, for {old.target}"
        draft = Proposed(candidate=blob, operator=GIVEN.name, item=blob, summary=summary)
        store.append(made, Picked(node=0, pick=Pick()))
        store.append(made, Drafted(node=0, draft=draft))
        store.append(made, Picked(node=1, pick=Pick(parents=(0,), intent="port")))
    return made


def _require_language(language: str, target: str, *, here: bool) -> None:
    supported = language_of(language).supports(target)
    if here and not supported.ok:  # elsewhere there may be a compiler that this machine lacks
        raise UserError(supported.reason)


def _subject(view: RunView, node: int | None) -> int:
    if node is None:
        found = view.graph.champion() or view.graph.best()
        if found is None:
            raise UserError(f"Nothing of run {view.id} was measured yet; name a node.")
        return found.id
    view.candidate(view.node(node))
    return node


def _with_models(operators: Sequence[OperatorSpec]) -> tuple[OperatorSpec, ...]:
    asked = [each for each in operators if each.name == wiring.LLM] or [OperatorSpec(name=wiring.LLM)]
    return (*(each for each in operators if each.name != wiring.LLM), *asked)


async def _remarked(journal: Journal, node: int, intent: Remark, models: Sequence[ModelSpec]) -> tuple[int, str]:
    specs = tuple(models) or journal.spec.models
    if not specs:
        raise UserError(f"Run {journal.run} has no model to ask; name one with --model PROVIDER:NAME.")
    calls = wiring.made_calls(journal, specs)
    graph = journal.graph
    operator = asking_aside(journal, calls.ask)
    finished = graph.finished
    journal.write(Resumed(budget=graph.budget, until=graph.until, patience=graph.patience))
    number = _opened(graph, node, intent)
    if number == len(graph.nodes):
        journal.write(Picked(node=number, pick=Pick(parents=(node,), intent=intent)))
    try:
        draft = await operator.propose(brief_of(journal, number))
    finally:
        await calls.close()
    journal.write(Drafted(node=number, draft=draft))
    if finished is not None:
        journal.write(RunFinished(reason=finished.reason, champion=finished.champion))
    if isinstance(draft, Remarked):
        return number, draft.text
    assert isinstance(draft, Unusable | Exhausted)
    raise UserError(f"No text came: {draft.reason or 'the model had nothing more to say'}.")


def _opened(graph: Graph, node: int, intent: Remark) -> int:
    """The place of a remark that was asked for and never came, else a new one."""
    waiting = (n.id for n in graph.in_flight() if n.draft is None and n.pick == Pick(parents=(node,), intent=intent))
    return next(waiting, len(graph.nodes))
