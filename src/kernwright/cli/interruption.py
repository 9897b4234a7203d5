"""Ctrl-C, with a sentence on how to go on."""

from collections.abc import Iterator
from contextlib import contextmanager


class Interrupted(Exception):
    """The user stopped it; everything that was started has ended. Exit 130."""


@contextmanager
def interruptible(sentence: str) -> Iterator[None]:
    """Turns a KeyboardInterrupt inside into `Interrupted` with this sentence."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(sentence) from None
