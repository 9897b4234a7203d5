"""From figures to bottlenecks, by the rules in `rules.toml`."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args

from kernwright.core.counters import COUNTERS, shown
from kernwright.core.diagnosis import Bottleneck, Diagnosis
from kernwright.core.expectation import Seen
from kernwright.core.outcome import BuildFailed, Evaluation, Wrong
from kernwright.core.profile import Profile

from .figures import figures_of
from .ledger import alike, expected_of, ledger, tallied

__all__ = ["Rule", "alike", "diagnose", "expected_of", "figures_of", "ledger", "rules", "tallied", "told"]

NOTES = 4
"""What a compiler says of the source, told with a diagnosis."""
_CONDITION = re.compile(r"^(\w+) (<|<=|>|>=) ([0-9.e]+)$")
_NAMES = re.compile(r"\{(\w+)\}")
_VERDICTS = {
    "came": "it came",
    "partly": "some of it came",
    "not": "it did not come",
    "opposite": "the opposite came",
    "unseen": "there is nothing to compare",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One entry of the file."""

    bottleneck: str
    when: tuple[tuple[str, str, float], ...]
    says: str
    source: str
    strength: str | float = 0.0
    hint: bool = False
    unless: tuple[tuple[str, str, float], ...] = ()
    """It says nothing where one of these was counted and holds."""

    def holds(self, figures: Mapping[str, float]) -> bool:
        """Whether every figure that it speaks of was counted and meets its condition."""
        named = _NAMES.findall(self.says)
        if any(name in figures and _compared(figures[name], how, limit) for name, how, limit in self.unless):
            return False
        return all(name in figures for name in named) and all(
            name in figures and _compared(figures[name], how, limit) for name, how, limit in self.when
        )

    def sentence(self, figures: Mapping[str, float]) -> str:
        """What it says of these figures."""
        return _NAMES.sub(lambda found: shown(found[1], figures[found[1]]), self.says)

    def strength_of(self, figures: Mapping[str, float]) -> float:
        """Where it stands among what is found."""
        return figures.get(self.strength, 0.0) if isinstance(self.strength, str) else self.strength


@cache
def rules() -> tuple[Sequence[Rule], Sequence[Rule]]:
    """Those that find, and those that rule out."""
    table = tomllib.loads((Path(__file__).parent / "rules.toml").read_text(encoding="utf-8"))
    return tuple(tuple(map(_rule, table[kind])) for kind in ("found", "ruled_out"))  # type: ignore[return-value]


def diagnose(
    profile: Profile | None, evaluation: Evaluation | None = None, expected: Sequence[Seen] = ()
) -> Diagnosis | None:
    """What the figures say; of a candidate that failed, what its failure says. None where neither says anything."""
    match evaluation.outcome if evaluation else None:
        case Wrong(reason=reason):
            return _spoken((("numerics", f"its results are wrong: {reason}"),), (), (), expected)
        case BuildFailed(reason=reason):
            return _spoken((("build-error", f"it does not build: {reason}"),), (), (), expected)
    if profile is None:
        return None
    figures = figures_of(profile, evaluation)
    finding, excluding = rules()
    excluded = {rule.bottleneck: rule.sentence(figures) for rule in reversed(excluding) if rule.holds(figures)}
    spoken = sorted((r for r in finding if r.holds(figures)), key=lambda r: -r.strength_of(figures))
    found: dict[str, str] = {}
    for rule in spoken:
        if not (rule.hint and rule.bottleneck in excluded):
            found.setdefault(rule.bottleneck, rule.sentence(figures))
    ruled_out = [(name, text) for name, text in excluded.items() if name not in found]
    if not (found or ruled_out or profile.notes or expected):
        return None
    return _spoken(tuple(found.items()), tuple(ruled_out), profile.notes[:NOTES], expected)


def _spoken(
    found: Sequence[tuple[str, str]],
    ruled_out: Sequence[tuple[str, str]],
    notes: Sequence[str],
    expected: Sequence[Seen],
) -> Diagnosis:
    lines = [f"{name}: {text}" for name, text in found] or ["no rule names a bottleneck"]
    lines += [f"not {name}: {text}" for name, text in ruled_out]
    lines += [f"the compiler says: {note}" for note in notes]
    lines += [told(seen) for seen in expected]
    return Diagnosis(
        bottlenecks=tuple(name for name, _ in found),
        evidence=tuple(text for _, text in found),
        ruled_out=tuple(f"{name}: {text}" for name, text in ruled_out),
        text="\n".join(lines),
        expected=tuple(expected),
    )


def told(seen: Seen) -> str:
    """An expectation and what became of it, in one line."""
    expected = f"expected was {seen.expectation.text!r}; {_VERDICTS[seen.verdict]}"
    if seen.verdict == "unseen" and seen.why:
        return f"{expected}: {seen.why}"
    if seen.before is None or seen.after is None:
        return expected
    name = seen.expectation.counter
    return f"{expected}: {shown(name, seen.before)} before, {shown(name, seen.after)} after"


def _compared(value: float, how: str, limit: float) -> bool:
    return {"<": value < limit, "<=": value <= limit, ">": value > limit, ">=": value >= limit}[how]


def _rule(entry: Mapping[str, object]) -> Rule:
    """Raises ValueError for an entry that could never speak, or that names a figure or class that is none."""
    name, says = str(entry["class"]), str(entry["says"])
    if name not in get_args(Bottleneck):
        raise ValueError(f"{name!r} is no class of bottlenecks")
    conditions, exceptions = _conditions(entry["when"]), _conditions(entry.get("unless", ()))
    strength = entry.get("strength", 0.0)
    assert isinstance(strength, str | float)
    spoken = [*(name for name, _, _ in (*conditions, *exceptions)), *_NAMES.findall(says)]
    for counter in [*spoken, *([strength] if isinstance(strength, str) else [])]:
        if counter not in COUNTERS:
            raise ValueError(f"{counter!r} is no figure that is counted")
    return Rule(
        bottleneck=name,
        when=conditions,
        unless=exceptions,
        says=says,
        source=str(entry["source"]),
        strength=strength,
        hint=bool(entry.get("hint", False)),
    )


def _conditions(texts: object) -> tuple[tuple[str, str, float], ...]:
    conditions = []
    for text in texts:  # type: ignore[attr-defined]
        found = _CONDITION.match(text)
        if found is None:
            raise ValueError(f"{text!r} is no condition; it should look like 'dram_busy >= 0.6'")
        conditions.append((found[1], found[2], float(found[3])))
    return tuple(conditions)
