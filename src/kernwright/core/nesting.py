"""Arguments that hold tensors in tuples, lists or dictionaries: they lie side by side wherever they are looked at, and
are nested again where a call is made."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

KINDS = {"tuple": tuple, "list": list}
"""Beside dictionaries; others, as named tuples, are taken for one value each."""
KEYS = str, int, float, bool, type(None)
"""Types of a dictionary's keys; one with others is taken for one value."""


def unnested(arguments: Sequence[Any], is_tensor: Callable[[Any], bool]) -> tuple[list[Any], Any]:
    """All values one after the other, and in plain lists how they are nested; None where no argument holds a tensor."""
    outlines = [_outline(argument, is_tensor) for argument in arguments]
    if not any(outlines):
        return list(arguments), None
    pairs = zip(arguments, outlines, strict=True)
    return [value for argument, outline in pairs for value in _values(argument, outline)], outlines


def nested(function: Callable[..., Any], nesting: Any) -> Callable[..., Any]:
    """The same call, of values one after the other."""
    if nesting is None:
        return function

    def call(*values: Any) -> Any:
        left = iter(values)
        return function(*[_built(outline, left) for outline in nesting])

    return call


def _outline(value: Any, is_tensor: Callable[[Any], bool]) -> Any:
    """None for what is one value; else its kind and the outlines of its parts, with their keys where it has some."""
    if is_tensor(value) or not _holds(value, is_tensor):
        return None
    if type(value) is dict:
        return ["dict", [[key, _outline(part, is_tensor)] for key, part in value.items()]]
    return [type(value).__name__, [_outline(part, is_tensor) for part in value]]


def _holds(value: Any, is_tensor: Callable[[Any], bool]) -> bool:
    return is_tensor(value) or any(_holds(part, is_tensor) for part in _parts(value))


def _parts(value: Any) -> Sequence[Any]:
    if type(value) is dict:
        return [*value.values()] if all(type(key) in KEYS for key in value) else ()
    return value if type(value) in KINDS.values() else ()


def _values(value: Any, outline: Any) -> Iterator[Any]:
    if outline is None:
        yield value
        return
    kind, inner = outline
    outlines = [outline for _, outline in inner] if kind == "dict" else inner
    for part, each in zip(_parts(value), outlines, strict=True):
        yield from _values(part, each)


def _built(outline: Any, values: Iterator[Any]) -> Any:
    if outline is None:
        return next(values)
    kind, inner = outline
    if kind == "dict":
        return {key: _built(part, values) for key, part in inner}
    return KINDS[kind](_built(part, values) for part in inner)
