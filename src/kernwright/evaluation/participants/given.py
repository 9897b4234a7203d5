"""Results of a runner's latest calls, where they are read where they lie."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from kernwright.evaluation.footprint import nbytes_of

from .opened import Opened
from .reading import results

LARGE_BYTES = 1 << 20
"""Of results: to give so many back takes as long as a short call, in which nobody is to have that time."""
Outputs = list[torch.Tensor]
Drop = tuple[float, float]
"""Nanoseconds that giving results back took: of processor time, and by the clock."""


@dataclass(frozen=True, slots=True)
class _Given:
    """Where results of a call lie, and what they were."""

    opened: Opened
    reply: dict[str, Any]
    outputs: Outputs


class GivenResults:
    """Of the two latest calls, whose results a runner keeps."""

    def __init__(self) -> None:
        self._calls: list[_Given] = []

    def add(self, opened: Opened, reply: dict[str, Any], outputs: Outputs) -> None:
        """Of one more call."""
        self._calls = [*self._calls[-1:], _Given(opened, reply, outputs)]

    def forget(self) -> None:
        """All: they may not be there any more, or be others, as where one is a weight."""
        self._calls = []

    def let_go(self) -> bool:
        """Those of the call before the latest; whether they are large."""
        large = len(self._calls) > 1 and nbytes_of(self._calls[0].outputs) >= LARGE_BYTES
        del self._calls[:-1]
        return large

    def again(
        self, back: int, stopped: Callable[[Callable[[int], Outputs]], Outputs]
    ) -> tuple[Outputs, Outputs] | None:
        """Those of the latest call, or of the one before (`back` is 1) if that was of the same workload, as they were
        and as they are; None where there are none."""
        if len(self._calls) <= back or self._calls[-1 - back].opened is not self._calls[-1].opened:
            return None
        one = self._calls[-1 - back]
        return one.outputs, stopped(lambda pid: results(pid, one.reply, one.opened.setting.output_specs))
