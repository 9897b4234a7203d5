"""The judge: what it keeps from one evaluation to the next."""

import ctypes

from kernwright.core.digest import digest
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Evaluation
from kernwright.core.resolve import resolve

from .course import Course, Progress
from .lineup import Lineup
from .participants.workshop import Workshop
from .problem.place import place_of
from .problem.reference import Reference
from .profiling import profiled
from .room import Room
from .runner import kernel

_M_MMAP_THRESHOLD, _M_TRIM_THRESHOLD = -3, -1


class Judge:
    """Evaluates candidates. Keeps a launcher, the problem and its baselines warm between evaluations.

    The process it lives in is trusted with everything; nothing of a candidate ever runs in it.
    """

    def __init__(self, home: str) -> None:
        self._home = home
        _keep_freed_memory()
        # A runner that no namespace holds may share this user: it must not read secrets out of this process.
        kernel.prctl("dumpable", kernel.PR_SET_DUMPABLE, 0)
        self._shops: dict[tuple[str, str], Workshop] = {}
        self._references: dict[str, Reference] = {}
        self._lineups: dict[str, Lineup] = {}
        self._rooms: dict[tuple[str, str], Room] = {}

    def evaluate(self, job: EvalJob, progress: Progress | None = None) -> Evaluation:
        """One evaluation; of a job that is to profile, one without a verdict.

        Raises:
            UserError: the problem cannot be judged.
            MachineFault: the machine is at fault.
        """
        if job.kind == "profile":
            return profiled(self, job, progress or (lambda _: None))
        return Course(self, job, progress or (lambda _: None)).run()

    def rest(self) -> None:
        """Between evaluations: give up device memory that another process waits for."""
        for room in self._rooms.values():
            room.rest()

    def shop(self, job: EvalJob) -> Workshop:
        """The workshop of this job's device."""
        key = (job.platform, job.target)
        if key not in self._shops:
            self._shops[key] = Workshop(resolve(job.platform)(), job.target)
        return self._shops[key]

    def room(self, job: EvalJob) -> Room:
        """The memory of this job's device."""
        key = (job.platform, job.target)
        if key not in self._rooms:
            for other in self._rooms.values():
                other.leave()
            self._rooms[key] = Room(self.shop(job).session, self._cool_down)
        return self._rooms[key]

    def reference(self, job: EvalJob) -> Reference:
        """The problem, loaded; one is kept."""
        if job.problem.id not in self._references:
            for old in self._references.values():
                old.close()
            place = place_of(self.shop(job).session)
            self._references = {job.problem.id: Reference(job.problem, job.plan.limits.reference_s, place)}
        return self._references[job.problem.id]

    def lineup(self, job: EvalJob) -> Lineup:
        """The problem's baselines; one set is kept."""
        problem, plan = job.problem, job.plan
        what = (problem.source, problem.entry, problem.workloads, problem.rules.precision)
        key = digest((what, job.target, plan.threads, plan.baselines, plan.limits))
        if key not in self._lineups:
            for old in self._lineups.values():
                old.close()
            self._lineups = {key: Lineup(self.shop(job), job)}
        return self._lineups[key]

    def close(self) -> None:
        """End every process and remove every scratch folder."""
        self._cool_down()
        for room in self._rooms.values():
            room.leave()
        for shop in self._shops.values():
            shop.close()
        for reference in self._references.values():
            reference.close()
        self._lineups, self._rooms, self._shops, self._references = {}, {}, {}, {}

    def _cool_down(self) -> None:
        for lineup in self._lineups.values():
            lineup.close()


def _keep_freed_memory() -> None:
    """Have glibc reuse large blocks: mapping 16 MB anew costs more than the comparison made in it."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, 32 << 20)
        mallopt(_M_TRIM_THRESHOLD, 1 << 30)
