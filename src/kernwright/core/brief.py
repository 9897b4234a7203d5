"""What an operator is asked for and what it answers."""

from dataclasses import dataclass, field
from typing import Literal

from .candidate import Candidate
from .guidance import Guidance, MemoryMode
from .outcome import Evaluation
from .problem import Problem
from .profile import Profile

Intent = Literal["start", "improve", "repair", "combine", "simplify", "port", "tune", "explain", "critique"]
REMARKS: frozenset[Intent] = frozenset({"explain", "critique"})
"""Text about a candidate: no proposal, and nothing that a search takes for a child."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A policy's request for a child of these parents with this intent."""

    parents: tuple[int, ...] = ()
    intent: Intent = "start"
    island: int | None = None
    """Which part of a population the child belongs to, where the policy keeps several."""
    variant: str = ""
    """Which of an intent's prompts, where a method has its own: `e1` of EoH, say."""
    memory: bool | MemoryMode = True
    """Whether the operator may recall earlier nodes, failures among them, where the guidance has a memory at all; or
    which ones, in place of what the guidance says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A solution that came before, with what happened to it."""

    node: int
    candidate: Candidate
    evaluation: Evaluation | None
    summary: str = ""
    """Its name."""
    approach: str = ""
    profile: Profile | None = None
    """Where somebody has looked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """An earlier proposal in a line: what it tried and what came of it."""

    node: int
    intent: Intent
    summary: str
    verdict: str
    reason: str = ""
    """Why it failed; empty where it did not."""
    speedup: float | None = None
    times: int = 1
    """How often the same error came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """What whoever wrote a candidate says was learnt, with what that candidate was worth."""

    node: int
    text: str
    speedup: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of domain knowledge, with where it is from."""

    title: str
    text: str
    name: str = ""
    """By which it can be asked for in full."""
    origin: str = ""
    """Its date and evidence, and how it has fared."""

    @property
    def quoted(self) -> str:
        """All that is told of it, to stand in a fence: others wrote its title and evidence too."""
        where = "; ".join(filter(None, (self.name, self.origin)))
        head = " ".join(self.title.split()), f"({' '.join(where.split())})" if where else ""
        return "\n".join((*filter(None, head), "", self.text))

    @property
    def size(self) -> int:
        """Bytes of that."""
        return len(self.quoted.encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Title:
    """A piece of domain knowledge that can be asked for."""

    name: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """An earlier failure of the same kind, and what mended it."""

    node: int
    """Of what was right; of its own run."""
    reason: str
    """Why the one before it failed."""
    approach: str = ""
    change: str = ""
    """A diff, or the beginning of one."""
    run: str = ""
    """Where that was another run."""
    name: str = ""
    """Of the note that says so, where one does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """Everything that an operator is told for one proposal."""

    run: str
    node: int
    """The place in the graph that the draft will take; also the brief's name for `ask` and `tell`."""
    intent: Intent
    problem: Problem
    target: str
    parents: tuple[Earlier, ...]
    """What the policy picked, whether or not the guidance shows it."""
    seed: int
    variant: str = ""
    guidance: Guidance = Guidance()
    languages: tuple[str, ...] = ()
    """In which a candidate for this target can be written."""
    best: Earlier | None = None
    """Where the guidance asks for it, as all that follows."""
    elite: tuple[Earlier, ...] = ()
    insights: tuple[Insight, ...] = ()
    knowledge: tuple[Passage, ...] = ()
    further: tuple[Title, ...] = ()
    """Knowledge that the budget had no room for, the nearest first."""
    mended: tuple[Mended, ...] = ()
    """Earlier repairs of what failed."""
    diagnosis: str = ""
    """Of the first parent: what limits it, and what came of what its writer expected."""
    bottlenecks: tuple[str, ...] = ()
    """The classes of that diagnosis, the dominant first."""
    counted: tuple[str, ...] = ()
    """Names of the figures that profiles had of the first parent: a writer's expectations may speak of these."""
    memory: tuple[Recalled, ...] = ()
    failures: tuple[Recalled, ...] = ()
    hints: tuple[str, ...] = ()
    """What a person wants tried."""
    after: int = field(default=0, compare=False)
    """How far the journal was when this was made of it."""

    @property
    def told(self) -> tuple[str, ...]:
        """Names of the notes in it."""
        names = (*(passage.name for passage in self.knowledge), *(mended.name for mended in self.mended))
        return tuple(dict.fromkeys(filter(None, names)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A candidate, by the digest of its blob."""

    candidate: str
    operator: str
    item: str = ""
    """The operator's own name for what it used up (a recording's entry, a compiler setting)."""
    summary: str = ""
    approach: str = ""
    """What it does and why that should be fast, by whoever wrote it."""
    insights: tuple[str, ...] = ()
    """What was learnt in writing it, to be told to those who come after."""
    expects: tuple[str, ...] = ()
    """Which figures it changes against its parent, by whoever wrote it: `time on all -30 %`."""
    author: str = ""
    knobs: tuple[str, ...] = ()
    chars: int = 0
    """Length of its source, noted by the journal."""
    usd: float = 0.0
    kind: Literal["proposed"] = "proposed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """A reply that holds no candidate."""

    operator: str
    reason: str
    item: str = ""
    usd: float = 0.0
    kind: Literal["unusable"] = "unusable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remarked:
    """Text about the parent, where no candidate was asked for: `explain`, `critique`."""

    operator: str
    text: str
    author: str = ""
    item: str = ""
    usd: float = 0.0
    kind: Literal["remarked"] = "remarked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhausted:
    """Nothing more will come for this intent: a recording is over, every setting was tried."""

    operator: str
    intent: Intent
    reason: str = ""
    kind: Literal["exhausted"] = "exhausted"


Draft = Proposed | Unusable | Remarked | Exhausted
