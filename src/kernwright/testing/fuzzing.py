"""Mutations of valid bytes and of valid JSON: what a hostile writer of either begins with."""

import copy
import json
import random
from typing import Any

TOKENS = (
    b"NaN", b"-Infinity", b"1e999", b"1e-320", b"-0.0", b"0", b"-1", b"1" * 400, b"1" * 5000, b"true", b"null", b'""',
    b"[]", b"{}", b"[" * 40, b"[" * 4000, b'{"a":' * 40, b'"\\ud800"', b"\\u0000", b"\xff", b"\x00", b"\xef\xbb\xbf",
    b'"ok":true,', b'"delivered":true,', b'"kind":"measured",', b"\n", b" ", b",", b":", b"]", b"}", b'"', b"\x1b[2J",
    b"../../x", b"9" * 20, b"1.0", b"1E1", b"\xed\xa0\x80", b"18446744073709551616", b"4.9e-324",
    b"1.7976931348623157e308", b'"Infinity"', b'"-Infinity"', b'"NaN"',
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**63, 2**64, 10**30, 0.0, -0.0, 0.5, 1.0, 1.5, 5e-324, 1e308, -1e308, 1e15, 1e16, "",
    "1", "candidate", "eager", "verified", "../x", "\x00", "\x1b[2J", "\ud800", "é" * 50, [], {}, [0.0], [[]],
    {"kind": "measured"},
    {"a": 1}, [None] * 3, [1.0, 2.0],
)  # fmt: skip
NUMBERS_AS_TEXTS = ("Infinity", "-Infinity", "NaN")
"""Decoders take them for numbers; of the numbers that change into another value every fourth becomes one of them."""


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    """These bytes after one to four edits anywhere."""
    edited = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(edited) + 1)
        match rng.randrange(7):
            case 0 if at < len(edited):
                edited[at] ^= 1 << rng.randrange(8)
            case 1:
                edited[at:at] = rng.choice(TOKENS)
            case 2:
                token = rng.choice(TOKENS)
                edited[at : at + rng.randrange(1, 20)] = token
            case 3:
                del edited[at : at + rng.choice((1, 1, 2, 8, 200))]
            case 4:
                length = rng.choice((1, 4, 30, 300))
                source = rng.randrange(len(edited) + 1)
                edited[at:at] = edited[source : source + length]
            case 5 if at < len(edited):
                edited[at] = rng.randrange(256)
            case _ if rng.random() < 0.1:
                del edited[at:]
    return bytes(edited)


def mutated_json(text: str | bytes, rng: random.Random) -> Any:
    """This object, or list, with one place of it changed, removed, added or doubled."""
    edited = json.loads(text)
    holder, key = _place(edited, rng)
    match rng.randrange(6):
        case 0 | 1 if isinstance(holder[key], float) and rng.random() < 0.25:
            holder[key] = rng.choice(NUMBERS_AS_TEXTS)
        case 0 | 1:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
        case 2:
            holder[key] = _near(holder[key], rng)
        case 3:
            del holder[key]
        case 4 if isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        case 4:
            holder[rng.choice(("extra", "kind", "name", "first", "\x1b"))] = copy.deepcopy(rng.choice(VALUES))
        case _:
            other, there = _place(edited, rng)
            try:
                holder[key] = copy.deepcopy(other[there])
            except (KeyError, IndexError):
                holder[key] = None
    return edited


def places_of(document: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path of every leaf; empty lists and objects are leaves."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    found: list[tuple[str | int, ...]] = []
    for key, value in items:
        inside = places_of(value, (*path, key)) if isinstance(value, dict | list) and value else [(*path, key)]
        found += inside
    return found


def _place(document: Any, rng: random.Random) -> tuple[Any, Any]:
    """Somewhere in it: the list or object, and the index or key."""
    holder = document
    while True:
        key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.05:
            return holder, key
        holder = inner


def _near(value: Any, rng: random.Random) -> Any:
    """Something of the same type, where that is possible."""
    match value:
        case bool():
            return not value
        case int():
            return value + rng.choice((-1, 1, 7))
        case float():
            return value * rng.choice((0.5, 0.999, 1.000001, 1.1, 2.0, -1.0))
        case str():
            return value[1:] if value and rng.random() < 0.5 else value + rng.choice(("x", " ", "é"))
        case list():
            return value[:-1]
        case _:
            return json.loads("{}")
