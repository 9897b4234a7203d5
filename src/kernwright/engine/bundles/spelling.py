"""Whether a part is just what Kernwright writes of it: no key more, none less, nothing of another type."""

import json
import re
from collections.abc import Iterator
from typing import Any

from kernwright.core.jobs import JUDGE_VERSION

from .facts import Refused, plain

VERSION = re.compile("[1-9][0-9]{,5}")
"""Of the judge."""
FIELDS_SINCE = {
    "evaluation.outcome.timings.drift": 4,
    "evaluation.outcome.timings.workloads[].floor_ns": 4,
    "evaluation.failed_baselines": 6,
    "evaluation.profile": 6,
    "plan.sanitize": 6,
    "plan.short_sets": 7,
}
"""By the first version of the judge all of whose bundles have them; those of an older one may go without. Every other
field was there before there were bundles."""


def version_in(evaluation: Any) -> int:
    """The judge's, of a part that may be anything; today's where it states none."""
    stated = evaluation.get("judge_version") if isinstance(evaluation, dict) else None
    return int(stated if isinstance(stated, str) and VERSION.fullmatch(stated) else JUDGE_VERSION)


def dumped(value: Any, *, finite: bool = True) -> str:
    """Canonical JSON; ValueError for a number that is not finite where all have to be."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=not finite)


def require_whole(part: str, given: Any, kept: Any, version: int) -> None:
    """`kept` is what was decoded of a part, encoded again.

    Raises:
        Refused: a lenient decoder has passed over something, changed it or made it up, and would show that to nobody.
    """
    if dumped(given) == dumped(kept, finite=False):
        return
    where = ""
    for where, field in _faults(given, kept, part):
        if field is None:
            raise Refused(part, f"{where} is unknown there or of another type than was expected")
        if version >= FIELDS_SINCE.get(field, 0):
            raise Refused(part, f"{where} is missing, and what is at its default was expected to be stated too")
    if not where:
        raise Refused(part, "it is not spelt as Kernwright writes it")


def _faults(given: Any, kept: Any, where: str) -> Iterator[tuple[str, str | None]]:
    """Places, and for what is missing there its name in `FIELDS_SINCE`."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for key, value in given.items():
            place = f"{where}.{plain(key)}"
            yield from _faults(value, kept[key], place) if key in kept else [(place, None)]
        for key in sorted(kept.keys() - given.keys()):
            place = f"{where}.{plain(key)}"
            yield place, re.sub(r"\[\d+\]", "[]", place)
    elif isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        for i, (a, b) in enumerate(zip(given, kept, strict=True)):
            yield from _faults(a, b, f"{where}[{i}]")
    elif type(given) is not type(kept) or given != kept:
        yield where, None
