"""A part of a whole that was counted, and how far it may be off."""

from dataclasses import dataclass

from scipy.stats import binomtest


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportion:
    """A part of those counted, with Wilson's 95 % score interval; None where there was nothing to count."""

    count: int
    of: int
    share: float | None
    low: float | None
    high: float | None


def share_of(count: int, of: int) -> Proportion:
    """`count` of `of` things."""
    if not of:
        return Proportion(count=0, of=0, share=None, low=None, high=None)
    bounds = binomtest(count, of).proportion_ci(0.95, method="wilson")
    return Proportion(count=count, of=of, share=count / of, low=float(bounds.low), high=float(bounds.high))


def shown(value: Proportion) -> str:
    """`70.0 % [39.7 %, 89.2 %]`."""
    if value.share is None or value.low is None or value.high is None:
        return "-"
    return f"{value.share:.1%} [{value.low:.1%}, {value.high:.1%}]".replace("%", " %")
