"""What was found out of a problem's workloads: its code runs for each of these things once."""

from collections.abc import Callable
from typing import Any, TypeVar

from kernwright.core.problem import Workload

Found = TypeVar("Found")


class Known:
    """By workload, and by what it is; whoever asks finds it out where nobody has."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Any] = {}

    def once(self, workload: Workload, what: str, find: Callable[[], Found]) -> Found:
        """What `find` gave when it was asked for first."""
        key = workload.name, what
        if key not in self._found:
            self._found[key] = find()
        found: Found = self._found[key]
        return found

    def get(self, workload: Workload, what: str, default: Found) -> Found:
        """The same where it was found out."""
        found: Found = self._found.get((workload.name, what), default)
        return found

    def put(self, workload: Workload, what: str, found: object) -> None:
        """Whatever was found out before."""
        self._found[workload.name, what] = found

    def but(self, *left_out: str, **changed: Callable[[Any], Any]) -> "Known":
        """The same without these, and with others changed."""
        other = Known()
        for (name, what), found in self._found.items():
            if what not in left_out:
                other._found[name, what] = changed[what](found) if what in changed else found
        return other
