"""What a run has taught, as notes: what made kernels faster or slower, what failed and why, what mended it."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kernwright.core.brief import Proposed
from kernwright.core.candidate import Candidate
from kernwright.core.digest import digest
from kernwright.core.graph import Graph
from kernwright.core.node import Node
from kernwright.core.note import Learned, Lesson, Note
from kernwright.core.outcome import BuildFailed, Wrong, timings_of
from kernwright.core.problem import Problem
from kernwright.core.redaction import covered
from kernwright.core.secrets import scrubbed

from .documents import LONGEST_TITLE, MOST_TAGS
from .failures import failed, signature_of
from .merging import until
from .problems import signs_of
from .vocabulary import PLAIN_LANGUAGES, is_tag

FOLDER = "learnt"
CHANGES, INSIGHTS, FAILURES, REPAIRS = 3, 5, 3, 5
"""Of each kind, how many a run leaves at most; of changes for the better as many as for the worse."""
LEAST_GAIN = math.log(1.03)
LONGEST = 600
AGAIN = 2
"""How often an error comes, and an insight is said, before it is worth a note by that alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taught:
    """A run that has ended."""

    run: str
    graph: Graph
    problem: Problem
    target: str
    day: str
    since: int
    """The first node that was not learnt from before."""
    candidate: Callable[[str], Candidate]
    change: Callable[[Candidate, Candidate], str]
    """How two candidates differ, as text."""
    bottlenecks: Callable[[Node], tuple[str, ...]]
    """What limited a node, where that is known."""


def lessons_of(taught: Taught) -> Sequence[Note]:
    """The same for the same run, the weightiest of each kind."""
    steps = sorted(_steps(taught), key=lambda step: (-step[2], step[1].id))
    faster, slower = [s for s in steps if s[2] > 0][:CHANGES], [s for s in reversed(steps) if s[2] < 0][:CHANGES]
    notes = [_changed(taught, parent, node, gain) for parent, node, gain in (*faster, *slower)]
    notes += _insights(taught, {node.id: gain for _, node, gain in steps})
    notes += _failures(taught)
    notes += _repairs(taught)
    return [note for note in notes if note is not None]


def gain_of(graph: Graph, node: Node) -> float:
    """Log of how much faster a node is than its best parent; 0 where either was not measured, or it may be noise."""
    timings = timings_of(node.evaluation.outcome) if node.evaluation else None
    parents = [graph.nodes[p] for p in node.pick.parents]
    before = [t for p in parents if p.evaluation and (t := timings_of(p.evaluation.outcome))]
    if timings is None or not before:
        return 0.0
    best = max(before, key=lambda t: t.speedup.estimate)
    gain = math.log(timings.speedup.estimate / best.speedup.estimate)
    apart = timings.speedup.low > best.speedup.high or timings.speedup.high < best.speedup.low
    return gain if apart and abs(gain) >= LEAST_GAIN else 0.0


def _new(taught: Taught) -> Iterator[tuple[Node, Proposed]]:
    for node in taught.graph.nodes[taught.since :]:
        if isinstance(node.draft, Proposed) and node.evaluation is not None and node.pick.intent != "tune":
            yield node, node.draft


def _steps(taught: Taught) -> Iterator[tuple[Node, Node, float]]:
    """Parent, child, gain, of those that said what they do."""
    for node, draft in _new(taught):
        if (draft.approach or draft.summary) and (gain := gain_of(taught.graph, node)):
            yield taught.graph.nodes[node.pick.parents[0]], node, gain


def _changed(taught: Taught, parent: Node, node: Node, gain: float) -> Note | None:
    assert isinstance(node.draft, Proposed)
    what = node.draft.approach or node.draft.summary
    lesson = f"Made it {'faster' if gain > 0 else 'slower'}: {what}"
    times = f"{math.exp(gain):.2f}x of solution {parent.id}'s speed"
    return _note(taught, node, "insight", lesson, times, effect=gain, limits=taught.bottlenecks(parent))


def _insights(taught: Taught, gains: dict[int, float]) -> Iterator[Note | None]:
    """Of what got faster and of the champion; and what was said again and again."""
    champion = taught.graph.champion()
    found: dict[str, tuple[float, Node]] = {}
    often: Counter[str] = Counter()
    for node, draft in _new(taught):
        worth = gains.get(node.id, 0.0) + (1.0 if champion is not None and node.id == champion.id else 0.0)
        for text in draft.insights:
            often[text] += 1
            if text not in found or worth > found[text][0]:
                found[text] = (worth, node)
    kept = [text for text, (worth, _) in found.items() if worth > 0 or often[text] >= AGAIN]
    for text in sorted(kept, key=lambda text: (-found[text][0], -often[text], found[text][1].id))[:INSIGHTS]:
        worth, node = found[text]
        parents = node.pick.parents
        limits = taught.bottlenecks(taught.graph.nodes[parents[0]]) if parents else ()
        yield _note(taught, node, "insight", text, "said by whoever wrote it", confirmed=often[text] - 1, limits=limits)


def _failures(taught: Taught) -> Iterator[Note | None]:
    """Errors that came again and again and that nothing mended."""
    mended = {signature for signature, _, _ in _mendings(taught)}
    by_kind: dict[str, list[Node]] = {}
    for node, _ in _new(taught):
        assert node.evaluation is not None
        if failed(node.evaluation.outcome):
            by_kind.setdefault(signature_of(node.evaluation.outcome), []).append(node)
    kinds = [(s, nodes) for s, nodes in by_kind.items() if len(nodes) >= AGAIN and s not in mended]
    for signature, nodes in sorted(kinds, key=lambda each: (-len(each[1]), each[1][0].id))[:FAILURES]:
        last = nodes[-1]
        assert last.evaluation is not None
        tried = [d.approach or d.summary for n in nodes if isinstance(d := n.draft, Proposed)]
        lesson = f"Failed: {last.evaluation.outcome.reason}"
        more = f"came {len(nodes)} times and was not mended; tried: {'; '.join(filter(None, tried))}"
        yield _note(taught, last, "failure", lesson, more, signature=signature, limits=_limits(last))


def _repairs(taught: Taught) -> Iterator[Note | None]:
    first: dict[str, tuple[Node, Node]] = {}
    for signature, broken, right in _mendings(taught):
        first.setdefault(signature, (broken, right))
    for signature, (broken, right) in list(first.items())[:REPAIRS]:
        assert broken.evaluation is not None
        assert isinstance(broken.draft, Proposed)
        assert isinstance(right.draft, Proposed)
        before, after = taught.candidate(broken.draft.candidate), taught.candidate(right.draft.candidate)
        lesson = f"Mended by: {right.draft.approach or right.draft.summary or 'the change below'}"
        more = f"what failed: {broken.evaluation.outcome.reason}"
        yield _note(
            taught,
            right,
            "repair",
            lesson,
            more,
            signature=signature,
            limits=_limits(broken),
            change=taught.change(before, after),
        )


def _mendings(taught: Taught) -> Iterator[tuple[str, Node, Node]]:
    for node, _ in _new(taught):
        assert node.evaluation is not None
        if failed(node.evaluation.outcome) or not node.pick.parents:
            continue
        parent = taught.graph.nodes[node.pick.parents[0]]
        if parent.evaluation is not None and (signature := signature_of(parent.evaluation.outcome)):
            yield signature, parent, node


def _limits(node: Node) -> tuple[str, ...]:
    match node.evaluation.outcome if node.evaluation is not None else None:
        case BuildFailed():
            return ("build-error",)
        case Wrong():
            return ("numerics",)
        case _:
            return ()


def _note(
    taught: Taught,
    node: Node,
    kind: Lesson,
    lesson: str,
    more: str,
    *,
    effect: float = 0.0,
    confirmed: int = 0,
    signature: str = "",
    limits: tuple[str, ...] = (),
    change: str = "",
) -> Note | None:
    assert isinstance(node.draft, Proposed)
    text = _clean(lesson, taught.problem)
    if not text:
        return None
    language = taught.candidate(node.draft.candidate).language
    place = language if language not in PLAIN_LANGUAGES else taught.target.partition(":")[0]
    families = [family for family in signs_of(taught.problem).families if is_tag(family)]
    parts = [text, f"Solution {node.id} for {taught.problem.name}: {_clean(more, taught.problem)}."]
    timings = timings_of(node.evaluation.outcome) if node.evaluation else None
    speed = f"; {timings.speedup.estimate:.3f}x over {timings.baseline}" if timings else ""
    return Note(
        name=f"{FOLDER}/{kind}-{_slug(taught.problem.name)}-{digest((taught.run, node.id, kind, text))[:8]}",
        title=_short(text),
        text="\n\n".join([*parts, _quoted(covered(scrubbed(change, shapes=False), taught.problem))]).rstrip(),
        tags=tuple(dict.fromkeys((*families[: MOST_TAGS - 2], FOLDER, kind))),
        applies_to=tuple(dict.fromkeys((place, taught.target))),
        bottlenecks=limits,
        source=("measured",),
        date=taught.day,
        evidence=f"node {node.id} of run {taught.run} on {taught.target}{speed}",
        expires=until(taught.day),
        learned=Learned(
            kind=kind,
            run=taught.run,
            node=node.id,
            problem=taught.problem.name,
            target=taught.target,
            author=_clean(node.draft.author, taught.problem),
            effect=round(effect, 4),
            signature=signature,
            confirmed=confirmed,
        ),
    )


def _clean(text: str, problem: Problem) -> str:
    """One printable line of it, without keys and names of what is held out."""
    line = "".join(c if c.isprintable() else " " for c in covered(scrubbed(text, shapes=False), problem))
    return " ".join(line.split())[:LONGEST]


def _quoted(change: str) -> str:
    if not change:
        return ""
    lines = ("".join(c if c.isprintable() or c == "\t" else " " for c in line) for line in change.split("\n"))
    return "\n".join(f"    {line}" for line in lines)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 3].rstrip() + "..."


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:32].strip("-") or "problem"
