"""The stage that the judge is in, on stderr."""

import time
from types import TracebackType

from . import figures, screen


class Stages:
    """Called with each stage's name: a live line on a terminal, otherwise a line per stage."""

    def __init__(self) -> None:
        self._console = screen.err()
        self._status = self._console.status("starting") if self._console.is_terminal else None
        self._began = time.monotonic()

    def __call__(self, stage: str) -> None:
        spent = figures.seconds(time.monotonic() - self._began)
        if self._status is not None:
            self._status.update(f"{stage} · {spent}")
        else:
            screen.say(f"{spent:>7}  {stage}")

    def __enter__(self) -> "Stages":
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()
