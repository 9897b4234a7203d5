"""What travels to the machine that has the target, and what comes back."""

from dataclasses import dataclass
from typing import Literal

from kernwright.core.candidate import Candidate
from kernwright.core.digest import digest
from kernwright.core.events import Drafted, Evaluated, Picked
from kernwright.core.jobs import JUDGE_VERSION, Purpose
from kernwright.core.outcome import Evaluation
from kernwright.core.plan import Plan
from kernwright.core.profile import Profile
from kernwright.core.report import ProblemReport
from kernwright.core.spec import RunSpec

Kind = Literal["judge", "baseline", "seeds", "tune", "profile"]
ORDER: tuple[Kind, ...] = ("judge", "baseline", "seeds", "tune", "profile")
"""What is done first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of a run's work."""

    kind: Kind
    run: str
    problem: str
    """Id of the problem."""
    problem_blob: str
    spec: RunSpec
    """The run's settings. Its operators are the one that the job is for; its budget is what the run has left."""
    node: int | None = None
    """The node to judge, to tune or to look at."""
    candidate: str = ""
    """Blob of that node's candidate."""
    purpose: Purpose = "search"
    champion: str = ""
    """Blob of the candidate to be timed beside it in a confirmation."""
    evaluation: Evaluation | None = None
    """What is known of the node to tune; where nothing is, its own judge job of the same folder says it."""
    known: tuple[Evaluated, ...] = ()
    """Trials of this tuning that were brought home already."""
    used: tuple[str, ...] = ()
    """The operator's items that were used up already."""

    @property
    def plan(self) -> Plan:
        """The plan of its evaluations."""
        return self.spec.confirm_plan if self.purpose == "confirm" else self.spec.plan

    @property
    def id(self) -> str:
        """Kind and digest of what is asked; how far it has come, and the budget, are no part of it."""
        operators = tuple((operator.name, operator.settings) for operator in self.spec.operators)
        asked = (self.run, self.problem, self.node, self.candidate, self.purpose, self.champion)
        how = (self.plan, self.spec.target, self.spec.evaluator, operators, JUDGE_VERSION)
        return f"{self.kind}-{digest((self.kind, asked, how))[:16]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What was done of one job. Nodes in `events` are numbered within the job, but for a judge job's own."""

    job: Job
    judge_version: str
    kernwright: str
    complete: bool
    """Whether there is no more to do."""
    events: tuple[Picked | Drafted | Evaluated, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    """What the events propose."""
    report: ProblemReport | None = None
    profile: Profile | None = None
    seconds: float = 0.0
    """Wall time that the job took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunJobs:
    """One run's jobs in a folder."""

    problem: str
    """Name of the problem, for people."""
    target: str
    jobs: dict[str, Kind]
    """By id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a folder of jobs holds, and what wrote it."""

    kernwright: str
    judge_version: str
    runs: dict[str, RunJobs]
