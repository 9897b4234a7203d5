"""What a runner says of a profile, as data with limits: a candidate may have said it."""

import math
import re
from collections.abc import Mapping
from typing import Any

from kernwright.core.counters import COUNTERS
from kernwright.core.profile import KernelProfile, Profile

MOST_KERNELS, MOST_KINDS, MOST_TEXTS = 16, 32, 12
LONGEST_NAME, LONGEST_TEXT = 80, 300
LARGEST = 1e18
_KIND = re.compile(r"[A-Za-z][\w .:/-]{0,39}")


def profile_of(data: object) -> Profile:
    """So much of it as is a profile: known counters, plain texts, finite figures, few of each."""
    told = data if isinstance(data, Mapping) else {}
    kernels = told.get("kernels")
    return Profile(
        tools=_texts(told.get("tools"), LONGEST_NAME),
        missing=_texts(told.get("missing"), LONGEST_TEXT),
        counters=_counters(told.get("counters")),
        kernels=tuple(
            KernelProfile(
                name=text_of(each.get("name"), LONGEST_NAME) or "?",
                counters=_counters(each.get("counters")),
                opcodes=_opcodes(each.get("opcodes")),
            )
            for each in (kernels[:MOST_KERNELS] if isinstance(kernels, list) else ())
            if isinstance(each, Mapping)
        ),
        opcodes=_opcodes(told.get("opcodes")),
        notes=_texts(told.get("notes"), LONGEST_TEXT),
    )


def text_of(value: object, longest: int) -> str:
    """One line that any screen can show."""
    text = value if isinstance(value, str) else ""
    return "".join(c if c.isprintable() else " " for c in text[: 4 * longest]).strip()[:longest]


def _texts(value: object, longest: int) -> tuple[str, ...]:
    texts = (text_of(each, longest) for each in (value[:MOST_TEXTS] if isinstance(value, list | tuple) else ()))
    return tuple(text for text in texts if text)


def _counters(value: object) -> dict[str, float]:
    items = value.items() if isinstance(value, Mapping) else ()
    return {name: float(n) for name, n in items if name in COUNTERS and _is_figure(n)}


def _opcodes(value: object) -> dict[str, float]:
    items: Any = value.items() if isinstance(value, Mapping) else ()
    known = {k: float(n) for k, n in items if isinstance(k, str) and _KIND.fullmatch(k) and _is_figure(n)}
    return dict(sorted(known.items(), key=lambda item: -item[1])[:MOST_KINDS])


def _is_figure(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and 0 <= value <= LARGEST
