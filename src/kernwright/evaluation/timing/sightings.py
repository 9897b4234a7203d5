"""What looks into calls of one kind found, and how likely a kernel within the limit is found so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .places import Place, is_vendor

LARGEST_SHARE = 0.3
"""Of a call's time in vendors' libraries: more than the tenth asked of operators, for allocating counts."""
OVERHEAD_NS = 10_000
"""What a call may take of them beside that: making a tensor, asking for its size."""


@dataclass(slots=True)
class Sightings:
    """Looks into calls of one kind: all have the same limit."""

    of: str = ""
    """Which calls these are, as it follows "calls"; empty where there are no others."""
    overhead: float = 0.0
    """Part of the shortest call that making tensors may take."""
    seen: Counter[tuple[Place, ...]] = field(default_factory=Counter)
    """By where the threads were."""

    def shown(self, shown_ns: float) -> None:
        """So long are these calls, by the shortest."""
        self.overhead = max(self.overhead, OVERHEAD_NS / max(shown_ns, 1.0))

    @property
    def looks(self) -> int:
        """How many there were."""
        return self.seen.total()

    @property
    def limit(self) -> float:
        """Of these calls' time in vendors' libraries."""
        return min(0.95, LARGEST_SHARE + self.overhead)

    def found(self, filling: frozenset[int]) -> int:
        """Looks that found vendors at work, where `filling` are functions that only fill memory."""
        return sum(count for places, count in self.seen.items() if vendors(places, filling))

    def only_fill(self, filling: frozenset[int]) -> int:
        """Looks that found vendors' libraries in such functions alone."""
        there = {places: n for places, n in self.seen.items() if any(is_vendor(each.path) for each in places)}
        return sum(count for places, count in there.items() if not vendors(places, filling))

    def names(self, filling: frozenset[int]) -> str:
        """The libraries that were found at work most often."""
        names = Counter[str]()
        for places, count in self.seen.items():
            names.update({Path(each.path).name: count for each in vendors(places, filling)[:1]})
        return ", ".join(name for name, _ in names.most_common(4))

    def chance(self, filling: frozenset[int]) -> float:
        """That a kernel at the limit is found in vendors' libraries so often."""
        found = self.found(filling)
        return _tail(found, self.looks, self.limit) if self.looks and found / self.looks > self.limit else 1.0


def together(each: Iterable[Sightings]) -> Sightings:
    """All of them as one, whose limit is the largest of theirs: who is within his everywhere is within it."""
    pool = Sightings()
    for sightings in each:
        pool.overhead = max(pool.overhead, sightings.overhead)
        pool.seen += sightings.seen
    return pool


def vendors(places: Sequence[Place], filling: frozenset[int]) -> list[Place]:
    """Where threads had others' work done.

    One is enough for a look, else others that only keep busy would be a way to hide it.
    """
    return [each for each in places if is_vendor(each.path) and each.function not in filling]


def _tail(found: int, looks: int, limit: float) -> float:
    from scipy.stats import binomtest

    return float(binomtest(found, looks, limit, alternative="greater").pvalue)
