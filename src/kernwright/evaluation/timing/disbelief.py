"""When a runner's clock is not believed at all; without torch, so that whoever checks evidence asks the same."""

from collections.abc import Sequence
from statistics import median

SLACK_NS = 25_000
"""What one message may take longer than usual before its sample counts with the judge's clock."""
UNBELIEVABLE = 0.2
"""A clock that shows less than this share of what the judge saw is not slow copying but a lie."""


def disbelieved(shown_ns: Sequence[float], seen_ns: Sequence[float], usual_ns: float) -> str | None:
    """A sentence where the judge's clock contradicts what a participant's calls show.

    `seen_ns` are of whole messages; `usual_ns` is what of a trusted participant's is not the call.
    """
    shown = median(shown_ns)
    # The least of them: a wake-up that was slow is not the candidate's doing.
    least = min(seen_ns) - usual_ns
    if least > SLACK_NS and shown < UNBELIEVABLE * least:
        return f"the runner's clock shows {shown / 1e3:.1f} µs a call where the judge's saw {least / 1e3:.1f} µs"
    return None
