"""Evaluations that are done on another machine: nothing runs here, what is proposed waits for the result of its job."""

from collections.abc import Callable

from kernwright.core.errors import UserError
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Evaluation
from kernwright.core.spec import ELSEWHERE


class Jobs:
    """Without a slot, so that nobody submits; `kernwright jobs` carries the work to and fro."""

    name = ELSEWHERE

    def __init__(self, evaluator: str, home: str, slots: int, progress: Callable[[str], None]) -> None:
        self.slots = 0

    async def submit(self, job: EvalJob) -> Evaluation:
        """Raises UserError: there is nothing here that could evaluate."""
        raise UserError(
            f"This run is judged elsewhere, where {job.target!r} is; write its jobs with: kernwright jobs export RUN"
        )

    async def close(self) -> None:
        pass
