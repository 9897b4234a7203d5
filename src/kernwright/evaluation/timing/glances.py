"""Looks among the timed calls at what changes nowhere else: weights, inputs that are the same in every draw, and
results that were given before."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median, stdev

from kernwright.core.outcome import CheckResult
from kernwright.core.problem import Rules
from kernwright.evaluation.checks.fresh_constants import FreshConstants, constants
from kernwright.evaluation.checks.fresh_weights import FreshWeights
from kernwright.evaluation.checks.held_result import HeldResult
from kernwright.evaluation.participants.laying_out import SETS
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.trial import Trial

from .clocks import Clocks
from .race import Race
from .statistics import ABBA
from .track import Track

SUDDEN, LEAST = 0.125, 3
"""How often a block of samples is followed by a look, and how often in a race at the least."""
SOME, PART = 0.5, 0.3
"""Share of the looks in which some of the weights stay as they are, and of the others in which part of each does. What
takes longer after these tells nothing: a part is soon made anew."""
SLOWER, SURE = 1.15, 12
"""A call right after its weights changed may take so many times as long as those that are timed do in the median. Of a
candidate that is no slower then, one in two of these calls is; where the first are slower, there are so many. One may
be quick by chance, where others had the machine while samples were taken. Each comes with a call of somebody else's,
which a machine that is slower by then makes slower too, and with one of the candidate's, which a faster one makes
faster."""
LUCKY, SURELY = 1, 2.0
"""So many calls may be quick by chance; and so many standard errors are counted on top of what is charged."""
WEIGHTS = ("its weights", "as where weights are kept in another form, which the rules forbid")
INPUTS = (
    "an input that is the same in every draw, or one of few, or a symmetric one",
    "as where what was made of it is kept",
)
Charge = tuple[float, str]
"""Nanoseconds, and why."""
Look = Callable[[Trial], CheckResult]
Require = Callable[[Look, Trial], None]


@dataclass(slots=True)
class _Turns:
    """Calls right after all of something changed altogether."""

    what: tuple[str, str]
    """What changed, and of whom it is said that calls are slower then."""
    after: list[Clocks] = field(default_factory=list)
    beside: list[Clocks] = field(default_factory=list)
    """Calls of somebody else's between these, once all samples are taken."""
    kept: list[Clocks] = field(default_factory=list)
    """Calls of the candidate's own before and between these, with everything as it was."""
    written: list[Clocks] = field(default_factory=list)
    """The same right after the weights that it has were written anew, which puts them out of a processor's caches."""


@dataclass(slots=True)
class _Seen:
    """Of one race."""

    race: Race
    blocks: frozenset[int]
    """Those of the plan that are followed by a look; nobody outside knows which."""
    constants: list[int]
    held: tuple[int, int]
    """After which block a result is kept, and after which it must still be what it was."""
    keeper: Trial | None = None
    """Of the call whose result is kept."""
    weights: "_Turns" = field(default_factory=lambda: _Turns(WEIGHTS))
    inputs: "_Turns" = field(default_factory=lambda: _Turns(INPUTS))


class Glances:
    """Looks at one candidate, in calls that nothing sets apart from those that are timed."""

    def __init__(self, rng: random.Random, rules: Rules, track: Track, require: Require) -> None:
        """`track`: whose races these are; `require` ends the judgement of a candidate that fails a check."""
        self._rng, self._rules, self._track, self._require = rng, rules, track, require
        self._blocks = track.plan.blocks
        self._seen: dict[int, _Seen] = {}

    def after_block(self, race: Race, candidate: Participant) -> None:
        """Perhaps a look; whichever fails ends the judgement.

        Raises:
            Ended: a result does not follow.
        """
        seen = self._of(race) or self._begun(race)
        block = len(race.clocks[candidate.name]) // ABBA - 1
        self._hold(seen, block, race, candidate)
        if not (block in seen.blocks or (block >= self._blocks and self._rng.random() < SUDDEN)):
            return
        if seen.weights.after and self._rng.random() < SOME:
            self._require(FreshWeights().glance_at_some, self._trial(race, candidate))
        elif seen.weights.after and self._rng.random() < PART:
            self._require(FreshWeights().glance, self._trial(race, candidate))
        else:
            self._look(FreshWeights().glance_at_all, race, candidate, seen.weights)
        if seen.constants:
            self._look(FreshConstants().glance_at_all, race, candidate, seen.inputs)
            self._require(FreshConstants().verify, self._trial(race, candidate))

    def _hold(self, seen: _Seen, block: int, race: Race, candidate: Participant) -> None:
        """Keep a result, or look at the one that was kept."""
        if block == seen.held[0]:
            seen.keeper = self._trial(race, candidate)
            seen.keeper.keep_another()
        if block == seen.held[1] and seen.keeper is not None:
            self._require(HeldResult().verify, seen.keeper)

    def later(self, race: Race, candidate: Participant, trusted: Participant) -> list[Charge]:
        """What each call counts longer where all that follow new weights, or new values of what draws have alike, take
        longer than those that are timed: then, and only then, it does what each call has to do, unless the rules allow
        to keep weights in another form.

        Raises:
            Ended: a result does not follow.
        """
        seen = self._of(race)
        if seen is None:
            return []
        looks = [] if self._rules.prepack else [(FreshWeights().glance_at_all, seen.weights)]
        looks.append((FreshConstants().glance_at_all, seen.inputs))
        charges = [self._slower_after(look, turns, race, candidate, trusted) for look, turns in looks]
        return [charge for charge in charges if charge is not None]

    def _slower_after(
        self, look: Look, turns: _Turns, race: Race, candidate: Participant, trusted: Participant
    ) -> Charge | None:
        if not turns.after:
            return None
        # Of other places or lengths a call may have more to do, whoever makes it.
        together = turns.what is WEIGHTS and any(weight.together for weight in race.setting.followed.values())
        turns.kept += [self._track.again(race, candidate) for _ in range(0 if together else LEAST)]
        for _ in range(SURE):
            if len(turns.after) >= SURE or _slower(race, candidate, turns) is None:
                break
            self._look(look, race, candidate, turns)
            if turns.what is WEIGHTS and any(weight.together for weight in race.setting.followed.values()):
                # Of other places or lengths a call may have more to do, whoever makes it.
                look(trial := self._trial(race, trusted))
                turns.beside += [trial.latest] if trial.latest is not None else []
            else:
                turns.beside.append(self._track.again(race, trusted))
                if turns.what is WEIGHTS:
                    trusted.reweigh(race.setting.index)
                    turns.written.append(self._track.again(race, trusted))
            self._track.again(
                race, candidate
            )  # with everything as it is, so that this and the next change are new to it
            turns.kept.append(self._track.again(race, candidate))
        return _slower(race, candidate, turns, trusted) if len(turns.after) >= SURE else None

    def _look(self, look: Look, race: Race, candidate: Participant, turns: _Turns) -> None:
        trial = self._trial(race, candidate)
        self._require(look, trial)
        if trial.latest is not None:
            turns.after.append(trial.latest)

    def _trial(self, race: Race, candidate: Participant) -> Trial:
        chosen = self._rng.randrange(SETS)
        clock, guise = self._track.session.clocks[0], self._track.guise(race, candidate)
        return Trial(race.setting, candidate, self._rules, self._rng, chosen, clock=clock, guise=guise)

    def _of(self, race: Race) -> _Seen | None:
        """Nothing of an earlier race on the same workload."""
        seen = self._seen.get(race.setting.index)
        return seen if seen is not None and seen.race is race else None

    def _begun(self, race: Race) -> _Seen:
        count = min(self._blocks, max(LEAST, round(SUDDEN * self._blocks)))
        blocks = range(self._blocks)
        held = sorted(self._rng.sample(blocks, min(2, self._blocks)))
        looks, settled = frozenset(self._rng.sample(blocks, count)), constants(race.setting)
        self._seen[race.setting.index] = seen = _Seen(race, looks, settled, (held[0], held[-1]))
        return seen


def _slower(race: Race, candidate: Participant, turns: _Turns, trusted: Participant | None = None) -> Charge | None:
    """By how much it is in the middle, or a little more than chance explains, and that in words, where even the quick
    ones are; by more than the machine is, and than weights that were written anew explain, where a `trusted` one tells
    that."""
    found, (changed, kept) = None, turns.what
    for name in ("judge_ns", "device_ns"):
        usual, quick = _expected(_middle, race, candidate, turns, name), _quick(turns.after, name)
        quick_usual, middle = (_expected(each, race, candidate, turns, name, trusted) for each in (_quick, _middle))
        longer = _middle(turns.after, name) - middle + SURELY * _unsure(turns.after, name)
        if quick > SLOWER * quick_usual and longer > (found[0] if found else 0.0):
            found = (
                longer,
                f"{candidate.name} counts {longer / 1e3:.0f} µs more than its calls show: right after {changed} "
                f"changed all calls but {LUCKY} took {quick / 1e3:.0f} µs or more, and half of the others "
                f"{usual / 1e3:.0f} or less, {kept}",
            )
    return found


def _expected(
    each: Callable[[Sequence[Clocks], str], float],
    race: Race,
    candidate: Participant,
    turns: _Turns,
    name: str,
    trusted: Participant | None = None,
) -> float:
    """What a call of the candidate's should take right after a change: as long as in the middle of those that were
    timed, on a machine that is by then as slow as a trusted one says, or of those between the looks, when others may
    have left it; and as much longer as new weights make the trusted one."""
    usual, longer = _middle(race.clocks[candidate.name], name), 0.0
    if trusted is not None and turns.beside:
        now = each(turns.beside, name)
        usual *= max(1.0, now / _middle(race.clocks[trusted.name], name))
        longer = max(0.0, each(turns.written, name) - now) if turns.written else 0.0
    if turns.kept:
        usual = min(usual, _middle(turns.kept, name))
    return usual + longer


def _quick(clocks: Sequence[Clocks], name: str) -> float:
    """The second of all, in their order."""
    return float(sorted(getattr(each, name) for each in clocks)[: LUCKY + 1][-1])


def _unsure(clocks: Sequence[Clocks], name: str) -> float:
    """Standard error of their middle, as of normal numbers."""
    times = [float(getattr(each, name)) for each in clocks]
    return math.sqrt(math.pi / 2 / len(times)) * stdev(times) if len(times) > 1 else 0.0


def _middle(clocks: Sequence[Clocks], name: str) -> float:
    return float(median(getattr(each, name) for each in clocks))
