"""The best kernels of earlier runs on the same or a like problem, for a new run to begin with."""

from collections.abc import Iterator, Sequence

from kernwright.core.events import RunStarted, Seed
from kernwright.core.graph import fold, speedup_of
from kernwright.core.outcome import Verified
from kernwright.core.problem import Problem
from kernwright.core.spec import OperatorSpec, RunSpec
from kernwright.knowledge.problems import likeness, signs_of
from kernwright.store.codec import decode_candidate
from kernwright.store.sql import SqlStore

from .written import languages_for

NAME = "earlier"
SEEDS = 2
"""Kernels that a run begins with at most: each costs an evaluation."""
LATEST = 300
"""Runs that are looked at, the newest."""
FOLDED = 12
"""Runs like this one whose journals are read."""
LEAST = 0.2
"""The likeness from which on a kernel is worth an evaluation: half of the sizes may be four times apart."""


def seeds_for(store: SqlStore, spec: RunSpec, problem: Problem) -> tuple[Seed, ...]:
    """Verified and faster there, in a language that suits here; the likest problem first, then the fastest.

    None unless the run remembers others.
    """
    if spec.memory != "on":
        return ()
    languages = languages_for(spec.target, spec.languages)
    found: dict[str, Seed] = {}
    for run, alike in _like(store, spec, problem):
        graph = fold(store.events(run))
        best = graph.champion()
        if best is None or best.candidate is None or best.evaluation is None:
            continue
        outcome, speedup = best.evaluation.outcome, speedup_of(best) or 0.0
        if not isinstance(outcome, Verified) or not outcome.timings.faster:
            continue
        if _language(store, best.candidate) not in languages:
            continue
        seed = Seed(candidate=best.candidate, run=run, node=best.id, speedup=speedup, likeness=alike)
        old = found.get(seed.candidate)
        if old is None or old.likeness < seed.likeness:
            found[seed.candidate] = seed
    return tuple(sorted(found.values(), key=lambda seed: (-seed.likeness, -seed.speedup))[:SEEDS])


def with_seeds(operators: Sequence[OperatorSpec]) -> tuple[OperatorSpec, ...]:
    """The operators with the one that proposes seeds behind what a person gave, before all else."""
    given = [each for each in operators if each.name == "given"]
    return (*given, OperatorSpec(name=NAME), *(each for each in operators if each.name != "given"))


def _like(store: SqlStore, spec: RunSpec, problem: Problem) -> Sequence[tuple[str, float]]:
    """Runs on a like problem for the same kind of device, the likest first, then the newest."""
    platform, signs = spec.target.partition(":")[0], signs_of(problem)
    found: list[tuple[float, int, str]] = []
    for age, (run, begun) in enumerate(_beginnings(store)):
        if begun.spec.target.partition(":")[0] != platform or begun.problem.entry != problem.entry:
            continue
        alike = 1.0 if begun.problem.id == problem.id else 0.99 * likeness(signs_of(begun.problem), signs)
        if begun.spec.target != spec.target:
            alike *= 0.9
        if alike >= LEAST and _no_stricter(begun.problem, problem):
            found.append((-alike, age, run))
    return [(run, -alike) for alike, _, run in sorted(found)[:FOLDED]]


def _beginnings(store: SqlStore) -> Iterator[tuple[str, RunStarted]]:
    """Newest first."""
    for run in reversed(store.runs()[-LATEST:]):
        first = store.first(run)
        if first is not None and isinstance(first.event, RunStarted):
            yield run, first.event


def _no_stricter(there: Problem, here: Problem) -> bool:
    """Whether a kernel that obeyed the rules there obeys the plainest of those here; the judge decides on all."""
    return here.rules.vendor_libraries == "allowed" or there.rules.vendor_libraries == "forbidden"


def _language(store: SqlStore, blob: str) -> str:
    return decode_candidate(store.get(blob)).language
