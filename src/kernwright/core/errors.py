"""Errors that reach a person. A candidate's failure is never one of them: it is an `Outcome`."""

import difflib
from collections.abc import Iterable

MOST_NAMES, NEAREST = 40, 5
"""More names than that nobody reads; then these many are said."""
LONGEST_FOREIGN = 300
"""Characters that are said of an error of another library: some of PyTorch's are lists of all that it knows."""


class UserError(Exception):
    """The user's mistake, as one sentence with a remedy. The command line exits with 2."""


class MachineFault(Exception):
    """The machine, or Kernwright, failed: no verdict about any candidate follows. Exit 1."""


class NewerJournal(UserError):
    """The state on disk was written by a newer Kernwright."""


class RunLocked(UserError):
    """Another engine holds this run."""


def first_line(error: BaseException) -> str:
    """Of its text, without the full stop; its type's name where it has none."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:LONGEST_FOREIGN].rstrip(".")


def unforeseen(what: str, error: BaseException) -> str:
    """What is said on one line where `what` raised an error that nobody has a sentence for."""
    return f"{what} raised {type(error).__name__}: {first_line(error)}"


def unknown_name(family: str, name: str, known: Iterable[str]) -> UserError:
    """The error for a name that is in no table, with the nearest names that are."""
    names = sorted(known)
    if len(names) > MOST_NAMES:
        nearest = difflib.get_close_matches(name, names, n=NEAREST, cutoff=0.0)
        return UserError(f"There is no {family} {name!r} among {len(names)}; the nearest are: {', '.join(nearest)}.")
    near = difflib.get_close_matches(name, names, n=3)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    return UserError(f"There is no {family} {name!r}; there are: {', '.join(names)}.{hint}")


EXTRAS = {
    "torch": "torch",
    "numpy": "torch",
    "scipy": "torch",
    "numba": "torch",
    "optuna": "tune",
    "jinja2": "models",
    "pydantic_ai": "models",
    "genai_prices": "models",
    "mcp": "mcp",
    "cryptography": "sign",
}
"""Optional packages and the extra that brings each."""


def missing_extra(feature: str, extra: str) -> UserError:
    """The error for an optional dependency that is not installed."""
    return UserError(f"{feature} needs the extra [{extra}]; install it with: pip install 'kernwright[{extra}]'")
