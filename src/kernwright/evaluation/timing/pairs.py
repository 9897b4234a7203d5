"""What pairs of messages, with few and with 2K calls, say of one call."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

BURST_NOISE_NS = 20_000
"""Standard deviation of what such a message takes beside its calls: about what one H200 showed."""
RESTLESS = 2.0
"""So many times as noisy as usual are messages while others' processes start or end, and lengthen some of them."""
LEAST_CALLS, FEW_SHARE = 2, 4
"""A shorter message has the latter's share of half of a longer one's calls, and no fewer than the former."""
UNSTEADY_NS = 10_000_000
"""Messages longer than this, as of two calls of 5 ms, vary by more: with clocks, and by per cents of their length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The judge's nanoseconds of whole messages; the calls of one begin when the judge lets them."""

    calls: int
    """K: half of those of a longer message."""
    short_ns: tuple[float, ...]
    """Of messages with `few_of` K calls."""
    long_ns: tuple[float, ...]
    """As many, of 2K calls each."""
    copy_ns: float = 0.0
    """What each call takes longer because its results are copied away."""
    queued: bool = True
    """Whether all calls were queued when they began: else the host's work is part of the time of some messages."""

    @property
    def slope_ns(self) -> float:
        """Time of a call: the median of what a longer message takes longer, over its further calls, less the copy."""
        return median(self._slopes()) - self.copy_ns

    @property
    def slope_doubt_ns(self) -> float:
        """Thrice its standard error."""
        slopes = self._slopes()
        # A few slopes may agree by chance; what a message takes is not known better than this.
        return 3 * max(_spread(slopes), math.sqrt(2) * BURST_NOISE_NS / self._further) / math.sqrt(len(slopes))

    @property
    def noise_ns(self) -> float:
        """Standard deviation of what one message takes beside its calls, as it was seen."""
        return max(BURST_NOISE_NS, _spread(self._slopes()) * self._further / math.sqrt(2))

    @property
    def restless(self) -> bool:
        """Whether they differ by more than messages usually do: others' work comes and goes."""
        return self.noise_ns > RESTLESS * BURST_NOISE_NS

    def least_doubt_ns(self, usual: "Pairs", calls: int = 0, repeats: int = 0) -> float:
        """`slope_doubt_ns` where messages are as noisy as `usual` ones: a few slopes may agree by chance.

        Of so many `calls` and `repeats`, where others are asked about than these have.
        """
        further = _further_of(calls or self.calls)
        return 3 * math.sqrt(2) * usual.noise_ns / further / math.sqrt(repeats or len(self.long_ns))

    @property
    def beside_ns(self) -> float:
        """What a message takes beside its calls: that for few calls less their slope, and not below 0."""
        return max(0.0, median(self._besides()))

    @property
    def beside_doubt_ns(self) -> float:
        """Thrice its standard error: by a message's noise, or by what was seen where messages are much longer.

        Only there: on a busy machine what a candidate's own few calls leave untold is held against it, not the noise.
        """
        besides = self._besides()
        # Of T(few) less few slopes, where a slope is (T(2K) - T(few)) / (2K - few).
        noise = math.hypot(2 * self.calls, few_of(self.calls)) / self._further * BURST_NOISE_NS
        if median(self.long_ns) > UNSTEADY_NS:
            noise = max(noise, _spread(besides))
        return 3 * noise / math.sqrt(len(besides))

    def seen_ns(self, usual: "Pairs") -> tuple[float, float]:
        """Time of a call and thrice its standard error, where a message takes beside its calls what `usual` ones do.

        The larger of two estimates. A slope alone says nothing of work that takes as long in every message, however
        many calls that holds; the whole of a long message does, and is as uncertain as what is usual is too.
        """
        whole = (median(self.long_ns) - usual.beside_ns) / (2 * self.calls) - self.copy_ns
        own_doubt = 3 * BURST_NOISE_NS / math.sqrt(len(self.long_ns))
        whole_doubt = math.hypot(own_doubt, usual.beside_doubt_ns) / (2 * self.calls)
        found = (self.slope_ns, self.slope_doubt_ns), (whole, whole_doubt)
        return max(found, key=lambda each: each[0] - each[1])

    def and_further(self, other: "Pairs") -> "Pairs":
        """These and others of the same K."""
        short_ns, long_ns = self.short_ns + other.short_ns, self.long_ns + other.long_ns
        return replace(self, short_ns=short_ns, long_ns=long_ns, queued=self.queued and other.queued)

    @property
    def _further(self) -> int:
        """Calls that a longer message has more than a shorter one."""
        return _further_of(self.calls)

    def _slopes(self) -> list[float]:
        return [(long - short) / self._further for short, long in zip(self.short_ns, self.long_ns, strict=True)]

    def _besides(self) -> list[float]:
        few = few_of(self.calls)
        return [short - few * slope for short, slope in zip(self.short_ns, self._slopes(), strict=True)]


def few_of(calls: int) -> int:
    """Calls of the shorter message of a pair whose longer one has twice so many `calls`.

    The fewer they are, the more exactly a pair tells what a call takes, and the less it takes itself: noise is a
    message's, not a call's. Not one alone, since nothing precedes it that keeps the device busy.
    """
    return max(min(LEAST_CALLS, calls), calls // FEW_SHARE)


def _further_of(calls: int) -> int:
    return 2 * calls - few_of(calls)


def _spread(values: Sequence[float]) -> float:
    """Standard deviation, were they normal, by the median deviation."""
    middle = median(values)
    return 1.4826 * median(abs(value - middle) for value in values)
