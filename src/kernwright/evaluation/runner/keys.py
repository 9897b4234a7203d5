"""Results by name: a dictionary's values come in the order of the reference's keys, whatever order a kernel has."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .structure import OtherKeys, decode, encode

LONGEST = 200
"""Characters of what is said of keys."""


def keys_of(result: Any) -> Any:
    """JSON form of the keys of a result: of a dictionary's values each with its key, of other sequences those of the
    parts; None where there is no dictionary, or a key that nobody can tell another process."""
    if isinstance(result, Mapping):
        try:
            return {"keys": [[encode(key), keys_of(value)] for key, value in result.items()]}
        except TypeError:
            return None
    if isinstance(result, tuple | list):
        parts = [keys_of(part) for part in result]
        return parts if any(part is not None for part in parts) else None
    return None


def arranged(function: Callable[..., Any], keys: Any) -> Callable[..., Any]:
    """The same call, whose dictionaries are lists in the order of the reference's keys, or `OtherKeys`."""
    if keys is None:
        return function
    wanted = _decoded(keys)

    def call(*arguments: Any) -> Any:
        try:
            return _in_order(function(*arguments), wanted, "the result")
        except _Differ as error:
            return OtherKeys(str(error))

    return call


class _Differ(Exception):
    pass


def _decoded(keys: Any) -> Any:
    if isinstance(keys, Mapping):
        return {decode(key): _decoded(inner) for key, inner in keys["keys"]}
    return None if keys is None else [_decoded(part) for part in keys]


def _in_order(value: Any, wanted: Any, where: str) -> Any:
    """What has no keys where the reference has some is taken as it comes: how many tensors there are tells enough."""
    if isinstance(wanted, list):
        if not isinstance(value, tuple | list) or len(value) != len(wanted):
            return value
        parts = zip(value, wanted, strict=True)
        return [_in_order(part, inner, f"{where}[{n}]") for n, (part, inner) in enumerate(parts)]
    if wanted is None or not isinstance(value, Mapping):
        return value
    if value.keys() != wanted.keys():
        raise _Differ(f"{where} has {_said([*value])}, and the reference's has {_said([*wanted])}")
    return [_in_order(value[key], inner, f"{where}[{key!r}]") for key, inner in wanted.items()]


def _said(keys: Sequence[Any]) -> str:
    named = f"the keys {keys!r}" if keys else "no keys"
    return named if len(named) <= LONGEST else f"{named[:LONGEST]}…"
