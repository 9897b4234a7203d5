"""How a process is started under a program that watches it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """A command that runs another, which is appended to it, and what it needs where it runs."""

    command: tuple[str, ...]
    """`{report}` in it stands for the file that the program writes."""
    otherwise: tuple[str, ...] = ()
    """A command that asks for less, where the first one says nothing."""
    readable: tuple[Path, ...] = ()
    """Folders of the program."""
    counters: bool = False
    """Whether the kernel shows what it counts only to who has the right to performance counters, which the runner then
    keeps of the judge's."""
    limit_s: float = 120.0
    """For all of it: start, call and report."""
