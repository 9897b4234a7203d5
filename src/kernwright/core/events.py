"""What a journal holds. The state of a run is the fold of its events."""

from dataclasses import dataclass
from typing import Literal

from .brief import Draft, Intent, Pick
from .diagnosis import Diagnosis
from .inbox import Action
from .jobs import Purpose
from .note import Note
from .outcome import Evaluation
from .problem import Problem
from .profile import Profile
from .spec import Budget, RunSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """A kernel of an earlier run."""

    candidate: str
    """Its blob."""
    run: str
    node: int
    speedup: float
    """Verified there."""
    likeness: float = 1.0
    """Of the problem there to this one; 1 for the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """Always the first event."""

    spec: RunSpec
    problem: Problem
    start: tuple[str, ...] = ()
    """Blobs of the candidates that the user began with."""
    seeds: tuple[Seed, ...] = ()
    """The best of earlier runs on the same or a like problem."""
    knowledge: str = ""
    """Blob of all that the run may be told (`Shelf`), as it was then; empty where it is told nothing."""
    kernwright: str = ""
    kind: Literal["run_started"] = "run_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """An engine took the run up again; its budget from here on."""

    budget: Budget
    until: float | None = None
    patience: int | None = None
    baselines_again: bool = False
    """Whether baselines that failed in this run are tried again."""
    kind: Literal["resumed"] = "resumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """A place in the graph was opened."""

    node: int
    pick: Pick
    kind: Literal["picked"] = "picked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """An engine's mailbox waits for someone outside to answer a node's brief."""

    node: int
    kind: Literal["asked"] = "asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """An operator answered."""

    node: int
    draft: Draft
    told: tuple[str, ...] = ()
    """Names of the notes that its brief held."""
    kind: Literal["drafted"] = "drafted"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled:
    """One attempt to have a prompt answered."""

    node: int
    model: str
    intent: Intent
    prompt: str
    """Blob of the prompt."""
    reply: str = ""
    """Blob of the reply; empty where none came."""
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0
    """Where an attempt broke off and the provider may charge for it: the most that it can charge."""
    seconds: float = 0.0
    error: str = ""
    """Why no reply came."""
    barred: bool = False
    """Whether its key, account or name is at fault, so that this engine does not ask it again."""
    after: int = 0
    """How far the journal was when the brief was made: what the prompt holds follows from it up to there."""
    kind: Literal["model_called"] = "model_called"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """An evaluation ended; `score` is the fitness at that time, None for what was not measured."""

    node: int
    purpose: Purpose
    key: str
    score: float | None
    evaluation: Evaluation
    reused: bool = False
    """Whether the evaluation was taken from an earlier node with the same key."""
    kind: Literal["evaluated"] = "evaluated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiled:
    """A survivor was looked at. Nothing of it changes a verdict or a score."""

    node: int
    profile: Profile
    diagnosis: Diagnosis | None = None
    kind: Literal["profiled"] = "profiled"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLearned:
    """A lesson of this run was kept for others, or one of theirs was confirmed, refuted or contradicted by it."""

    note: Note
    kind: Literal["note_learned"] = "note_learned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Steered:
    """A person took a hand in the search."""

    action: Action
    node: int | None = None
    text: str = ""
    """The hint, the idea that is banned, or the run that a fork began."""
    author: str = ""
    kind: Literal["steered"] = "steered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Faulted:
    """The machine failed; nothing is said about any candidate."""

    machine: str
    reason: str
    node: int | None = None
    kind: Literal["faulted"] = "faulted"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The run ended in order. It can still be resumed with a larger budget."""

    reason: str
    champion: int | None
    kind: Literal["run_finished"] = "run_finished"


Event = (
    RunStarted
    | Resumed
    | Picked
    | Asked
    | ModelCalled
    | Drafted
    | Evaluated
    | Profiled
    | NoteLearned
    | Steered
    | Faulted
    | RunFinished
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An event with its place in the journal and the wall clock in seconds since the epoch."""

    seq: int
    at: float
    event: Event
