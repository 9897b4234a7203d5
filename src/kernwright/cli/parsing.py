"""Options that hold more than one value."""

import re
from dataclasses import fields

from kernwright.core.errors import UserError, unknown_name
from kernwright.core.spec import Budget, OperatorSpec
from kernwright.engine.intake import operator_spec, settings_of, texts_of

_OPERATOR = re.compile(r"(?P<name>[^:=,]+(?::[^:=,]+)?)(?::(?P<settings>[^:=,]+=.*))?")


def operator_of(text: str) -> OperatorSpec:
    """`NAME`, `NAME:key=value,...` or either with `module:Class` for the name; raises UserError for anything else."""
    found = _OPERATOR.fullmatch(text)
    if found is None:
        raise UserError(f"The operator {text!r} should look like NAME or NAME:key=value,key=value.")
    settings = texts_of([found["settings"]], "The operator's setting") if found["settings"] else {}
    return operator_spec(found["name"], settings)


def budget_of(texts: list[str], given: Budget) -> Budget:
    """`proposals=50,seconds=600` and single options together; raises UserError for what is no budget."""
    known = [f.name for f in fields(Budget)]
    numbers: dict[str, float | int | None] = {name: getattr(given, name) for name in known}
    for name, value in settings_of(texts, "The budget").items():
        if name not in known:
            raise unknown_name("budget", name, known)
        if isinstance(value, bool | str) or value < 0:
            raise UserError(f"The budget {name} is {value!r}; it must be a number, 0 or more.")
        if name in ("proposals", "evaluations", "tokens"):
            if value != int(value):
                raise UserError(f"The budget {name} is {value!r}; it must be a whole number.")
            value = int(value)
        numbers[name] = value
    return Budget(**numbers)  # type: ignore[arg-type]


def levels_of(text: str | None) -> tuple[int, ...] | None:
    """`1,2` or `level1`; None where nothing was said. Raises UserError for what is no level."""
    if text is None:
        return None
    words = [word.strip().removeprefix("level") for word in text.split(",") if word.strip()]
    if not words or not all(word.isdecimal() for word in words):
        raise UserError(f"The levels {text!r} should look like 1,2.")
    return tuple(dict.fromkeys(int(word) for word in words))
