"""Who runs beside the candidate: baselines, kept warm or fresh, and the champion."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from kernwright.core.candidate import SourceFile
from kernwright.core.digest import digest
from kernwright.core.errors import MachineFault
from kernwright.core.jobs import EvalJob
from kernwright.core.plan import PATIENCE, Plan
from kernwright.core.problem import Problem

from .build import compiler_version
from .ended import Ended
from .giving_way import Courtesy
from .participants.keeping import keep
from .participants.participant import Participant
from .participants.workshop import Workshop
from .problem.setting import Setting
from .room import said_by

PROBE = SourceFile(
    name="probe.py",
    text="""\
import contextlib

with contextlib.suppress(Exception):
    from torch._inductor.cpu_vec_isa import valid_vec_isa_list

    valid_vec_isa_list()
""",
)
"""Has Inductor compile what shows it the processor's vector units: five seconds, and the same for every problem."""


FAULTS = "SIGSEGV", "SIGILL", "SIGFPE"
"""Signals that nothing outside a process brings about."""


class Lineup:
    """Baselines of one problem on one device. `compile` drops out, with a note, where it does not work."""

    def __init__(self, shop: Workshop, job: EvalJob) -> None:
        self._shop = shop
        self._job = job
        self._stack = ExitStack()
        self._warm: list[Participant] = []
        self.notes: list[str] = []
        self.failed: dict[str, str] = {}
        """Baselines that do not work, with the reason."""
        for name in job.plan.baselines:
            if reason := job.failed_baselines.get(name):
                self.failed[name] = reason
                self.notes.append(
                    "torch.compile failed earlier in this run, so the baseline is eager; `kernwright resume` tries it "
                    f"again: {reason}"
                )

    @property
    def _plan(self) -> Plan:
        """With more time for first calls: what compiles there is the problem's own code and PyTorch."""
        limits = self._job.plan.limits
        return replace(self._job.plan, limits=replace(limits, load_s=PATIENCE * limits.load_s))

    @property
    def is_warm(self) -> bool:
        return bool(self._warm)

    def warm(self, settings: Sequence[Setting]) -> list[Participant]:
        """Baselines in processes that live on from one evaluation to the next, asleep in between."""
        if any(participant.runner.closed for participant in self._warm):
            self.close()
        if not self._warm:
            with ExitStack() as stack:
                started = [self._start(stack, name, settings) for name in self._job.plan.baselines]
                self._stack.push(stack.pop_all())
            self._warm = [participant for participant in started if participant is not None]
        return self._warm

    @contextmanager
    def fresh(self, names: Sequence[str], settings: Sequence[Setting]) -> Iterator[list[Participant]]:
        """Baselines in new processes with new allocations, gone at the end. Not to be called with a lease in hand."""
        with ExitStack() as stack:
            started = [self._start(stack, name, settings) for name in names]
            present = [participant for participant in started if participant is not None]
            try:
                yield present
            except Ended as error:
                self._blame(error, present)
                raise

    def without_dead(self, error: Ended, present: Sequence[Participant]) -> list[Participant]:
        """Have a baseline that died drop out, as one that does not start does: no matter of the candidate's.

        Raises:
            Ended: the error, where none did.
            MachineFault: it is the problem's own code that died.
        """
        self._blame(error, present)
        left = [each for each in present if each.name not in self.failed]
        if len(left) == len(present):
            raise error
        return left

    def _blame(self, error: Ended, present: Sequence[Participant]) -> None:
        """Only for a fault of its own: for want of memory it may die by a candidate, which would be rid of it."""
        reason = str(getattr(error.outcome, "reason", error.outcome.kind))
        if not any(fault in reason for fault in FAULTS):
            return
        for dead in (each for each in present if each.name in self._job.plan.baselines and each.runner.closed):
            self._lose(dead.name, reason, "died while it was timed")

    def close(self) -> None:
        """End the warm ones; they can be warmed again."""
        self._warm = []
        self._stack.close()

    def _start(self, stack: ExitStack, name: str, settings: Sequence[Setting]) -> Participant | None:
        if name in self.failed:
            return None
        problem, compiled = self._job.problem, name == "compile"
        # Elsewhere a runner's folder has another path each time, which compilers' caches do not survive.
        movable = self._shop.isolation == "namespaces"
        cache = self._cache() if compiled and movable else None
        probed = self._probed() if cache is not None and self._shop.session.device == "cpu" else None
        known = next((each for each in (cache, probed) if each is not None and each.exists()), None)
        main = SourceFile(name="problem.py", text=problem.source)
        files = (PROBE, main) if probed is not None and known is None else (main,)
        try:
            with ExitStack() as own:
                runner = self._shop.runner(
                    name,
                    files,
                    self._plan,
                    built=known,
                    precision=problem.rules.precision,
                )
                with self._shop.session.shared() as share:  # a new context of the device's disturbs others' timing
                    participant = own.enter_context(runner)
                    if probed is not None and known is None:
                        with suppress(Ended):
                            keep(participant.scratch, probed, {})
                        participant.load(main.name)
                    courtesy = Courtesy(participant, share, self._shop.session)
                    for setting in settings:
                        participant.open(setting, problem.entry, compiled=compiled)
                        participant.fill(setting.index, 0, setting.bases[0].values)
                        participant.warm(setting.index, 0, setting.bases[0].values, courtesy.meanwhile)
                    if cache is not None and not cache.exists():
                        with suppress(Ended):  # too much of it: each process compiles anew
                            keep(participant.scratch, cache, {})
                    participant.freeze()
                stack.push(own.pop_all())
                return participant
        except Ended as error:
            reason = getattr(error.outcome, "reason", error.outcome.kind)
            if self._shop.session.memory_bytes is not None and "out of memory" in said_by(error.outcome):
                raise MachineFault(
                    f"the device had no room for the baseline {name!r} ({reason}); end other programs that use it, or "
                    "make the problem's workloads smaller."
                ) from error
            self._lose(name, str(reason), "does not work here")
            return None

    def _lose(self, name: str, reason: str, how: str) -> None:
        if name != "compile":
            raise MachineFault(f"the reference does not run in a runner: {reason}")
        self.failed[name] = reason
        self.notes.append(f"torch.compile {how}, so the baseline is eager: {reason}")

    def _cache(self) -> Path:
        return Path(self._job.home) / "cache" / "baseline" / _baseline_key(self._job.problem, self._shop.machine)

    def _probed(self) -> Path:
        import torch

        tools = (self._shop.machine, torch.__version__, os.environ.get("CXX", ""), compiler_version())
        return Path(self._job.home) / "cache" / "probed" / digest(tools)


def _baseline_key(problem: Problem, machine: str) -> str:
    import torch

    what = (problem.source, problem.entry, problem.workloads, problem.rules.precision)
    return digest((what, machine, torch.__version__))
