"""What a draft says of its candidate's knobs."""

from kernwright.core.candidate import Candidate, knobs_of
from kernwright.core.errors import UserError


def knob_names(candidate: Candidate) -> tuple[str, ...]:
    """Names of the knobs; none where their declaration is at fault, which the judge will say."""
    try:
        return tuple(knob.name for knob in knobs_of(candidate))
    except (UserError, ValueError):
        return ()
