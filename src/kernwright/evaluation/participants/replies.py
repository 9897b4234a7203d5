"""What a runner's reply holds: numbers, names, and where results lie. None of it is believed as it stands."""

import secrets
from typing import Any

import torch

from kernwright.core.outcome import Crashed, Wrong
from kernwright.evaluation.ended import Ended
from kernwright.evaluation.runner.structure import PAGE

from .mappings import one_for_several
from .opened import Opened
from .reading import results, spans

LOOKED_AT_PAGES = 4
"""One result in so many is looked at for pages that lie at several addresses, which takes 1 ms of a large process."""
PAGES_SHARE = "it returned memory of which one page lies at several addresses, so that to write one part writes another"


def results_of(pid: int, reply: dict[str, Any], opened: Opened) -> list[torch.Tensor]:
    """Copies of what a call gave. Now and then it is seen whether each of its pages is one; nobody knows when."""
    specs = opened.setting.output_specs
    found = results(pid, reply, specs)
    nbytes = sum(each.numel() * each.element_size() for each in found)
    looked_at = nbytes > PAGE and opened.apart and secrets.randbelow(LOOKED_AT_PAGES) == 0
    if looked_at and one_for_several(pid, spans(reply, specs)):
        raise Ended(Wrong(reason=PAGES_SHARE))
    return found


def number(reply: dict[str, Any], key: str) -> float:
    """One that may be a time, in nanoseconds or as a share; raises Ended where it is none."""
    value = reply.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise Ended(Crashed(stage="call", log="", reason=f"the runner reported {key}={value!r:.100}, which is no time"))
    return float(value)


def texts(reply: dict[str, Any], key: str) -> list[str]:
    """A list of names, whatever the runner says."""
    said = reply.get(key)
    return [str(name)[:200] for name in said] if isinstance(said, list) else []
