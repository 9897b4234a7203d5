"""Samples of all who take part on one workload, and when there are enough of them."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

import torch

from kernwright.core.outcome import Samples
from kernwright.core.plan import Plan
from kernwright.evaluation.participants.given import Drop
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.problem.cases import Values
from kernwright.evaluation.problem.setting import Setting

from .clocks import Clocks
from .statistics import ABBA, block_log_ratios, blocks_wanted
from .summary import NEAR


@dataclass(slots=True)
class Race:
    """Samples of all participants on one workload in one process set."""

    setting: Setting
    baselines: frozenset[str]
    """Participants whose code is the problem's own: their clocks are trusted."""
    clocks: dict[str, list[Clocks]] = field(default_factory=dict)
    flushes_ns: list[float] = field(default_factory=list)
    """What emptying the caches took, which others' work on the device would slow down."""
    drops: dict[str, list[Drop]] = field(default_factory=dict)
    """By participant: what giving back a result took, where that was a message of its own."""
    went_on_ns: dict[str, list[float]] = field(default_factory=dict)
    """By participant: processor time that it had after its replies, until it stood still."""
    charges: dict[str, tuple[float, str]] = field(default_factory=dict)
    """By participant: nanoseconds that its calls count longer than they show, and why."""
    mixed: dict[int, str] = field(default_factory=dict)
    """Blocks whose values differ in part from the generator's, and in what way."""

    def times_ns(self, participant: str) -> list[float]:
        """Device times in the order taken."""
        return [c.device_ns for c in self.clocks[participant]]

    def stayed(self) -> list[str]:
        """Who took part to the end; others' times are of another while, when all may have been quicker."""
        most = max(map(len, self.clocks.values()), default=0)
        return [name for name, clocks in self.clocks.items() if len(clocks) == most]

    def trusted(self) -> str:
        """Beside whose times others' are looked at: the first baseline that took part to the end."""
        stayed = self.stayed()
        return next(name for name in self.clocks if name in self.baselines and name in stayed)

    def any_kind(self, rng: random.Random) -> str | None:
        """In what way the values of some block of those so far differ from the generator's."""
        blocks = len(next(iter(self.clocks.values()))) // ABBA
        return self.mixed.get(rng.randrange(max(1, blocks)))

    def samples(self, process_set: int) -> list[Samples]:
        """The raw record."""
        return [
            Samples(
                participant=name,
                workload=self.setting.workload.name,
                process_set=process_set,
                device_ns=tuple(c.device_ns for c in clocks),
                call_ns=tuple(c.call_ns for c in clocks if c.call_ns is not None),
                judge_ns=tuple(c.judge_ns for c in clocks),
            )
            for name, clocks in self.clocks.items()
        ]


KeepOf = Callable[[Race, Participant, Values, list[torch.Tensor], str | None], None]
"""Takes what a participant's call was given, what it gave, and in what way the values differ from the generator's."""


def but_for_slow_baselines(race: Race, racers: Sequence[Participant]) -> list[Participant]:
    """Those whose further times may matter: a baseline that was never near the fastest one will not become it."""
    known = {racer.name: race.times_ns(racer.name) for racer in racers if racer.name in race.baselines}
    best = min(map(median, known.values()), default=0.0)
    return [racer for racer in racers if min(known.get(racer.name, [0.0])) <= NEAR * best]


def settled_after(race: Race, plan: Plan) -> int:
    """After how many blocks the interval against the fastest other participant is as narrow as the plan asks, by the
    spread of those that were taken; at most `plan.max_blocks`."""
    candidate, *others = race.stayed()
    if not others:
        return plan.blocks
    fastest = min(others, key=lambda name: median(race.times_ns(name)))
    ratios = block_log_ratios(race.times_ns(candidate), race.times_ns(fastest))
    return min(blocks_wanted(ratios, plan.half_width), plan.max_blocks)


def samples_of(sets: Sequence[Sequence[Race]]) -> list[Samples]:
    """All samples of these process sets' races."""
    return [sample for number, races in enumerate(sets) for race in races for sample in race.samples(number)]
