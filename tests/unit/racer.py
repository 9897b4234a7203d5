"""A participant of a race that gives what a reference of `x * 2` would."""

from types import SimpleNamespace
from typing import Any

import torch

from kernwright.evaluation.timing.clocks import Clocks


class Racer:
    """Notes what it was called with, and how its slots were filled."""

    drop, reads = None, False

    def __init__(self, name: str, takes_ns: float = 8_000.0) -> None:
        self.name, self._takes_ns = name, takes_ns
        self.runner = SimpleNamespace(went_on_ns=0.0)
        self.given, self.patterns = list[Any](), list[int | None]()

    def fill(self, workload: int, chosen: int, values: Any, pattern: int | None = 0xFF) -> None:
        self.patterns.append(pattern)

    def warm(self, *_: Any) -> None: ...

    def freeze(self) -> None: ...

    def call(self, workload: int, chosen: int, values: Any, **_: Any) -> tuple[Clocks, list[Any]]:
        self.given.append(values[0])
        return Clocks(*[self._takes_ns] * 4, late_ns=0.0, queued=True), [values[0] * 2]

    def unchanged(self, workload: int, chosen: int, values: Any) -> Any:
        return torch.ones(len(values), dtype=torch.bool)
