"""What reaches the user: JSON or text on stdout, progress and errors on stderr."""

import sys
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def emit(payload: object) -> None:
    """One JSON object on stdout. Infinity and NaN become text, facts become objects."""
    from kernwright.store.codec import to_json

    sys.stdout.write(to_json(payload).decode() + "\n")


def out() -> "Console":
    """A console on stdout, without colour codes where that is no terminal."""
    return _console(error=False)


def err() -> "Console":
    """A console on stderr."""
    return _console(error=True)


def show(*parts: "RenderableType") -> None:
    """Print on stdout."""
    console = out()
    for part in parts:
        console.print(part)


def say(text: str) -> None:
    """A sentence on stderr, as it is."""
    print(text, file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """Text from elsewhere, with escapes for what steers a terminal or cannot be shown."""
    return "".join(c if c in "\n\t" or unicodedata.category(c)[0] != "C" else ascii(c)[1:-1] for c in text)


def _console(*, error: bool) -> "Console":
    from rich.console import Console

    return Console(stderr=error, highlight=False, markup=False, emoji=False)
