"""A question to the notes taken apart: what is wanted, where, in what, about what."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from .vocabulary import BOTTLENECKS, OPERATORS, SEEN, SISTERS, canonical, scope

REPAIRS = ("build-error", "numerics")
"""Classes of failures: what is wanted is a repair."""
START, IMPROVE = "start", "improve"
NEW = ("new-platform", "porting", "roofline", "output-form", "module")
"""What is asked for where no note knows the platform or any of the languages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question."""

    intent: str
    """`start` where nothing has been seen yet, a class of failures where one is to be mended, else `improve`."""
    bottlenecks: tuple[str, ...]
    """The dominant one first."""
    tags: Mapping[str, float]
    """Canonical words with what each is worth; three of them make 1."""
    plain: tuple[str, ...]
    """Tags as they are, but for bottlenecks and the target."""
    operators: frozenset[str]
    """Those among the tags."""
    target: str
    scope: tuple[str, ...]
    """Empty where every note may be told."""
    sisters: frozenset[str]
    """Languages like those that a candidate may be written in."""
    near: frozenset[str]
    """Of the scope what is written for: without the languages that it is not written in."""
    own: frozenset[str]
    """Languages of the solution that is worked on."""
    written: frozenset[str]
    """Languages that a candidate may be written in, and the target; empty where none is said."""
    seen: str
    """Words of what was seen: figures, an error, an approach."""
    problem: str
    """Words of the problem, and the tags."""
    everything: str
    """All words of both, and all tags."""


def taken_apart(tags: Sequence[str], text: str, names: Iterable[str], known: Mapping[str, float]) -> Asked:
    """Tags are in order of weight: bottlenecks, the target (it has a colon), and whatever notes are tagged with.

    `names` are what notes say that they apply to: such a tag is a language. One before the target is being written,
    one behind it may be. Of other tags those count that are `known`, with their rarity. `text` has what was seen before
    `SEEN` and the problem's words behind it; without that mark it counts as both.
    """
    there = set(names)
    bottlenecks = tuple(dict.fromkeys(tag for tag in tags if tag in BOTTLENECKS))
    target = next((tag for tag in tags if ":" in tag), "")
    plain = [tag for tag in tags if ":" not in tag and tag not in BOTTLENECKS]
    before = set(takewhile(lambda tag: tag != target, tags))
    languages = [tag for tag in plain if tag in there]
    own = [tag for tag in languages if tag in before]
    # What notes speak of by their names is a language, and so is whatever else stands behind the target.
    written = own or ([tag for tag in plain if tag not in before] if target else [])
    around = scope(target, own or languages) if target else ()
    if target and not there.intersection(around):
        plain = [*NEW, *plain]
    wanted = dict.fromkeys(canonical(tag) for tag in plain if tag not in there or tag in before)
    worth = {tag: known[tag] for tag in wanted if tag in known}
    most = sum(sorted(worth.values(), reverse=True)[:3]) or 1.0
    seen, apart, rest = text.partition(SEEN)
    if not apart:  # words that somebody searches for may be of either
        rest = seen
    return Asked(
        intent=next((each for each in bottlenecks[:1] if each in REPAIRS), IMPROVE if bottlenecks else START),
        bottlenecks=bottlenecks,
        tags={tag: each / most for tag, each in worth.items()},
        plain=tuple(plain),
        operators=OPERATORS.intersection(worth),
        target=target,
        scope=scope(target, languages) if target else (),
        sisters=frozenset(sister for language in languages for sister in SISTERS.get(language, ()))
        if target
        else frozenset(),
        near=frozenset(around),
        own=frozenset(own),
        written=frozenset((*written, target)) if written else frozenset(),
        seen=" ".join((*bottlenecks, seen)),
        problem=" ".join((*plain, rest)),
        everything=" ".join((*tags, text.replace(SEEN, " "))),
    )
