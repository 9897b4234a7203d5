"""How long each stage took."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from time import perf_counter


class Stages:
    """Called with a stage's name, a context that announces and times it; a name that comes again adds up."""

    def __init__(self, announce: Callable[[str], None]) -> None:
        self._announce = announce
        self._spent: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        self._announce(name)
        start = perf_counter()
        try:
            yield
        finally:
            self._spent[name] = self._spent.get(name, 0.0) + perf_counter() - start

    @contextmanager
    def leased(self, lease: AbstractContextManager[object]) -> Iterator[None]:
        """Hold a lease; the time until it was had counts as the stage "wait", which is not announced."""
        with ExitStack() as stack:
            start = perf_counter()
            stack.enter_context(lease)
            self._spent["wait"] = self._spent.get("wait", 0.0) + perf_counter() - start
            yield

    def seconds(self) -> dict[str, float]:
        """Wall seconds per stage, in the order of their first beginning."""
        return {name: round(spent, 4) for name, spent in self._spent.items()}
