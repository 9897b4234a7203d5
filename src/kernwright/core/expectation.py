"""What the writer of a candidate expects of it, in figures that a profiler can see, and whether that came."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .counters import named

Verdict = Literal["came", "partly", "not", "opposite", "unseen"]
"""`unseen`: the figure was not counted before or after, or the sentence names none."""

ENOUGH, SOME = 0.5, 0.1
"""Shares of the expected change: from the first on it came, from the second on some of it did."""
MOST = 3
"""Expectations that one proposal may state."""
LONGEST = 120
_CHANGE = re.compile(r"^(?P<name>.+?)[\s:]*(?P<sign>[-+\u2212\u2013])\s*(?P<number>\d+(?:\.\d+)?)\s*%\s*[.;]?$")
_TIMES = re.compile(r"^(?P<name>.+?)[\s:]*(?:x|\u00d7)\s*(?P<number>\d+(?:\.\d+)?)\s*[.;]?$")
_FROM_TO = re.compile(r"^(?P<name>.+?)[\s:]+(?P<old>\d+(?:\.\d+)?)\s*(?:->|to)\s*(?P<new>\d+(?:\.\d+)?)\s*[.;]?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One sentence such as `DRAM bytes -30 %`; `counter` is empty where it names none that there is."""

    text: str
    counter: str = ""
    change: float = 0.0
    """-0.3 for thirty per cent less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What became of an expectation."""

    expectation: Expectation
    verdict: Verdict
    before: float | None = None
    after: float | None = None


def expectation_of(text: str) -> Expectation:
    """Reads `NAME -30 %`, `NAME x2` and `NAME 168 -> 96`; anything else stays a sentence."""
    text = " ".join(text.split())[:LONGEST]
    for pattern, change in ((_CHANGE, _signed), (_TIMES, _times), (_FROM_TO, _from_to)):
        found = pattern.match(text)
        if found and (name := named(found["name"].strip(" *_`"))):
            value = change(found)
            if value is not None and value != 0 and -1.0 <= value <= 1e6:
                return Expectation(text=text, counter=name, change=value)
    return Expectation(text=text)


def seen_of(expected: Expectation, before: Mapping[str, float], after: Mapping[str, float]) -> Seen:
    """Whether it came, by figures of the parent and of the child."""
    old, new = before.get(expected.counter), after.get(expected.counter)
    if not expected.counter or old is None or new is None or (old == 0 and new == 0):
        return Seen(expectation=expected, verdict="unseen", before=old, after=new)
    share = (new / old - 1.0) / expected.change if old else (1.0 if expected.change > 0 else -1.0)
    verdict: Verdict = "came" if share >= ENOUGH else "partly" if share >= SOME else "not"
    return Seen(expectation=expected, verdict="opposite" if share <= -SOME else verdict, before=old, after=new)


def _signed(found: re.Match[str]) -> float | None:
    return float(found["number"]) / 100 * (1 if found["sign"] == "+" else -1)


def _times(found: re.Match[str]) -> float | None:
    return float(found["number"]) - 1.0


def _from_to(found: re.Match[str]) -> float | None:
    old, new = float(found["old"]), float(found["new"])
    return new / old - 1.0 if old else None
