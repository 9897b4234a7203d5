"""A place in the search graph, as far as the journal tells of it."""

from dataclasses import dataclass

from .brief import Exhausted, Pick, Proposed, Remarked, Unusable
from .diagnosis import Diagnosis
from .outcome import Evaluation, timings_of
from .profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A place in the search graph."""

    id: int
    pick: Pick
    draft: Proposed | Unusable | Remarked | Exhausted | None = None
    evaluation: Evaluation | None = None
    """The newest one with purpose `search` or `confirm`."""
    searched: Evaluation | None = None
    """The newest one with purpose `search`; its plan is the same for all nodes of a run."""
    score: float | None = None
    """Fitness from the search; a confirmation replaces it."""
    credit: float | None = None
    """The best score of a tuned child, credited to this node; None without one."""
    verified: bool = False
    profile: Profile | None = None
    diagnosis: Diagnosis | None = None

    @property
    def candidate(self) -> str | None:
        """Blob of the candidate, once there is one."""
        return self.draft.candidate if isinstance(self.draft, Proposed) else None

    @property
    def in_flight(self) -> bool:
        """Picked or drafted, and not at an end yet."""
        return self.draft is None or (isinstance(self.draft, Proposed) and self.evaluation is None)

    @property
    def faster(self) -> bool:
        """Whether its newest evaluation shows that it is faster than the faster baseline."""
        timings = timings_of(self.evaluation.outcome) if self.evaluation is not None else None
        return timings is not None and timings.faster

    @property
    def merit(self) -> float | None:
        """What policies rank by: the node's own score or a tuned child's, whichever is higher."""
        if self.score is None:
            return None
        return self.score if self.credit is None else max(self.score, self.credit)
