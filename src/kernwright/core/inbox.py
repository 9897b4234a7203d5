"""Messages from other processes to the one engine that may write a run's journal."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An answer to the brief of one node."""

    node: int
    candidate: str
    """Digest of the candidate's blob."""
    author: str = ""
    summary: str = ""
    kind: Literal["told"] = "told"


Message = Told
