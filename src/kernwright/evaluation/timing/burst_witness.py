"""What many calls in one message say of a short call, whatever its runner's clock shows."""

import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median

from kernwright.core.ports import DeviceSession
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.problem.setting import Setting

from .bursts import Bursts, Keep, slope_ns
from .pairs import Pairs
from .race import KeepOf, Race
from .witness import LONG_NS, kept_busy, with_clock

SHORT_NS, MESSAGE_NS, CALLS = 5_000_000, 3_000_000, (2, 64)
"""Below this, calls are also counted in long messages where the judge's clock sees one alone well enough: what hides
beside a longer one is little of it. What the shorter of two messages takes, about; least and most of its calls."""
IN_A_ROW, SURELY_NS, SURELY = 1.25, 5_000, 5
"""Calls in a row, whose inputs are in caches, may take so many times as long as alone; and how often what contradicts
that is looked at again."""
WARMER, WARMER_NS = 1.06, 500
"""Calls that follow each other may take so much longer than one alone, beside what a baseline's do: the device gets
hot."""
UNTOLD, UNTOLD_NS = 0.15, 3_000
"""What long messages may leave untold of a call, as a share of it and beside that."""
GAINED = 0.03
"""Whoever shows to be faster by less than this share of a call is told of no more exactly than others."""
TOLD, SPARED, SPARED_NS = 0.2, 0.25, 250
"""Shares of a gain: so exactly must be told of a call that shows it, and so much of it may be missing in long messages;
and what may be missing beside."""
AGAIN = 6
"""Times that further long messages are sent where they contradict the samples, or tell little: others' work on the
machine lengthens some."""
LATER, LATER_S = 2, 0.5
"""Times that all of them are sent anew, and after what pause, before a clock is not believed: others' work ends."""
LAUNCH_NS, QUEUED, FINE, FINE_PAIRS = 2_000, 400, (8, 64), 4
"""A launch takes a device no less than this, so that so many of them, in calls of two copies each, can be queued: least
and most K, and pairs of messages, that tell of a call of such a length."""
ANEW = 2
"""Times that both are sent messages with memory anew where a candidate's say that it takes longer; the second, and
before the first the candidate alone, where only the whole of them does.

By where its inputs and results lie a message takes now 30 µs more, now less, on an H100, and seldom 200 µs, as much
each time for as long as they lie there; and a device that has become hot since a baseline's were sent takes longer over
a candidate's.
"""
SAID_NS = 50
"""What is charged beyond this is said."""
STANDARD, MOST_STANDARD = 9, 36
"""Pairs of long messages to a baseline, and how many there may be for the sake of a gain: what they say bears on
everyone who follows."""


def short_call_excess(race: Race, candidate: Participant, trusted: Participant, setting: Setting) -> str | None:
    """For calls below 5 ms: whether the time per call in long messages contradicts the samples, which it bounds then.

    A message takes as long beside its call as several short calls, and a harness that the candidate has made faster
    leaves it that time to work in. In a row its calls share one message.
    """
    shown = median(race.times_ns(candidate.name))
    if shown >= SHORT_NS:
        return None
    calls = int(min(max(MESSAGE_NS / shown, CALLS[0]), CALLS[1]))
    true, most = math.inf, IN_A_ROW * shown + SURELY_NS
    for _ in range(SURELY):  # others' work on the machine lengthens some
        seen = slope_ns(candidate, setting, calls=calls, compared=True)
        overhead = slope_ns(trusted, setting, calls=calls) - median(race.times_ns(trusted.name)) if seen > most else 0.0
        true = min(true, seen - max(overhead, 0.0))
        if true <= most:
            return None
    if _hides(shown, true):
        return _doubt(shown, true)
    late = true - shown
    why = (
        f"{candidate.name} counts {late / 1e3:.1f} µs more than the {shown / 1e3:.1f} µs that its calls show: in "
        f"messages of up to {2 * calls} calls each takes {true / 1e3:.1f} µs"
    )
    race.charges[candidate.name] = late, why
    race.clocks[candidate.name] = [with_clock(c, "device_ns", c.device_ns + late) for c in race.clocks[candidate.name]]
    return None


def count_bursts(
    races: Sequence[Race], racers: Sequence[Participant], rng: random.Random, session: DeviceSession, keep: KeepOf
) -> list[str | None]:
    """Where messages are noisy: the time per call in long messages bounds the samples of a short call.

    Such calls follow each other, so they take no longer than those that were timed alone. The clock of one that
    does is not believed: its time becomes that in long messages, and what a call of the fastest baseline takes
    longer alone. The same holds for one that gains on that, where long messages show less of its gain than
    they would if its calls took as much longer or shorter in a row as the baseline's. One that takes more
    than twice as long as it shows is doubtful altogether, unless its calls were not queued before they began: then the
    host's work is part of what they took, and counts. Whoever keeps the host so busy that few calls fit into a message,
    and little can be told of them, is charged with what cannot.

    Returns what is doubtful about the first racer on each workload. Its messages come last: it may leave work on the
    device, which messages to others must not bear. `keep` takes results of some of its calls.
    """
    watched = [racer for racer in racers if racer.name not in races[0].baselines]
    if all(median(race.times_ns(racer.name)) >= LONG_NS for race in races for racer in watched):
        return [None] * len(races)
    if busy := kept_busy(session):
        return [busy] * len(races)
    known = _known(racers)
    looks = [[_look(race, racer, racers, rng, session) for race in races] for racer in watched]
    found: list[str | None] = []
    idle = _known(racers) == known  # nothing was sent since
    for racer, own in reversed(list(zip(watched, looks, strict=True))):
        if busy := None if idle else kept_busy(session):
            _forget(racers)
            return [busy] * len(races)
        idle = False
        found = [
            _counted(race, racer, look, rng, session, partial(keep, race, racer))
            for race, look in zip(races, own, strict=True)
        ]
    return found


def _known(racers: Sequence[Participant]) -> list[int]:
    """How many pairs of messages to baselines are known."""
    return [sum(len(pairs.long_ns) for pairs in racer.pairs.values()) for racer in racers]


def _forget(racers: Sequence[Participant]) -> None:
    """What messages said while the device had other work."""
    for racer in racers:
        racer.pairs.clear()


def _counted(
    race: Race,
    participant: Participant,
    look: "_Look | None",
    rng: random.Random,
    session: DeviceSession,
    keep: Keep,
) -> str | None:
    if look is None:
        return None
    shown, sent = look.shown, _patiently_sent(race, participant, look, rng, session, keep)
    if look.contradicted_beside(sent):
        sent = _patiently_sent(race, participant, look, rng, session, keep)
    for again in range(ANEW):
        if not look.contradicted(sent) or (again and not look.contradicted_beside(sent)):
            break
        if busy := kept_busy(session):
            return busy
        look = _anew(race, look, rng, session)
        sent = _patiently_sent(race, participant, look, rng, session, keep)
    seen, doubt = sent.seen_ns(look.usual)
    if look.doubted(sent):
        return _doubt(shown, seen)
    late = max(0.0, doubt - look.untold)
    if look.contradicted(sent):
        # Its clock is not believed, so what is uncertain about the judge's is not to its good either.
        most = seen + doubt + max(0.0, look.usual.slope_doubt_ns - look.longer(sent))
        late = max(late, (1 + GAINED) * most - shown)
    if late >= SAID_NS:
        why = (
            f"{participant.name} counts {late / 1e3:.1f} µs more than the {shown / 1e3:.1f} µs that its calls show: in "
            f"long messages of up to {2 * sent.calls} calls each takes {seen / 1e3:.1f} ± {doubt / 1e3:.1f} µs"
        )
        race.charges[participant.name] = late, why if sent.queued else f"{why} with its host's work"
    # Below this no single sample is believed: a clock that lies now and then has an honest median.
    least = (seen - doubt - WARMER_NS) / look.warmer(sent)
    clocks = race.clocks[participant.name]
    race.clocks[participant.name] = [with_clock(c, "device_ns", max(c.device_ns + late, least)) for c in clocks]
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What samples show of a call, in nanoseconds, and what long messages may say of it."""

    shown: float
    alone: float
    """What a call of the fastest baseline takes."""
    usual: Pairs
    """What long messages to that one say."""
    most: int
    """Of K, by memory and by its length."""
    baseline: Participant
    """The fastest."""

    @property
    def gained(self) -> float:
        """By how much a call shows to be faster than the baseline's; below 0 where it is slower."""
        return self.alone - self.shown

    @property
    def gains(self) -> bool:
        """Whether there is a gain that is worth a closer look."""
        return self.gained > GAINED * self.shown

    def longer(self, sent: Pairs) -> float:
        """What a call of the baseline takes longer in a row than alone; may be less than nothing.

        The host's work, which is part of that where its calls could not be queued, lengthens nobody's that could.
        """
        return self.usual.slope_ns - self.alone if self.usual.queued or not sent.queued else 0.0

    def warmer(self, sent: Pairs) -> float:
        """The most that calls in a row may take, as a share of one alone."""
        return WARMER * max(1.0, 1 + self.longer(sent) / self.alone)

    def contradicted(self, sent: Pairs) -> bool:
        """Whether long messages say that a call takes longer, or gains less, than its samples show."""
        return self._too_long(sent, *sent.seen_ns(self.usual))

    def contradicted_beside(self, sent: Pairs) -> bool:
        """Whether they say so, and what further calls of a message take does not."""
        return self.contradicted(sent) and not self._too_long(sent, sent.slope_ns, sent.slope_doubt_ns)

    def _too_long(self, sent: Pairs, seen: float, doubt: float) -> bool:
        most = self.warmer(sent) * self.shown + WARMER_NS
        if self.gained > 0:
            longer = self.longer(sent) + self.usual.slope_doubt_ns
            with_its_gain = self.shown + max(longer, longer * self.shown / self.alone)
            most = min(most, with_its_gain + SPARED * self.gained + SPARED_NS)
        return seen - doubt > most

    def doubted(self, sent: Pairs) -> bool:
        """Whether a call takes so much longer in them that nothing of its clock is believed."""
        seen, doubt = sent.seen_ns(self.usual)
        return sent.queued and _hides(self.shown, seen - doubt)

    def told(self, sent: Pairs) -> bool:
        """Whether long messages leave so little untold of a call that no others are sent."""
        _, doubt = sent.seen_ns(self.usual)
        if self.gains:  # a few slopes may agree by chance
            doubt = max(doubt, sent.least_doubt_ns(self.usual))
        return doubt <= (self._tells if sent.calls < self.most else self.untold)

    def likely_tells(self, calls: int, repeats: int) -> bool:
        """Whether messages of so many calls would leave as little untold, were they as noisy as the baseline's."""
        most = self._tells if calls < self.most else self.untold
        return not self.gains or self.usual.least_doubt_ns(self.usual, calls, repeats) <= most

    @property
    def _tells(self) -> float:
        """The most that may be left untold of a call where longer messages could tell more."""
        most = UNTOLD * self.shown + UNTOLD_NS
        return min(most, TOLD * self.gained) if self.gains else most

    @property
    def untold(self) -> float:
        """What may be left untold of a call without being charged.

        Who gains has to be told of as exactly as most others would be: a host said to be slow makes messages short.
        """
        most = UNTOLD * self.shown + UNTOLD_NS
        if not self.gains:
            return most
        calls = min(max(int(QUEUED / (self.shown / LAUNCH_NS + 2)), FINE[0]), FINE[1], self.most)
        usually = self.usual.least_doubt_ns(self.usual, calls, FINE_PAIRS)
        return min(most, max(TOLD * self.gained, usually))


def _look(
    race: Race, racer: Participant, racers: Sequence[Participant], rng: random.Random, session: DeviceSession
) -> _Look | None:
    """None for long calls. Long messages go to a baseline once in its life, and again where a gain asks for more."""
    index, shown = race.setting.index, median(race.times_ns(racer.name))
    if shown >= LONG_NS:
        return None
    baselines = race.baselines & set(race.stayed())
    times = {other: median(race.times_ns(other.name)) for other in racers if other.name in baselines}
    fastest = min(times, key=times.__getitem__)
    known = fastest.pairs.get(index)
    with Bursts(fastest, race.setting, times[fastest], rng, session, usual=known) as bursts:
        usual = known or bursts.first(lambda calls, repeats: False, STANDARD)  # as many as there may be
        look = _Look(shown=shown, alone=times[fastest], usual=usual, most=bursts.most_of(shown), baseline=fastest)
        while look.gains and look.usual.slope_doubt_ns > TOLD * look.gained and len(look.usual.long_ns) < MOST_STANDARD:
            look = replace(look, usual=look.usual.and_further(bursts.further(look.usual, STANDARD)))
    fastest.pairs[index] = look.usual
    return look


def _anew(race: Race, look: _Look, rng: random.Random, session: DeviceSession) -> _Look:
    """With other messages to the baseline, whose memory lies elsewhere; they stay what is known of it."""
    baseline, repeats = look.baseline, len(look.usual.long_ns)
    with Bursts(baseline, race.setting, look.alone, rng, session, usual=look.usual) as bursts:
        usual = bursts.first(lambda calls, repeats: False, repeats)
    baseline.pairs[race.setting.index] = usual
    return replace(look, usual=usual)


def _patiently_sent(
    race: Race, participant: Participant, look: _Look, rng: random.Random, session: DeviceSession, keep: Keep
) -> Pairs:
    """Sent anew where a clock would not be believed: others' work ends."""
    with Bursts(participant, race.setting, look.shown, rng, session, keep=keep, usual=look.usual) as messages:
        sent = _sent(look, messages)
        for _ in range(LATER):
            if not look.doubted(sent) or look.contradicted_beside(sent):
                break
            time.sleep(LATER_S)
            sent = _sent(look, messages)
    return sent


def _sent(look: _Look, bursts: Bursts) -> Pairs:
    """As many long messages as are needed to tell enough of a call, or to accuse nobody without need.

    Others' processes lengthen messages for some tenths of a second, as they start or end. So those that come after
    count alone where they contradict nothing: whoever hides work hides it beside each of them.
    """
    sent, grows = bursts.first(look.likely_tells), True
    for again in range(AGAIN):
        if not look.contradicted(sent) and look.told(sent):
            break
        if again and look.contradicted_beside(sent) and not sent.restless:
            break  # so would be others, while memory lies where it does
        longer = bursts.longer(sent) if grows else sent
        grows = longer is not sent
        if grows:
            sent = longer
            continue
        further = bursts.further(sent)
        alone = look.contradicted(sent) and not look.contradicted(further)
        sent = further if alone else sent.and_further(further)
    return sent


def _hides(shown: float, true: float) -> bool:
    return true > 2 * shown + 5_000


def _doubt(shown: float, true: float) -> str:
    return f"samples show {shown / 1e3:.1f} µs a call, but many calls in one message take {true / 1e3:.1f} µs each"
