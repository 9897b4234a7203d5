"""In which languages a candidate is, or can be, written."""

from collections.abc import Mapping, Sequence
from functools import cache

from kernwright.core.ports import Language
from kernwright.core.registry import reference
from kernwright.core.resolve import resolve
from kernwright.languages import TABLE


@cache
def languages_for(target: str, named: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The languages, of those named or of all, in which a candidate for the target can be written."""
    asked = named or tuple(TABLE)
    # A compiler that is missing here may be where the run is judged.
    return tuple(name for name in asked if language_of(name).supports(target).ok) or asked


def language_of(name: str) -> Language:
    """The language of this name; raises UserError where there is none."""
    language: Language = resolve(reference("languages", TABLE, name))()
    return language


def recognise(files: Mapping[str, str], named: Sequence[str] = ()) -> str:
    """Name of the first language whose files these are; languages from outside count where they are named."""
    outside = [name for name in named if name not in TABLE]
    return next(name for name in (*outside, *TABLE) if language_of(name).recognises(files))
