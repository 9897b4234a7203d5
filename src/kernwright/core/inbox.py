"""Messages from other processes to the one engine that may write a run's journal."""

from dataclasses import dataclass
from typing import Literal

Action = Literal["pin", "ban", "free", "hint", "fork"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An answer to the brief of one node."""

    node: int
    candidate: str
    """Digest of the candidate's blob."""
    author: str = ""
    summary: str = ""
    expects: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    """What was learnt in writing it."""
    kind: Literal["told"] = "told"


@dataclass(frozen=True, slots=True, kw_only=True)
class Steer:
    """A person's wish for the search; what each action needs is checked before it is sent."""

    action: Action
    node: int | None = None
    text: str = ""
    author: str = ""
    kind: Literal["steer"] = "steer"


Message = Told | Steer
