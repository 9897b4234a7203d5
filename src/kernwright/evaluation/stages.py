"""How long each stage took."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from time import perf_counter
from typing import TypeVar

Held = TypeVar("Held")


class Stages:
    """Called with a stage's name, a context that announces and times it; a name that comes again adds up."""

    def __init__(self, announce: Callable[[str], None]) -> None:
        self._announce = announce
        self._spent: dict[str, float] = {}
        self._waited_s = 0.0
        """Within stages."""

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        self._announce(name)
        start, waited_s = perf_counter(), self._waited_s
        try:
            yield
        finally:
            self._add(name, perf_counter() - start - (self._waited_s - waited_s))

    @contextmanager
    def leased(self, lease: AbstractContextManager[Held]) -> Iterator[Held]:
        """Hold a lease; the time until it was had counts as the stage "wait", which is not announced."""
        with ExitStack() as stack:
            start = perf_counter()
            held = stack.enter_context(lease)
            self._add("wait", perf_counter() - start)
            yield held

    def waited(self, seconds: float) -> None:
        """So many seconds within a stage count as "wait" instead."""
        self._waited_s += seconds
        self._add("wait", seconds)

    def seconds(self) -> dict[str, float]:
        """Wall seconds per stage, in the order of their first beginning."""
        return {name: round(spent, 4) for name, spent in self._spent.items()}

    def _add(self, name: str, seconds: float) -> None:
        self._spent[name] = self._spent.get(name, 0.0) + seconds
