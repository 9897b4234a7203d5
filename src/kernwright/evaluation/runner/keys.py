"""Results by name: a dictionary's values come in the order of the reference's keys, whatever order a kernel has; and
what is None there is None."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .structure import OtherKeys, decode, encode

LONGEST = 200
"""Characters of what is said of keys."""
ABSENT = "none"
"""Stands in place of a part's keys where the part is None."""


def keys_of(result: Any) -> Any:
    """JSON form of the keys of a result: of a dictionary's values each with its key, of other sequences those of the
    parts; None where there is no dictionary and nothing that is None, or a key that nobody can tell another process."""
    try:
        return _keys_of(result) if _has_keys(result) else None
    except TypeError:
        return None


def _has_keys(result: Any) -> bool:
    found = result is None or isinstance(result, Mapping)
    return found or (isinstance(result, tuple | list) and any(map(_has_keys, result)))


def _keys_of(result: Any) -> Any:
    if result is None:
        return ABSENT
    if isinstance(result, Mapping):
        return {"keys": [[encode(key), _keys_of(value)] for key, value in result.items()]}
    return [_keys_of(part) for part in result] if isinstance(result, tuple | list) else None


def names_by_key(keys: Any, count: int) -> list[str]:
    """What each of `count` results is called: by its place, or how one comes to it where there are keys."""
    found = [] if keys is None else _paths(_decoded(keys))
    return [f"output {path}" for path in found] if len(found) == count else [f"output {i}" for i in range(count)]


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
    return keys if keys is None or keys == ABSENT else [_decoded(part) for part in keys]


def _paths(wanted: Any, where: str = "") -> list[str]:
    """How one comes to what lies at each end: 'a', then what is within as 'a'['b']."""
    if wanted is None or wanted == ABSENT:
        return [] if wanted else [where]
    parts = wanted.items() if isinstance(wanted, Mapping) else enumerate(wanted)
    return [path for key, inner in parts for path in _paths(inner, f"{where}[{key!r}]" if where else repr(key))]


def _in_order(value: Any, wanted: Any, where: str) -> Any:
    """What has no keys where the reference has some is taken as it comes: how many tensors there are tells enough."""
    if (value is None) is not (wanted == ABSENT):
        raise _Differ(f"{where} is {_kind(value)}, and the reference's is {'None' if wanted == ABSENT else 'not'}")
    if isinstance(wanted, list):
        if not isinstance(value, tuple | list) or len(value) != len(wanted):
            return value
        parts = zip(value, wanted, strict=True)
        return [_in_order(part, inner, f"{where}[{n}]") for n, (part, inner) in enumerate(parts)]
    if wanted is None or wanted == ABSENT or not isinstance(value, Mapping):
        return value
    if value.keys() != wanted.keys():
        raise _Differ(f"{where} has {_said([*value])}, and the reference's has {_said([*wanted])}")
    return [_in_order(value[key], inner, f"{where}[{key!r}]") for key, inner in wanted.items()]


def _kind(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def _said(keys: Sequence[Any]) -> str:
    named = f"the keys {keys!r}" if keys else "no keys"
    return named if len(named) <= LONGEST else f"{named[:LONGEST]}…"
