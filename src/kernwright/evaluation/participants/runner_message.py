"""What a runner says, as far as it is JSON at all."""

import json
from typing import Any, NoReturn

from .runner_failure import RunnerBabble

MESSAGE_BYTES = 64 << 10
DEPTH = 16
"""Lists and objects within each other; an honest message has four. A deep one would not be JSON's fault alone: to
print it takes as deep a stack, somewhere else."""


def message_of(data: bytes) -> dict[str, Any]:
    """The object in these bytes. Numbers in it are finite; nothing else about it is to be trusted.

    Raises:
        RunnerBabble: they are anything else.
    """
    try:
        message = json.loads(data.decode(), parse_constant=_refuse, parse_float=_finite)
        json.dumps(message, ensure_ascii=False).encode()  # lone surrogates would break whoever prints them
    except (ValueError, RecursionError) as error:
        raise RunnerBabble(f"a malformed message ({error})") from error
    if not isinstance(message, dict):
        raise RunnerBabble("a message that is no object")
    if data.count(b"[") + data.count(b"{") > DEPTH and _deeper(message):
        raise RunnerBabble(f"a message nested deeper than {DEPTH}")
    return message


def _deeper(message: Any) -> bool:
    level = [message]
    for _ in range(DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"the number {text}")


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0:
        raise ValueError("a number out of range")
    return value
