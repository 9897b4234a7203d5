"""Which kinds of information go into a brief, beside how it is written and how a population is kept (EvoEngineer)."""

from dataclasses import dataclass
from typing import Literal

Shown = Literal["none", "code", "full"]
"""Of an earlier solution: nothing, its source alone, or also its name, runtime and approach."""
MemoryMode = Literal["none", "parent", "siblings", "both", "drawn"]
"""`drawn`: one of the others for each node, from the brief's seed."""
BYTES_PER_TOKEN = 3
"""By which budgets of text are counted, with no tokenizer at hand; source takes fewer bytes a token than prose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guidance:
    """What a method tells the operator beside the task (I1), which is always told; hints of a person are, too."""

    best: Shown = "none"
    """The best solution so far."""
    parents: Shown = "full"
    """The solutions that the policy picked (I2)."""
    elite: int = 0
    """How many others of the best are shown in full (I2)."""
    worst_first: bool = True
    """Whether several solutions are shown from slow to fast."""
    insights: int = 0
    """How many of the newest insights of earlier proposals are told (I3)."""
    knowledge_tokens: int = 0
    """Budget for retrieved domain knowledge (I4)."""
    knowledge_for: tuple[str, ...] = ()
    """Intents, or variants of them, for which it is retrieved; for all where empty."""
    errors: bool = False
    """Whether a failed parent's log, mismatch or deadline is told outside a repair, which always has it."""
    profile: bool = False
    """Whether the profile of each solution that is shown is told."""
    diagnosis: bool = False
    """Whether what limits the first parent is told."""
    diagnosis_model: bool = False
    """Whether one of the run's models is asked for its opinion too, once for each survivor, after the rules."""
    memory: MemoryMode = "none"
    """Which earlier nodes are recalled: the trail of ancestors, the siblings, or both."""
    memory_rate: float = 1.0
    """Share of the nodes that get any memory; drawn from the brief's seed."""
    failures: int = 0
    """How many of the run's latest failures are told as what not to repeat (negative memory), each kind once."""
    mended: int = 0
    """How many earlier repairs of the same error are told to whoever works on a failure."""

    def retrieves(self, intent: str, variant: str) -> bool:
        """Whether a brief of this kind is told domain knowledge."""
        return self.knowledge_tokens > 0 and (
            not self.knowledge_for or intent in self.knowledge_for or variant in self.knowledge_for
        )
