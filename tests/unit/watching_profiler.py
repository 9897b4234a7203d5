"""Profilers for tests, whose program around a runner is `watching_tool.py`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kernwright.core.around import Around
from kernwright.core.profile import Profile

TOOL = Path(__file__).parent / "watching_tool.py"
REPORTS: list[str] = []
"""What came back."""


class Watching:
    """Everything that has a program around it needs, on the processor."""

    name = "watching"
    inside = "kernwright.platforms.profilers.cpu:CpuInside"
    mode = "runs"
    otherwise = ""

    def peaks(self, target: str) -> Mapping[str, float]:
        return {"bytes_per_s": 1e11, "float32": 1e12}

    def count(self, threads: Sequence[int], work: Callable[[int], None], calls: int) -> Profile:
        return Profile()

    def around(self, target: str) -> Around | str:
        return Around(
            command=self._command(self.mode),
            otherwise=self._command(self.otherwise) if self.otherwise else (),
            readable=(TOOL.parent,),
            limit_s=60,
        )

    def read(self, report: str) -> Profile:
        REPORTS.append(report)
        found = dict(line.rsplit(" ", 1) for line in report.splitlines() if " " in line)
        if "instructions" not in found:
            return Profile(missing=("watching: it wrote nothing",))
        return Profile(tools=("watching",), counters={"instructions": float(found["instructions"])})

    def _command(self, mode: str) -> tuple[str, ...]:
        return (sys.executable, "-I", str(TOOL), mode, "{report}")


class Dying(Watching):
    """Its program ends at once."""

    mode = "dies"


class Counting(Watching):
    """Its program needs the right to performance counters."""

    def around(self, target: str) -> Around | str:
        return Around(command=self._command(self.mode), readable=(TOOL.parent,), limit_s=60, counters=True)


class Staying(Watching):
    """Its program starts something else, which never asks for the judge's socket."""

    mode = "stays"

    def around(self, target: str) -> Around | str:
        return Around(command=self._command(self.mode), readable=(TOOL.parent,), limit_s=5)


class Refused(Watching):
    """Its program is not permitted."""

    def around(self, target: str) -> Around | str:
        return "watching: not permitted"
