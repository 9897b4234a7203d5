"""Content digests: the identity of every fact."""

import hashlib
import json
from dataclasses import Field, fields, is_dataclass
from typing import Any


def digest_bytes(data: bytes) -> str:
    """Hex SHA-256 of `data`, cut to 32 characters (128 bits)."""
    return hashlib.sha256(data).hexdigest()[:32]


ADDED = {"added": True}
"""Metadata of a field that was added when facts without it were stored already: at its default it is left out of their
digest, which stays as it was."""


def digest(fact: object) -> str:
    """Digest of a fact's canonical JSON: keys sorted, no white space, dataclasses as objects."""
    text = json.dumps(_plain(fact), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return digest_bytes(text.encode())


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value) if not _is_silent(value, f)}
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | frozenset | set):
        items = [_plain(v) for v in value]
        return sorted(items) if isinstance(value, frozenset | set) else items
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"a {type(value).__name__} has no canonical form; facts hold plain values only")


def _is_silent(fact: Any, field: Field[Any]) -> bool:
    return "added" in field.metadata and getattr(fact, field.name) == field.default
