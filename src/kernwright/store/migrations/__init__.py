"""Numbered steps from an empty database to this version's schema; a step that was released never changes."""

from collections.abc import Callable

from sqlalchemy import Connection

from . import m001_initial

STEPS: tuple[Callable[[Connection], None], ...] = (m001_initial.upgrade,)
"""Step n, counted from 1, makes schema version n out of n - 1."""

VERSION = len(STEPS)
"""The schema version that this Kernwright reads and writes."""
