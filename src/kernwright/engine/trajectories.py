"""A run as data to train models on: prompts, replies, measured rewards, and the groups that they make."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernwright.core.brief import Intent, Pick, Proposed, Unusable
from kernwright.core.errors import UserError
from kernwright.core.events import Evaluated, ModelCalled, Picked
from kernwright.core.model import Prompt, Reply
from kernwright.core.node import Node
from kernwright.core.outcome import Evaluation, timings_of
from kernwright.core.problem import Problem
from kernwright.core.redaction import covered
from kernwright.core.secrets import scrubbed
from kernwright.store.codec import decode, decode_candidate
from kernwright.store.sql import SqlStore

from .journal import Journal
from .service import opened

FORMAT = 1
BY_OTHERS = frozenset({"mailbox"})
"""Operators whose drafts somebody wrote without a call in the journal."""
_RIGHT = frozenset({"built", "checked", "measured", "verified"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What went into a file."""

    run: str
    nodes: int
    pairs: int
    groups: int
    repairs: int


@dataclass(slots=True)
class _Seen:
    """What a journal says of one node."""

    calls: list[ModelCalled]
    score: float | None = None
    evaluation: Evaluation | None = None
    """The first of the search, which no choice among many went before."""


def export_trajectories(home: Path, run: str, path: Path) -> Written:
    """Write them as JSON lines, of the schema in docs/reference/trajectories.md.

    Raises:
        UserError: there is no such run, or the file cannot be written.
    """
    with opened(home) as store:
        full = store.resolve_run(run)
        lines = list(_lines(store, full))
        try:
            path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
        except OSError as error:
            raise UserError(f"{path} cannot be written: {error.strerror}; give another path.") from None
    counts: dict[str, int] = defaultdict(int)
    for line in lines:
        counts[line["kind"]] += 1
    return Written(
        run=full, nodes=counts["node"], pairs=counts["pair"], groups=counts["group"], repairs=counts["repair"]
    )


def _lines(store: SqlStore, run: str) -> Iterator[dict[str, Any]]:
    journal = Journal(store, run)
    seen = _seen(store, run)
    made = [node for node in journal.graph.nodes if _wanted(node, seen[node.id])]
    spec, problem = journal.spec, journal.problem
    yield {
        "kind": "run",
        "trajectories": FORMAT,
        "run": run,
        "problem": problem.name,
        "problem_id": problem.id,
        "target": spec.target,
        "method": spec.method or spec.policy,
        "policy": spec.policy,
        "plan": spec.plan.name,
        "fitness": spec.fitness,
    }
    for node in made:
        yield _node_line(store, run, node, seen[node.id], problem, spec.method or spec.policy)
    yield from _relations(run, made, seen)


def _seen(store: SqlStore, run: str) -> dict[int, _Seen]:
    found: dict[int, _Seen] = defaultdict(lambda: _Seen([]))
    intents: dict[int, Intent] = {}
    for entry in store.events(run):
        match entry.event:
            case Picked(node=node, pick=pick):
                intents[node] = pick.intent
            case ModelCalled(node=node) as call if call.reply and call.intent == intents[node]:
                found[node].calls.append(call)
            case Evaluated(node=node, purpose="search") as event if found[node].evaluation is None:
                found[node].evaluation, found[node].score = event.evaluation, event.score
    return found


def _wanted(node: Node, seen: _Seen) -> bool:
    draft = node.draft
    if not isinstance(draft, Proposed | Unusable):
        return False
    return bool(seen.calls) or draft.operator in BY_OTHERS


def _node_line(store: SqlStore, run: str, node: Node, seen: _Seen, problem: Problem, method: str) -> dict[str, Any]:
    draft, evaluation = node.draft, seen.evaluation
    assert isinstance(draft, Proposed | Unusable)
    timings = timings_of(evaluation.outcome) if evaluation else None
    reason = draft.reason if isinstance(draft, Unusable) else evaluation.outcome.reason if evaluation else ""
    turns = [_turn(store, call, problem) for call in seen.calls]
    return {
        "kind": "node",
        "run": run,
        "node": node.id,
        "parents": list(node.pick.parents),
        "intent": node.pick.intent,
        "method": method,
        "operator": draft.operator,
        "model": seen.calls[-1].model if turns else None,
        "author": draft.author if isinstance(draft, Proposed) else "",
        "prompt": turns[-1]["prompt"] if turns else None,
        "reply": turns[-1]["reply"] if turns else None,
        "earlier": turns[:-1],
        "files": _files(store, draft.candidate) if isinstance(draft, Proposed) else None,
        "outcome": _outcome(node, evaluation),
        "reason": _clean(reason, problem),
        "score": seen.score,
        "speedup": timings.speedup.estimate if timings else None,
        "speedup_low": timings.speedup.low if timings else None,
        "speedup_high": timings.speedup.high if timings else None,
        "faster": timings.faster if timings else False,
        "tokens_in": sum(call.tokens_in for call in seen.calls),
        "tokens_out": sum(call.tokens_out for call in seen.calls),
        "usd": sum(call.usd for call in seen.calls),
        "judge_version": evaluation.judge_version if evaluation else None,
        "plan": evaluation.plan if evaluation else None,
        "machine": evaluation.machine if evaluation else None,
        "problem_id": problem.id,
    }


def _turn(store: SqlStore, call: ModelCalled, problem: Problem) -> dict[str, Any]:
    prompt = decode(Prompt, store.get(call.prompt))
    return {
        "prompt": [
            {"role": "system", "content": _clean(prompt.system, problem)},
            {"role": "user", "content": _clean(prompt.user, problem)},
        ],
        "reply": _clean(decode(Reply, store.get(call.reply)).text, problem),
    }


def _files(store: SqlStore, blob: str) -> list[dict[str, str]]:
    files = decode_candidate(store.get(blob)).files
    return [{"name": file.name, "text": scrubbed(file.text, shapes=False)} for file in files]


def _outcome(node: Node, evaluation: Evaluation | None) -> str:
    if evaluation is not None:
        return evaluation.outcome.kind
    return "unusable" if isinstance(node.draft, Unusable) else "pending"


def _relations(run: str, made: Iterable[Node], seen: Mapping[int, _Seen]) -> Iterator[dict[str, Any]]:
    groups: dict[tuple[tuple[int, ...], str], list[Node]] = defaultdict(list)
    ended = [node for node in made if seen[node.id].evaluation is not None or isinstance(node.draft, Unusable)]
    for node in ended:
        groups[_place(node.pick)].append(node)
    for (parents, intent), members in groups.items():
        if len(members) > 1:
            scores = {node.id: seen[node.id].score for node in members}
            same = {"run": run, "parents": list(parents), "intent": intent}
            yield {"kind": "group", **same, "nodes": list(scores), "scores": list(scores.values())}
            yield from ({"kind": "pair", **same, **pair} for pair in _pairs(scores))
    by_id = {node.id: node for node in ended}
    for node in ended:
        evaluation = seen[node.id].evaluation
        if node.pick.intent == "repair" and evaluation is not None and evaluation.outcome.kind in _RIGHT:
            yield {
                "kind": "repair",
                "run": run,
                "nodes": _chain(node, by_id),
                "outcomes": [_outcome(by_id[n], seen[n].evaluation) for n in _chain(node, by_id)],
                "score": seen[node.id].score,
            }


def _place(pick: Pick) -> tuple[tuple[int, ...], str]:
    return pick.parents, pick.intent


def _pairs(scores: Mapping[int, float | None]) -> Iterator[dict[str, Any]]:
    """Better and worse; one that was not measured is below every number, and two such are no pair."""
    order = sorted(scores, key=lambda n: (scores[n] is not None, scores[n] or 0.0), reverse=True)
    for i, better in enumerate(order):
        for worse in order[i + 1 :]:
            if scores[better] is not None and scores[better] != scores[worse]:
                yield {
                    "better": better,
                    "worse": worse,
                    "better_score": scores[better],
                    "worse_score": scores[worse],
                }


def _chain(node: Node, by_id: Mapping[int, Node]) -> list[int]:
    """From what failed first to what was right, oldest first."""
    found = [node.id]
    while node.pick.intent == "repair" and node.pick.parents and (before := by_id.get(node.pick.parents[0])):
        found.append(before.id)
        node = before
    return found[::-1]


def _clean(text: str, problem: Problem) -> str:
    return scrubbed(covered(text, problem), shapes=False)
