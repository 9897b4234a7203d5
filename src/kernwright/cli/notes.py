"""What the options on knowledge and memory come to."""

from collections.abc import Sequence
from pathlib import Path

from kernwright.core.errors import UserError
from kernwright.core.note import Pack
from kernwright.engine.shelves import packs_of
from kernwright.knowledge.folders import read

from . import screen


def folders(paths: Sequence[Path] | None) -> tuple[Pack, ...]:
    """Folders of notes as a run's setting; what in them is no note is said.

    Raises:
        UserError: a folder is not there, or holds no notes.
    """
    for path in paths or ():
        for fault in read(path).faults:
            screen.say(f"Left out: {fault}")
    return packs_of(paths or ())


def own_memory(text: str) -> str:
    """Raises UserError where searches that are compared would remember each other."""
    if text not in ("run", "off"):
        raise UserError(f"The memory {text!r} cannot be compared; it is one of: run, off.")
    return text
