"""What pairs of messages, with K and with 2K calls each, say of one call."""

import math
from dataclasses import dataclass, replace
from statistics import median

BURST_NOISE_NS = 20_000
"""Standard deviation of what such a message takes beside its calls: about what one H200 showed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The judge's nanoseconds of whole messages; the calls of one begin when the judge lets them."""

    calls: int
    """K."""
    short_ns: tuple[float, ...]
    long_ns: tuple[float, ...]
    """As many, of 2K calls each."""
    copy_ns: float = 0.0
    """What each call takes longer because its results are copied away."""

    @property
    def slope_ns(self) -> float:
        """Time of a call: the median of (time for 2K calls - time for K calls) / K, less the copy."""
        return median(self._slopes()) - self.copy_ns

    @property
    def slope_doubt_ns(self) -> float:
        """Thrice its standard error."""
        slopes = self._slopes()
        middle = median(slopes)
        spread = 1.4826 * median(abs(slope - middle) for slope in slopes)  # of a normal distribution, by its quartiles
        # A few slopes may agree by chance; what a message takes is not known better than this.
        return 3 * max(spread, math.sqrt(2) * BURST_NOISE_NS / self.calls) / math.sqrt(len(slopes))

    @property
    def beside_ns(self) -> float:
        """What a message takes beside its calls: twice the time for K calls less that for 2K."""
        return median(2 * short - long for short, long in zip(self.short_ns, self.long_ns, strict=True))

    def seen_ns(self, usual_ns: float) -> tuple[float, float]:
        """Time of a call and thrice its standard error, where a message takes `usual_ns` beside its calls.

        The larger of two estimates. A slope alone says nothing of work that takes as long in every message, however
        many calls that holds; the whole of a long message does, and is as uncertain as `usual_ns` is too.
        """
        whole = (median(self.long_ns) - usual_ns) / (2 * self.calls) - self.copy_ns
        # Of the long message's median, and of 2 T(K) - T(2K), whose variance is five times that of a message.
        whole_doubt = 3 * BURST_NOISE_NS * math.sqrt(6 / len(self.long_ns)) / (2 * self.calls)
        found = (self.slope_ns, self.slope_doubt_ns), (whole, whole_doubt)
        return max(found, key=lambda each: each[0] - each[1])

    def and_further(self, other: "Pairs") -> "Pairs":
        """These and others of the same K."""
        return replace(self, short_ns=self.short_ns + other.short_ns, long_ns=self.long_ns + other.long_ns)

    def _slopes(self) -> list[float]:
        return [(long - short) / self.calls for short, long in zip(self.short_ns, self.long_ns, strict=True)]
