"""The judge's clock as the second witness of the runners'."""

from dataclasses import replace
from statistics import fmean, median

from .participant import Clocks, Participant
from .setting import Setting
from .timing import Race, slope_ns

SLACK_NS = 25_000
"""What one message may take longer than usual before its sample counts with the judge's clock."""
SLACK_SHARE = 0.03
"""The same as a share of the call, for long calls."""
SHORT_NS = 50_000
"""Below this, calls are also counted in one long message."""
UNBELIEVABLE = 0.2
"""A clock that shows less than this share of what the judge saw is not slow copying but a lie."""


def settle_clocks(race: Race, trusted: str, untrusted: str) -> str | None:
    """Make the judge's clock the bound of every runner's.

    A message holds the call, the copy of its outputs and two wake-ups; the trusted participant's median of
    what is not the call is what this usually takes. A sample whose message took longer than any of the
    trusted participant's counts with the judge's clock less the usual share, whoever it belongs to. What the
    rest of a candidate's messages take longer on average is added to its samples, so that nothing can be
    hidden below the slack. Returns a sentence when the untrusted clock cannot be believed at all.
    """
    usual = median(c.judge_ns - c.device_ns for c in race.clocks[trusted])
    shown = median(c.device_ns for c in race.clocks[untrusted])
    # The least of them: a wake-up that was slow is not the candidate's doing.
    seen = min(c.judge_ns for c in race.clocks[untrusted]) - usual
    known = _excess(race.clocks[trusted], usual)
    for name in race.clocks:
        race.clocks[name] = _bounded(race.clocks[name], usual, known, charge=name not in race.baselines)
    if seen > SLACK_NS and shown < UNBELIEVABLE * seen:
        return f"the runner's clock shows {shown / 1e3:.1f} µs a call where the judge's saw {seen / 1e3:.1f} µs"
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


def _excess(clocks: list[Clocks], usual: float) -> list[float]:
    return [c.judge_ns - c.device_ns - usual for c in clocks]


def _bounded(clocks: list[Clocks], usual: float, known: list[float], *, charge: bool) -> list[Clocks]:
    excess, worst = _excess(clocks, usual), max(known)
    slack = [max(SLACK_NS, SLACK_SHARE * (c.judge_ns - usual), worst) for c in clocks]
    small = [e for e, s in zip(excess, slack, strict=True) if e <= s]
    shift = max(0.0, fmean(small) - fmean(known)) if charge and small else 0.0
    return [
        _with_device(c, c.device_ns + (e if e > s else shift)) for c, e, s in zip(clocks, excess, slack, strict=True)
    ]


def _with_device(clocks: Clocks, device_ns: float) -> Clocks:
    return replace(clocks, device_ns=max(device_ns, 1.0), call_ns=max(device_ns, clocks.call_ns))
