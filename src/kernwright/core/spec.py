"""What a search is to do: one frozen record, kept in the journal's first event."""

from dataclasses import dataclass, field
from typing import Literal

from .brief import Intent
from .guidance import Guidance
from .model import ModelSpec
from .note import Pack
from .plan import FULL, QUICK, Plan
from .problem import Scalar

JUDGE = "kernwright.evaluation.judge:Judge"
ELSEWHERE = "jobs"
"""The executor of a run whose evaluations are done on another machine."""
MOST_IN_FLIGHT = 256
"""Proposals, or evaluations: each is a task, and mostly a connection or a process."""
Memory = Literal["on", "run", "off"]
"""What a run remembers: notes and the best kernels of this home's earlier runs too, itself alone, or nothing."""


Profiling = Literal["none", "code", "run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a run may spend; None is no limit."""

    proposals: int | None = None
    evaluations: int | None = None
    seconds: float | None = None
    usd: float | None = None
    """On models; no call is begun that could pass it."""
    tokens: int | None = None
    """Of prompts and replies together, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run has spent so far. `seconds` counts only while an engine was running."""

    proposals: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    usd: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def tokens(self) -> int:
        """Of prompts and replies together."""
        return self.tokens_in + self.tokens_out

    def exceeds(self, budget: Budget) -> str | None:
        """The first budget that is used up, as a sentence; None while all hold."""
        for name in ("proposals", "evaluations", "seconds", "usd", "tokens"):
            limit, spent = getattr(budget, name), getattr(self, name)
            # What costs money is refused beforehand; what is free goes on, also where nothing at all is to be spent.
            if limit is not None and (spent > limit if name == "usd" else spent >= limit):
                amount = f"{limit:g}" if isinstance(limit, float) else limit
                return f"the budget of {amount} {name} is spent"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSpec:
    """An operator by name, with its own settings."""

    name: str
    settings: dict[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """Settings of one search."""

    target: str
    method: str = ""
    """The published method that these settings are, where they come from one."""
    policy: str = "greedy"
    policy_settings: dict[str, Scalar] = field(default_factory=dict)
    operators: tuple[OperatorSpec, ...] = (OperatorSpec(name="compiler"), OperatorSpec(name="tuner"))
    """Asked in this order; the next one when one has nothing more for an intent."""
    models: tuple[ModelSpec, ...] = ()
    """Who writes for operator `llm`; among several a bandit chooses."""
    languages: tuple[str, ...] = ()
    """In which models may write; every one that suits the target where empty."""
    intents: tuple[Intent, ...] = ()
    """What may be asked for; everything where empty."""
    guidance: Guidance = Guidance()
    knowledge: tuple[Pack, ...] = ()
    """Folders of notes beside those that come with Kernwright."""
    built_in: bool = True
    """Whether those that come with it may be told."""
    memory: Memory = "run"
    repairs: int = 0
    """How often in a row a failed candidate goes back to the operator with its error."""
    fitness: str = "log_speedup"
    executor: str = "processes"
    evaluator: str = JUDGE
    """`module:Class` of the evaluator that the executor's workers make."""
    profiles: Profiling = "run"
    """How survivors are looked at where the guidance tells of profiles or diagnoses: their compiled code, or also
    while they run."""
    plan: Plan = QUICK
    confirm_plan: Plan = FULL
    budget: Budget = Budget()
    until: float | None = None
    """End once a verified speedup's lower bound reaches this."""
    patience: int | None = None
    """End after this many evaluated proposals without a better score."""
    proposals_in_flight: int = 4
    evaluations_in_flight: int = 1
    seed: int = 0
    author: str = ""
    """Who writes the candidates, where a person or an agent does."""

    @property
    def elsewhere(self) -> bool:
        """Whether nothing is evaluated on this machine: what is proposed leaves as a job, its result comes back."""
        return self.executor == ELSEWHERE
