"""What a candidate was given, in words: its author may never have seen such values."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from kernwright.core.outcome import Crashed, TimedOut

from .ended import Ended
from .problem.cases import Case


def named(workload: str, case: Case) -> str:
    """What a candidate was given."""
    return f"workload {workload!r}, inputs {case.label}, seed {case.seed}"


@contextmanager
def naming(workload: str, case: Case) -> Iterator[None]:
    """Where a candidate does not survive this, the end names the case."""
    try:
        yield
    except Ended as ended:
        if isinstance(ended.outcome, Crashed | TimedOut):
            reason = f"{ended.outcome.reason}; given {named(workload, case)}"
            raise Ended(replace(ended.outcome, reason=reason)) from ended
        raise
