"""What the writer of a candidate expects of it, in figures that a profiler can see, and whether that came."""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .counters import named, shown

Verdict = Literal["came", "partly", "not", "opposite", "unseen"]
"""`unseen`: there is nothing to compare; `Seen.why` says why."""

TIME = "time_ns"
ALL = "all"
"""In place of a workload's name."""

ENOUGH, SOME = 0.5, 0.1
"""Shares of the expected change: from the first on it came, from the second on some of it did."""
MOST = 3
"""Expectations that one proposal may state."""
LONGEST = 120
_EXAMPLES = {
    "dram_bytes": "DRAM bytes -30 %",
    "registers": "registers 168 -> 96",
    "instructions": "instructions -20 %",
    "code_instructions": "code size -30 %",
    "loops_missed": "scalar loops -50 %",
}
"""By what has to be counted for them, the most telling first."""
MOST_EXAMPLES = 2
_MARKS = " *_`'\""
_CHANGE = re.compile(r"^(?P<name>.+?)[\s:]*(?P<sign>[-+\u2212\u2013])\s*(?P<number>\d+(?:\.\d+)?)\s*%\s*[.;]?$")
_TIMES = re.compile(r"^(?P<name>.+?)[\s:]*(?:x|\u00d7)\s*(?P<number>\d+(?:\.\d+)?)\s*[.;]?$")
_PLACED = re.compile(r"\s+(?:of|on|for|in|at)\s+|\s*\((?=.*\)$)")
_FROM_TO = re.compile(r"^(?P<name>.+?)[\s:]+(?P<old>\d+(?:\.\d+)?)\s*(?:->|to)\s*(?P<new>\d+(?:\.\d+)?)\s*[.;]?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One sentence such as `DRAM bytes -30 %`; `counter` is empty where it names none that there is."""

    text: str
    counter: str = ""
    change: float = 0.0
    """-0.3 for thirty per cent less."""
    workload: str = ""
    """The one that is named. Where none is, a time is over all, any other figure of the one that was watched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What there is to compare of one candidate."""

    figures: Mapping[str, float] = field(default_factory=dict)
    workload: str = ""
    """The one that was watched."""
    times_ns: Mapping[str, float] = field(default_factory=dict)
    """By workload, of one evaluation."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """By workload."""
    plan: str = ""
    """Under which the times were taken."""

    def value_of(self, expected: Expectation) -> float | None:
        """The figure that it speaks of; None where it was not counted."""
        named = "" if expected.workload == ALL else expected.workload
        if expected.counter != TIME:
            return self.figures.get(expected.counter) if named in ("", self.workload) else None
        return self.times_ns.get(named) if named else self._mean_ns()

    def _mean_ns(self) -> float | None:
        """Over all workloads, the weighted geometric mean: its ratios are those of speedups."""
        whole = sum(self.weights.get(name, 1.0) for name in self.times_ns)
        if not whole or min(self.times_ns.values()) <= 0:
            return None
        return math.exp(sum(self.weights.get(n, 1.0) * math.log(t) for n, t in self.times_ns.items()) / whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What became of an expectation."""

    expectation: Expectation
    verdict: Verdict
    before: float | None = None
    after: float | None = None
    why: str = ""
    """Of what is `unseen`."""


def examples(counted: Collection[str]) -> tuple[str, ...]:
    """How to say it where these figures are counted; times always are."""
    return (*[text for name, text in _EXAMPLES.items() if name in counted][:MOST_EXAMPLES], f"time on {ALL} -20 %")


def expectation_of(text: str) -> Expectation:
    """Reads `NAME -30 %`, `NAME x2` and `NAME 168 -> 96`, where NAME may end in `on WORKLOAD` or `on all`.

    Anything else stays a sentence.
    """
    text = " ".join(text.split())[:LONGEST]
    for pattern, change in ((_CHANGE, _signed), (_TIMES, _times), (_FROM_TO, _from_to)):
        found = pattern.match(text)
        if found and (meant := _meant(found["name"].strip(" *_`"))):
            value = change(found)
            if value is not None and value != 0 and -1.0 <= value <= 1e6:
                return Expectation(text=text, counter=meant[0], change=value, workload=meant[1])
    return Expectation(text=text)


def seen_of(expected: Expectation, before: Sight, after: Sight) -> Seen:
    """Whether it came, by figures of the parent and of the child."""
    if not expected.counter:
        return Seen(expectation=expected, verdict="unseen", why="it names no figure that there is, and by how much")
    old, new = before.value_of(expected), after.value_of(expected)
    if why := _incomparable(expected, before, after, old, new):
        return Seen(expectation=expected, verdict="unseen", before=old, after=new, why=why)
    assert old is not None
    assert new is not None
    share = (new / old - 1.0) / expected.change if old else (1.0 if expected.change > 0 else -1.0)
    if shown(expected.counter, old) == shown(expected.counter, new):
        share = 0.0
    verdict: Verdict = "came" if share >= ENOUGH else "partly" if share >= SOME else "not"
    return Seen(expectation=expected, verdict="opposite" if share <= -SOME else verdict, before=old, after=new)


def _incomparable(expected: Expectation, before: Sight, after: Sight, old: float | None, new: float | None) -> str:
    """Why these figures say nothing of what was expected; empty where they do."""
    name, where = expected.counter, expected.workload
    if name == TIME and before.times_ns and after.times_ns:
        if before.plan != after.plan:
            return f"it was timed under plan {before.plan!r} before and under {after.plan!r} after"
        if where not in ("", ALL) and where not in after.times_ns:
            return f"there is no workload {where!r}; the timed ones are: {', '.join(after.times_ns)}"
    elif name != TIME and where not in ("", ALL, before.workload, after.workload):
        return f"counters are of workload {after.workload or before.workload or 'none'!r} alone"
    if old is None or new is None:
        return f"nothing counted it {'before' if new is not None else 'after' if old is not None else 'here'}"
    nothing = shown(name, 0.0)
    return f"it was {nothing} before and after" if shown(name, old) == shown(name, new) == nothing else ""


def _meant(text: str) -> tuple[str, str] | None:
    """A counter and the workload that is named with it, if any; None where there is no such counter."""
    if name := named(text):
        return name, ""
    for found in _PLACED.finditer(text):
        if name := named(text[: found.start()].strip(_MARKS)):
            where = text[found.end() :].removesuffix(")").strip(_MARKS).removeprefix("workload ").strip(_MARKS)
            return name, ALL if where.lower() in (ALL, "all workloads", "every workload") else where
    return None


def _signed(found: re.Match[str]) -> float | None:
    return float(found["number"]) / 100 * (1 if found["sign"] == "+" else -1)


def _times(found: re.Match[str]) -> float | None:
    return float(found["number"]) - 1.0


def _from_to(found: re.Match[str]) -> float | None:
    old, new = float(found["old"]), float(found["new"])
    return new / old - 1.0 if old else None
