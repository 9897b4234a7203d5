"""Work for an evaluator, as plain data that can cross to another process."""

from dataclasses import dataclass, field
from typing import Literal

from .candidate import Candidate
from .digest import digest
from .plan import Plan
from .problem import Problem

JUDGE_VERSION = "52"
"""Changes whenever a verdict could change; part of an evaluation's key."""

REFERENCE_STAGE = "prepare"
"""The stage in which the problem's own code runs in the evaluator's process."""
Purpose = Literal["search", "tune", "confirm"]
Look = Literal["", "code", "run"]
"""How a candidate is looked at in place of being judged: not at all, its compiled code, or also while it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalJob:
    """One evaluation to be done."""

    problem: Problem
    candidate: Candidate
    target: str
    plan: Plan
    language: str
    """`module:Class` of the candidate's language."""
    platform: str
    """`module:Class` of the target's platform."""
    home: str
    """Folder for caches: builds, baselines' compiled code, the machine's noise floor."""
    champion: Candidate | None = None
    """Timed beside the candidate where given."""
    champion_language: str = ""
    """`module:Class` of the champion's language."""
    failed_baselines: dict[str, str] = field(default_factory=dict)
    """What is not to be tried again, with the reason why it failed."""
    build_only: bool = False
    followed: bool = False
    """Whether another one of the same problem comes at once: what is set up for it is then kept though others wait."""
    look: Look = ""
    """Where not empty, the evaluation holds a profile in place of a verdict."""
    profiler: str = ""
    """`module:Class` of what looks at candidates on the platform; empty where there is none."""

    @property
    def kind(self) -> Literal["judge", "profile"]:
        """What comes of it."""
        return "profile" if self.look else "judge"

    @property
    def id(self) -> str:
        """Digest of all that is asked, the machine aside."""
        key = evaluation_key(self.candidate.id, self.problem.id, self.plan)
        return digest((key, self.target, self.build_only, *([self.look] if self.look else [])))


def evaluation_key(candidate: str, problem: str, plan: Plan) -> str:
    """Identical source under the same plan and judge reuses the evaluation that has this key."""
    return digest((candidate, problem, plan, JUDGE_VERSION))
