"""Probes that may as well be left out: where the reference refuses their values, or memory does not suffice."""

from collections.abc import Callable
from typing import TypeVar

from kernwright.core.errors import UserError

from .reference import Reference, TooLarge, is_shortage

Made = TypeVar("Made")
NOTE = "memory did not suffice for some probes, so they were left out"


def where_possible(reference: Reference, make: Callable[[], Made]) -> Made | None:
    """What it makes, or None; of nothing that was made on the way anything is kept.

    Raises:
        UserError, RuntimeError: memory did not suffice, and others hold some of the device's: who has all of it may
            fare better (`Room.made`).
    """
    try:
        return make()
    except UserError as error:
        short = isinstance(error, TooLarge)
        if short and not reference.has_all_memory:
            raise
    except (MemoryError, RuntimeError) as error:
        short = is_shortage(error)
        if not short or not reference.has_all_memory:
            raise
    if short:
        reference.note(NOTE)
    return None
