"""What limits a candidate: classes of bottlenecks with what speaks for them, and what the figures rule out."""

from dataclasses import dataclass
from typing import Literal

from .expectation import Seen

Bottleneck = Literal[
    "dram",
    "l2",
    "shared-memory",
    "bank-conflicts",
    "uncoalesced",
    "compute",
    "tensor-cores-idle",
    "instruction-mix",
    "latency",
    "occupancy",
    "spills",
    "imbalance",
    "sync",
    "launch-overhead",
    "host",
    "cache-misses",
    "vectorisation",
    "threads",
    "numerics",
    "build-error",
]
"""The words that knowledge is filed under too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The dominant bottleneck first; those that figures speak for come before those that only a model names."""

    bottlenecks: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    """One sentence for each, in the same order."""
    ruled_out: tuple[str, ...] = ()
    """Sentences that begin with the class that cannot be it."""
    text: str = ""
    """All of it for a reader, in a few lines."""
    expected: tuple[Seen, ...] = ()
    """What its writer expected against its parent, and what was seen."""
    model: str = ""
    """Who was asked beside the rules; empty where nobody was."""
