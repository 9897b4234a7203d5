"""Tools that watch a process."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .around import Around


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
    control: str = ""
    """Main file of a candidate with a planted fault, `kernel(x)` on 64 numbers: a tool that misses it is not used."""
    control_language: str = ""
    """`module:Class` of the control's language."""
