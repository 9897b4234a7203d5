"""The judge's clock as the second witness of the runners'."""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, median, quantiles
from time import monotonic, perf_counter_ns, sleep
from typing import Literal

from kernwright.core.ports import DeviceSession

from .clocks import Clocks
from .disbelief import SLACK_NS, disbelieved
from .race import Race

Clock = Literal["device_ns", "call_ns"]
CLOCKS: tuple[Clock, ...] = ("device_ns", "call_ns")
Pair = tuple[float, float]
"""Nanoseconds of one call: as its runner shows it, and as the judge saw the whole message."""
SLACK_SHARE = 0.03
"""The same as a share of the call, for long calls."""
LONG_NS = 20_000_000
"""From here on the noise of one message is small beside a call, on any device."""
MESSAGE_NOISE_NS = 1_000_000
"""Messages between contexts of a device differ by so much for reasons of its own: they take turns on it."""
DISTURBED, DISTURBED_NS = 3.0, 1_000_000
"""Two contexts that both have work take turns of milliseconds."""
FLUSHES, PAUSE_S, PATIENCE_S = 40, 0.0002, 0.5
"""Tries that see whether a device is idle, the time between them, and how long it is waited for that."""


def settle_clocks(race: Race, trusted: str, untrusted: str, *, charge: bool = True) -> str | None:
    """Make the judge's clock the bound of every runner's.

    A message holds the call, the copy of its outputs and two wake-ups; the trusted participant's median of
    what is not the call is what this usually takes. A sample whose message took longer than any of the
    trusted participant's counts with the judge's clock less the usual share, whoever it belongs to. What the
    rest of a candidate's messages take longer, by mean or by median, is added to its samples, so that nothing can be
    hidden below the slack or in the noise of a busy machine; not so where messages are too noisy to `charge` anyone,
    and `burst_witness` looks closer.
    Returns a sentence when the untrusted clock cannot be believed at all.
    """
    doubts = [_settle(race, trusted, untrusted, clock, charge=charge) for clock in CLOCKS]
    return next((doubt for doubt in doubts if doubt is not None), None)


def contradicted(race: Race, untrusted: str) -> bool:
    """Whether the judge's clock says that this one's cannot be believed, as it is before clocks are settled."""
    return any(_doubt(race, race.trusted(), untrusted, clock) for clock in CLOCKS)


def _doubt(race: Race, trusted: str, untrusted: str, clock: Clock) -> str | None:
    pairs = _pairs(race.clocks[untrusted], clock)
    if not pairs:  # nobody looked at it
        return None
    shown, seen = zip(*pairs, strict=True)
    return disbelieved(shown, seen, _usual(_pairs(race.clocks[trusted], clock)))


def _usual(trusted: list[Pair]) -> float:
    """What of a message is not the call."""
    return median(seen - shown for shown, seen in trusted)


def _settle(race: Race, trusted: str, untrusted: str, clock: Clock, *, charge: bool) -> str | None:
    doubt = _doubt(race, trusted, untrusted, clock)
    pairs = {name: _pairs(clocks, clock) for name, clocks in race.clocks.items()}
    usual = _usual(pairs[trusted])
    known = _excess(pairs[trusted], usual)
    for name, clocks in race.clocks.items():
        trusts = name in race.baselines
        bounded = _bounded(pairs[name], usual, known, trusts) if charge else _shifted(pairs[name], usual, known, trusts)
        # Where a clock was not looked at everywhere, the first have it.
        race.clocks[name] = [with_clock(c, clock, v) for c, v in zip(clocks, bounded, strict=False)] + clocks[
            len(bounded) :
        ]
    return doubt


def disturbed(race: Race, alone_ns: float) -> str | None:
    """Whether the device was at work between the calls, when all its users were stopped."""
    return _busy(median(race.flushes_ns), alone_ns, "between calls") if alone_ns and race.flushes_ns else None


def kept_busy(session: DeviceSession) -> str | None:
    """Whether the device is at work now, when all its users are stopped; it has some time to end what it was left."""
    end = monotonic() + PATIENCE_S
    while session.flush_ns:
        taken: list[float] = []
        for _ in range(FLUSHES):
            start = perf_counter_ns()
            session.flush()
            session.settle()
            taken.append(perf_counter_ns() - start)
            sleep(PAUSE_S)
        # Not the median: work may come and go. Others' processes that start may disturb some.
        doubt = _busy(quantiles(taken, n=4)[2], session.flush_ns, "after the timed calls")
        if doubt is None or monotonic() > end:
            return doubt
    return None


def _busy(shown: float, alone_ns: float, when: str) -> str | None:
    if shown <= DISTURBED * alone_ns + DISTURBED_NS:
        return None
    return (
        f"emptying the caches took {shown / 1e3:.0f} µs {when} where it takes {alone_ns / 1e3:.0f} µs: "
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


def with_clock(clocks: Clocks, clock: Clock, value: float) -> Clocks:
    """These with another time of one clock, and with none that cannot be beside it."""
    value = max(value, 1.0)
    if clock == "call_ns":
        return replace(clocks, call_ns=max(value, clocks.device_ns))
    call_ns = None if clocks.call_ns is None else max(value, clocks.call_ns)
    return replace(clocks, device_ns=value, call_ns=call_ns)
