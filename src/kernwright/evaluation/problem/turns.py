"""Alternatives one after the other: of two axes both come in three workloads, of which chance leaves one out once in
eight times; a kernel that is wrong along that one alone would be found seven times of eight."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Turns:
    """Of one evaluation, over its workloads; where each begins only the judge knows."""

    def __init__(self) -> None:
        self._count: dict[str, int] = {}

    def begin_anew(self) -> None:
        """For another evaluation: else each workload could have the same alternative in all of them."""
        self._count.clear()

    def next(self, what: str, alternatives: Sequence[T], rng: random.Random) -> T:
        """The alternative whose turn it is in this kind of choice."""
        if what not in self._count:
            self._count[what] = rng.getrandbits(16)
        self._count[what] += 1
        return alternatives[self._count[what] % len(alternatives)]
