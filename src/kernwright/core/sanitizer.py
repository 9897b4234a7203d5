"""Tools that watch a process."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .around import Around


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """When what a tool reports decides nothing."""

    why: str
    """In words."""
    text: str = ""
    """Regular expression for what in a candidate's text the tool cannot follow."""
    report: str = ""
    """Regular expression for reports of what is a library's, by its name, the group, and which the tool cannot follow
    either; a candidate in whose text that name stands has it as its own."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Of a process without the tool, in which results are wrong where what it reports makes a difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sanitizer:
    """A tool that watches a process and says where a kernel touches memory that is not its own, or races."""

    name: str
    missing: str = ""
    """Why it cannot be had on this machine, and what to do; empty where it can."""
    around: Around | None = None
    """What a process is started under, inside its confinement."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """For a process that builds or runs what is watched."""
    reports: str = ""
    """Regular expression for what it says when it found something; its groups, joined by "in", are what is shown."""
    doubt: Doubt | None = None
    """Where what it reports may be right all the same."""
    control: str = ""
    """Main file of a candidate with a planted fault, `kernel(x)` on 64 numbers: a tool that misses it is not used."""
    control_language: str = ""
    """`module:Class` of the control's language."""
