"""The judge's clock as the second witness of the runners'."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, median
from typing import Literal

from kernwright.core.ports import DeviceSession

from .bursts import pairs, slope_ns
from .clocks import Clocks
from .disbelief import SLACK_NS, disbelieved
from .pairs import Pairs
from .participant import Participant
from .setting import Setting
from .timing import Race

Clock = Literal["device_ns", "call_ns"]
Pair = tuple[float, float]
"""Nanoseconds of one call: as its runner shows it, and as the judge saw the whole message."""
SLACK_SHARE = 0.03
"""The same as a share of the call, for long calls."""
SHORT_NS = 50_000
"""Below this, calls are also counted in one long message."""
LONG_NS = 20_000_000
"""From here on the noise of one message is small beside a call, on any device."""
MESSAGE_NOISE_NS = 1_000_000
"""Messages between contexts of a device differ by so much for reasons of its own: they take turns on it."""
WARMER, WARMER_NS = 1.06, 500
"""Calls that follow each other may take so much longer than one alone, beside what a trusted participant's do: the
device gets hot."""
DISTURBED, DISTURBED_NS = 3.0, 1_000_000
"""Two contexts that both have work take turns of milliseconds."""
UNTOLD, UNTOLD_NS = 0.15, 3_000
"""What long messages may leave untold of a call, as a share of it and beside that."""
GAINED, TOLD = 0.1, 0.5
"""Whoever shows to be faster by such a share of a call, or more, must be told of as exactly as this share of the gain:
else taking a fifth off a clock would be lost in the noise of long messages."""
AGAIN = 6
"""Times that further long messages are sent where they contradict the samples, or tell little: others' work on the
machine lengthens some."""
SAID_NS = 50
"""What is charged beyond this is said."""
STANDARD = 9
"""Pairs of long messages to a trusted participant."""


def settle_clocks(race: Race, trusted: str, untrusted: str, *, charge: bool = True) -> str | None:
    """Make the judge's clock the bound of every runner's.

    A message holds the call, the copy of its outputs and two wake-ups; the trusted participant's median of
    what is not the call is what this usually takes. A sample whose message took longer than any of the
    trusted participant's counts with the judge's clock less the usual share, whoever it belongs to. What the
    rest of a candidate's messages take longer, by mean or by median, is added to its samples, so that nothing can be
    hidden below the slack or in the noise of a busy machine; not so where messages are too noisy to `charge` anyone,
    and `count_bursts` looks closer.
    Returns a sentence when the untrusted clock cannot be believed at all.
    """
    doubts = [_settle(race, trusted, untrusted, clock, charge=charge) for clock in ("device_ns", "call_ns")]
    return next((doubt for doubt in doubts if doubt is not None), None)


def _settle(race: Race, trusted: str, untrusted: str, clock: Clock, *, charge: bool) -> str | None:
    pairs = {name: _pairs(clocks, clock) for name, clocks in race.clocks.items()}
    usual = median(seen - shown for shown, seen in pairs[trusted])
    shown, seen = zip(*pairs[untrusted], strict=True)
    known = _excess(pairs[trusted], usual)
    for name, clocks in race.clocks.items():
        trusts = name in race.baselines
        bounded = _bounded(pairs[name], usual, known, trusts) if charge else _shifted(pairs[name], usual, known, trusts)
        # Where a clock was not looked at everywhere, the first have it.
        race.clocks[name] = [_with(c, clock, v) for c, v in zip(clocks, bounded, strict=False)] + clocks[len(bounded) :]
    return disbelieved(shown, seen, usual)


def short_call_excess(race: Race, candidate: Participant, trusted: Participant, setting: Setting) -> str | None:
    """For calls below 50 µs: whether the time per call in long messages contradicts the samples."""
    shown = median(race.times_ns(candidate.name))
    if shown >= SHORT_NS:
        return None
    per_call = slope_ns(candidate, setting)
    overhead = slope_ns(trusted, setting) - median(race.times_ns(trusted.name))
    true = per_call - max(overhead, 0.0)
    if true > 2 * shown + 5_000:
        return f"samples show {shown / 1e3:.1f} µs a call, but many calls in one message take {true / 1e3:.1f} µs each"
    return None


def count_bursts(
    race: Race, participant: Participant, trusted: Participant, rng: random.Random, session: DeviceSession
) -> str | None:
    """Where messages are noisy: the time per call in long messages bounds the samples of a short call.

    Such calls follow each other, so they take no longer than those that were timed alone. The clock of one that
    does is not believed: its time becomes that in long messages, and what a `trusted` participant's call takes
    longer alone. One that takes more than twice as long as it shows is doubtful altogether. Whoever keeps the host
    so busy that few calls fit into a message, and little can be told of them, is charged with what cannot.
    """
    shown = median(race.times_ns(participant.name))
    if shown >= LONG_NS:
        return None
    gained = min(median(race.times_ns(name)) for name in (race.baselines & {*race.clocks})) - shown
    usual = _standard(race, trusted, rng, session)
    warmer = WARMER * max(1.0, usual.slope_ns / median(race.times_ns(trusted.name)))
    sent = pairs(participant, race.setting, shown, rng, session)
    for _ in range(AGAIN):
        if not _contradicted(shown, warmer, *sent.seen_ns(usual)) and _tell_enough(sent, usual, shown, gained):
            break
        sent = sent.and_further(pairs(participant, race.setting, shown, rng, session, calls=sent.calls))
    seen, doubt = sent.seen_ns(usual)
    if seen - doubt > 2 * shown + 5_000:
        return f"samples show {shown / 1e3:.1f} µs a call, but many calls in one message take {seen / 1e3:.1f} µs each"
    late = max(0.0, doubt - UNTOLD * shown - UNTOLD_NS)
    if _contradicted(shown, warmer, seen, doubt):
        # Its clock is not believed, so what is uncertain about the judge's is not to its good either.
        alone = max(0.0, median(race.times_ns(trusted.name)) - usual.slope_ns + usual.slope_doubt_ns)
        late = max(late, seen + doubt + alone - shown)
    if late >= SAID_NS:
        why = (
            f"{participant.name} counts {late / 1e3:.1f} µs more than the {shown / 1e3:.1f} µs that its calls show: in "
            f"long messages of up to {2 * sent.calls} calls each takes {seen / 1e3:.1f} ± {doubt / 1e3:.1f} µs"
        )
        race.charges[participant.name] = late, why
    clocks = race.clocks[participant.name]
    # Below this no single sample is believed: a clock that lies now and then has an honest median.
    least = (seen - doubt - WARMER_NS) / warmer
    race.clocks[participant.name] = [_with(c, "device_ns", max(c.device_ns + late, least)) for c in clocks]
    return None


def _tell_enough(sent: Pairs, usual: Pairs, shown: float, gained: float) -> bool:
    """Whether long messages leave so little untold of a call that no others are sent."""
    _, doubt = sent.seen_ns(usual)
    most = UNTOLD * shown + UNTOLD_NS
    if gained <= GAINED * shown:
        return doubt <= most
    return max(doubt, sent.least_doubt_ns(usual)) <= min(most, TOLD * gained)


def _contradicted(shown: float, warmer: float, seen: float, doubt: float) -> bool:
    return seen - doubt > warmer * shown + WARMER_NS


def _standard(race: Race, trusted: Participant, rng: random.Random, session: DeviceSession) -> Pairs:
    """What long messages to a trusted participant take; looked at once in its life."""
    index = race.setting.index
    if index not in trusted.pairs:
        shown = median(race.times_ns(trusted.name))
        repeats = STANDARD  # what they say bears on every participant that follows
        trusted.pairs[index] = pairs(trusted, race.setting, shown, rng, session, repeats, compared=False)
    return trusted.pairs[index]


def disturbed(race: Race, alone_ns: float) -> str | None:
    """Whether the device was at work between the calls, when all its users were stopped."""
    if not alone_ns or not race.flushes_ns:
        return None
    shown = median(race.flushes_ns)
    if shown <= DISTURBED * alone_ns + DISTURBED_NS:
        return None
    return (
        f"emptying the caches took {shown / 1e3:.0f} µs between calls where it takes {alone_ns / 1e3:.0f} µs: "
        "somebody kept the device busy"
    )


def _pairs(clocks: Sequence[Clocks], clock: Clock) -> list[Pair]:
    if clock == "device_ns":
        return [(c.device_ns, c.judge_ns) for c in clocks]
    return [(c.call_ns, c.judge_call_ns) for c in clocks if c.call_ns is not None and c.judge_call_ns is not None]


def _excess(pairs: list[Pair], usual: float) -> list[float]:
    return [seen - shown - usual for shown, seen in pairs]


def _bounded(pairs: list[Pair], usual: float, known: list[float], trusted: bool) -> list[float]:
    excess, worst = _excess(pairs, usual), max(known)
    slack = [max(SLACK_NS, SLACK_SHARE * (seen - usual), worst) for _, seen in pairs]
    small = [e for e, s in zip(excess, slack, strict=True) if e <= s]
    shift = 0.0 if trusted or not small else max(0.0, fmean(small) - fmean(known), median(small) - median(known))
    return [shown + (e if e > s else shift) for (shown, _), e, s in zip(pairs, excess, slack, strict=True)]


def _shifted(pairs: list[Pair], usual: float, known: list[float], trusted: bool) -> list[float]:
    """Where messages are noisy: what they take longer than the trusted's, beyond three standard errors of medians."""
    excess = _excess(pairs, usual)
    error = math.hypot(_median_error(excess), _median_error(known))
    late = median(excess) - median(known) - 3 * error
    shift = late if not trusted and late > MESSAGE_NOISE_NS else 0.0
    return [shown + shift for shown, _ in pairs]


def _median_error(values: list[float]) -> float:
    """Standard error of the median, were they normal: 1.2533 sigma / sqrt(n), sigma by the median deviation."""
    middle = median(values)
    return 1.2533 * 1.4826 * median(abs(value - middle) for value in values) / math.sqrt(len(values))


def _with(clocks: Clocks, clock: Clock, value: float) -> Clocks:
    value = max(value, 1.0)
    if clock == "call_ns":
        return replace(clocks, call_ns=max(value, clocks.device_ns))
    call_ns = None if clocks.call_ns is None else max(value, clocks.call_ns)
    return replace(clocks, device_ns=value, call_ns=call_ns)
