"""Whether the device kept its pace while it timed: drift, clocks that fell, throttling."""

import re
from collections.abc import Iterator, Mapping, Sequence

from kernwright.core.outcome import Timings

FALLEN = 0.98
"""A clock below this share of what it was has fallen; less is how clocks are counted."""


def unsteady(conditions: Sequence[Mapping[str, str]], timings: Timings) -> Iterator[str]:
    """A sentence on each way in which it did not. `conditions` of the device, in the order in which they were seen."""
    if timings.drift:
        margin = timings.speedup.low - 1
        held = "" if abs(timings.drift) < margin else ", more than the speedup's lower bound is above 1"
        yield f"drift: the baseline's own times changed by {timings.drift:+.1%} over a race{held}"
    for name in dict.fromkeys(name for condition in conditions for name in condition if name.endswith("clock")):
        rates = [rate for condition in conditions if (rate := _number(condition.get(name, ""))) is not None]
        falls = [(high, low) for i, high in enumerate(rates) for low in rates[i + 1 :] if low < FALLEN * high]
        if falls:
            high, low = max(falls, key=lambda fall: fall[0] / fall[1])
            yield f"clocks: the {name} fell from {high:g} to {low:g} MHz while kernels were timed"
    reasons = dict.fromkeys(c["throttled"] for c in conditions if c.get("throttled", "no") != "no")
    held_back = [reason for reason in reasons if not reason.startswith("not told")]
    if held_back:
        yield f"throttling: the device held itself back ({'; '.join(held_back)})"


def _number(text: str) -> float | None:
    found = re.match(r"[0-9]+(?:\.[0-9]+)?", text)
    return float(found[0]) if found else None
