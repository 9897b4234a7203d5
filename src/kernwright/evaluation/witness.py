"""The judge's clock as the second witness of the runner's."""

from dataclasses import replace
from statistics import median

from .participant import Clocks, Participant
from .setting import Setting
from .timing import Race, slope_ns

SLACK_NS = 25_000
"""What a message may take longer for one participant than for another."""
SLACK_SHARE = 0.03
"""The same as a share of the call, for long calls."""
SHORT_NS = 50_000
"""Below this the slack could hide most of a call, so calls are counted in one message."""
UNBELIEVABLE = 0.2
"""A clock that shows less than this share of what the judge saw is not slow copying but a lie."""


def settle_clocks(race: Race, candidate: str, trusted: str) -> str | None:
    """Replace the candidate's times by the judge's where the judge saw more than the message's share.

    A message holds the call, the copy of its outputs and two wake-ups. The trusted participant's median
    of what is not the call is what this takes; whatever exceeds it in the candidate's messages counts
    as its time. Returns a sentence when the runner's clock cannot be believed at all.
    """
    usual = median(c.judge_ns - c.device_ns for c in race.clocks[trusted])
    own = race.clocks[candidate]
    excess = median(c.judge_ns - c.device_ns for c in own) - usual
    call = median(c.judge_ns for c in own) - usual
    if excess <= max(SLACK_NS, SLACK_SHARE * call):
        return None
    shown = median(c.device_ns for c in own)
    race.clocks[candidate] = [_synchronised(c, usual) for c in own]
    if shown < UNBELIEVABLE * call:
        return f"the runner's clock shows {shown / 1e3:.1f} µs a call where the judge's saw {call / 1e3:.1f} µs"
    return None


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


def _synchronised(clocks: Clocks, usual: float) -> Clocks:
    seen = max(clocks.judge_ns - usual, clocks.device_ns, 1.0)
    return replace(clocks, device_ns=seen, call_ns=max(seen, clocks.call_ns))
