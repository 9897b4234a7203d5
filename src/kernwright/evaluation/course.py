"""One evaluation: inspect, build, check, measure, confirm."""

import random
import secrets
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import torch

from kernwright import __version__
from kernwright.core.calls import CallSpec
from kernwright.core.candidate import entry_of
from kernwright.core.errors import MachineFault, UserError
from kernwright.core.jobs import JUDGE_VERSION, REFERENCE_STAGE, EvalJob
from kernwright.core.outcome import (
    BuildFailed,
    Built,
    Checked,
    CheckResult,
    Crashed,
    Evaluation,
    Outcome,
    Rejected,
    TimedOut,
    Wrong,
    timings_of,
)  # fmt: skip
from kernwright.core.resolve import resolve

from .build import Build, build
from .calls import calls_of
from .checks import EMULATED_CHECKS, RUN_CHECKS, SOURCE_CHECKS, merge
from .ended import Ended
from .footprint import memory_needed
from .giving_way import Courtesy
from .lineup import Lineup
from .measurement import Measurement
from .participants.opening import has_no_such
from .participants.participant import Participant
from .participants.workshop import Workshop
from .probes.late_probes import forget_probes
from .problem.degeneracy import hollow_notes
from .problem.digitless import require_digits
from .problem.gradients import weights_of
from .problem.setting import Setting, prepare
from .sanitize import sanitizers_of, watch
from .stages import Stages
from .timing.history import beside_history
from .timing.summary import CANDIDATE
from .trial import Trial
from .weights.state import is_constant

if TYPE_CHECKING:
    from .judge import Judge

Progress = Callable[[str], None]


class Course:
    """One evaluation: its stages, what it notes on the way, and its outcome."""

    def __init__(self, judge: "Judge", job: EvalJob, progress: Progress) -> None:
        self._judge, self._job, self._progress = judge, job, progress
        self._seed = secrets.randbits(64)
        self._rng = random.Random(self._seed)
        self._stage = Stages(progress)
        self._checks: list[CheckResult] = []
        self._notes: list[str] = []
        self._resources: dict[str, float] = {}
        self._condition: dict[str, str] = {}
        self._failed: dict[str, str] = {}

    def run(self) -> Evaluation:
        job = self._job
        shop = self._judge.shop(job)
        try:
            outcome = self._stages(shop)
        except Ended as error:
            outcome = error.outcome
            shop.session.require_health()
        except UserError:
            shop.session.require_health()  # the problem's own code may have broken this process's hold on the device
            raise
        except torch.OutOfMemoryError as error:
            raise UserError(
                f"problem {job.problem.name!r} needs more memory than the device has free; make its workloads smaller, "
                f"or wait until other programs have ended. PyTorch says: {str(error)[:300]}"
            ) from error
        if (timings := timings_of(outcome)) is not None:
            self._notes += beside_history(job, shop.machine, timings)
        environment = {**shop.session.environment(), **self._condition, "kernwright": __version__}
        if shop.missing:
            environment["isolation_missing"] = "; ".join(shop.missing)
        return Evaluation(
            candidate=job.candidate.id,
            problem=job.problem.id,
            plan=job.plan.name,
            target=job.target,
            machine=shop.machine,
            judge_version=JUDGE_VERSION,
            outcome=outcome,
            checks=tuple(self._checks),
            isolation=shop.isolation,
            notes=tuple(dict.fromkeys(self._notes)),
            environment=environment,
            resources=self._resources,
            stage_s=self._stage.seconds(),
            seeds=(self._seed,),
            champion=job.champion.id if job.champion is not None else "",
            failed_baselines=self._failed,
        )

    def _stages(self, shop: Workshop) -> Outcome:
        job, session = self._job, shop.session
        with self._stage("inspect"):
            self._inspect()
        with self._stage(REFERENCE_STAGE):
            calls = calls_of(self._judge.reference(job))
        with self._stage.leased(session.building()), self._stage("build"):
            built = build(job.candidate, job.language, job, shop, calls)
            self._resources = dict(built.resources)
            self._notes += built.notes
        if job.build_only:
            return Built()
        if not session.present:
            return self._emulated(shop, calls)
        needed = memory_needed(self._judge.reference(job), session.apart_bytes)
        inspected = len(self._checks)

        def work() -> Outcome:
            del self._checks[inspected:]
            return self._measured(shop, built, calls)

        return self._judge.room(job).made(needed, self._stage.leased, work, followed=job.followed)

    def _measured(self, shop: Workshop, built: Build, calls: Sequence[CallSpec]) -> Outcome:
        """Every tensor of the evaluation is in variables below this call, or in a baseline that stays warm."""
        lineup = self._judge.lineup(self._job)
        measurement = Measurement(shop, self._job, lineup, calls, self._rng, self._stage, self._progress)
        inspected = len(self._checks)
        with ExitStack() as stack:
            candidate, settings = self._checked(stack, shop, built)
            timed = [setting for setting in settings if not setting.workload.held_out]
            if shop.session.memory_bytes is not None and not lineup.is_warm:
                # Nothing bounds what a process takes of a device's memory: baselines start while no candidate runs
                # that could leave them too little. One that fails its checks does not have to wait for them.
                stack.close()
                with self._stage("baselines"):
                    lineup.warm(timed)
                settings.clear()
                del self._checks[inspected:]
                candidate, settings = self._checked(stack, shop, built)
                timed = [setting for setting in settings if not setting.workload.held_out]
            self._watch(shop, settings, calls)
            try:
                others = measurement.line_up(stack, timed)
                outcome = self._timed(measurement, lineup, candidate, others, timed)
                with self._stage.leased(shop.ending()):
                    stack.close()
                return outcome
            finally:
                self._notes += measurement.notes
                self._condition = measurement.condition
                self._failed = dict(lineup.failed)

    def _timed(
        self,
        measurement: Measurement,
        lineup: Lineup,
        candidate: Participant,
        others: Sequence[Participant],
        settings: Sequence[Setting],
    ) -> Outcome:
        """Once more without the baseline that died, where one did.

        Raises:
            MachineFault: the problem's own code died, or too late for the same candidate to be timed again.
        """
        try:
            return measurement.measure(candidate, others, settings)
        except Ended as error:
            left = lineup.without_dead(error, others)
        measurement.notes.append(lineup.notes[-1])
        if candidate.runner.closed:
            raise MachineFault("torch.compile died while the candidate was confirmed; judge it again.")
        return self._timed(measurement, lineup, candidate, left, settings)

    def _emulated(self, shop: Workshop, calls: Sequence[CallSpec]) -> Outcome:
        """As far as one gets without the device: checked by whatever can stand in for it, else built."""
        support = resolve(self._job.language)().emulates(self._job.target)
        absent = f"{self._job.target} is not on this machine"
        if not support.ok:
            return Built(reason=f"built; {absent}, and {support.reason}")
        try:
            with self._stage("build"):
                built = build(self._job.candidate, self._job.language, self._job, shop, calls, emulated=True)
            with ExitStack() as stack:
                self._checked(stack, shop, built)
        except UserError as error:  # no matter of the candidate: too large for this machine, as a rule
            return Built(reason=f"built; {absent}, and it was not checked under {support.reason}: {error}")
        except Ended as error:
            match error.outcome:
                case Crashed(reason=reason) | TimedOut(reason=reason) | BuildFailed(reason=reason):
                    return Built(reason=f"built; {absent}, and under {support.reason} {reason}")
                case _:
                    raise
        return Checked(where=support.reason, reason=f"correct under {support.reason}; {absent}, so it was not timed")

    def _checked(self, stack: ExitStack, shop: Workshop, built: Build) -> tuple[Participant, list[Setting]]:
        runner = shop.runner(
            CANDIDATE,
            self._job.candidate.files,
            self._job.plan,
            built=built.folder,
            precision=self._job.problem.rules.precision,
            language=self._job.language,
            emulated=not shop.session.present,
            loads=False,
        )
        with self._stage.leased(shop.session.starting()), self._stage("start"):
            # A new context of the device's may delay samples of others: a search bears that, no confirmation has to.
            candidate = stack.enter_context(runner)
            shop.session.stock(shop.sizes.get(self._job.problem.id, ()))
        with self._stage.leased(shop.session.shared()) as share:
            with self._stage("load"):
                emulate = None if shop.session.present else (self._job.language, self._job.target)
                candidate.load(self._job.candidate.files[0].name, emulate)
                candidate.freeze()
            courtesy = Courtesy(candidate, share, shop.session, self._stage.waited)
            with self._stage(REFERENCE_STAGE):
                settings = self._settings(courtesy, vary=True)
                self._notes += [*require_digits(settings), *hollow_notes(settings)]
            shop.sizes = {self._job.problem.id: [size for setting in settings for size in setting.sizes]}
            with self._stage("check"):
                settings = self._open(candidate, settings, courtesy)
                stack.callback(forget_probes, settings)
                self._check(candidate, settings, courtesy)
                candidate.freeze()
        return candidate, settings

    def _watch(self, shop: Workshop, settings: Sequence[Setting], calls: Sequence[CallSpec]) -> None:
        """Where fresh process sets are to confirm a candidate, tools have to find nothing in it before."""
        if self._job.plan.process_sets == 0 or not self._job.plan.sanitize:
            return
        results = watch(sanitizers_of(self._job), self._job, shop, settings, calls)
        while True:
            # Between two tools, which take long, others may time.
            with self._stage.leased(shop.session.shared()), self._stage("sanitize"):
                result = next(results, None)
            if result is None:
                return
            self._checks.append(result)
            if not result.passed:
                raise Ended(Wrong(reason=f"{result.name}: {result.detail}"))
            if result.detail.startswith("not watched"):
                self._notes.append(result.detail)

    def _inspect(self) -> None:
        job = self._job
        for check in SOURCE_CHECKS:
            result = check.inspect(job.candidate, job.problem)
            self._checks.append(result)
            if not result.passed:
                raise Ended(Rejected(reason=result.detail))
        support = resolve(job.language)().supports(job.target)
        if not support.ok:
            raise Ended(Rejected(reason=support.reason))

    def _settings(self, courtesy: Courtesy, *, vary: bool) -> list[Setting]:
        reference, problem = self._judge.reference(self._job), self._job.problem
        present = self._judge.shop(self._job).session.present
        reference.has_all_memory = not present or self._judge.room(self._job).has_all
        reference.turns.begin_anew()
        settings = []
        for number, workload in enumerate(problem.workloads):
            settings.append(prepare(reference, workload, number, self._rng, vary=vary))
            courtesy()
        self._notes += reference.notes
        if any(setting.lean for setting in settings):
            self._judge.room(self._job).crowded = True
        if not any(workload.held_out for workload in problem.workloads):
            self._notes.append("shape-specialised: the problem holds no workload back, so only values were varied")
        if settings[0].state:
            self._notes.append("the module ran in eval() mode")
            if entry_of(self._job.candidate) == "kernel":
                reason = "the problem has parameters or buffers, so the candidate must be a class ModelNew, not kernel"
                raise Ended(Rejected(reason=reason))
        return settings

    def _open(self, candidate: Participant, settings: list[Setting], courtesy: Courtesy) -> list[Setting]:
        entry = entry_of(self._job.candidate)
        assert entry is not None
        unmatched = {name for setting in settings for name in candidate.open(setting, entry)}
        if not unmatched or entry == "kernel":
            return settings
        if self._job.problem.backward and (lost := unmatched & {*weights_of(settings[0].model)}):
            reason = f"the candidate has no weight {min(lost)!r} of the reference's shape, so it has no gradient of it"
            raise Ended(Wrong(reason=reason))
        self._notes.append(
            f"weights without a counterpart of their name in the candidate ({', '.join(sorted(unmatched)[:4])}) come "
            "from the init seed alone, so they were not varied"
        )
        settings = self._settings(courtesy, vary=False)
        for setting in settings:
            lost = {*candidate.open(setting, entry)}
            if fixed := [name for name in lost if name in setting.state and is_constant(setting.state[name])]:
                reason = f"the candidate has no weight {min(fixed)!r} of the reference's shape, so it cannot follow it"
                raise Ended(Wrong(reason=reason))
            unknown = lost & {*setting.followed}
            if unknown and not self._job.problem.rules.prepack:
                raise Ended(Wrong(reason=has_no_such(min(unknown))))
        return settings

    def _check(self, candidate: Participant, settings: Sequence[Setting], courtesy: Courtesy) -> None:
        results: list[CheckResult] = []
        present = self._judge.shop(self._job).session.present
        checks = RUN_CHECKS if present else EMULATED_CHECKS  # a stand-in is a thousand times slower
        try:
            for setting in settings:
                candidate.fill(setting.index, 0, values := setting.bases[0].values)
                candidate.warm(setting.index, 0, values, courtesy.meanwhile)  # it may compile
                rules = self._job.problem.rules
                trial = Trial(setting, candidate, rules, self._rng, poisons=not present, give_way=courtesy)
                if present:
                    trial.keep(self._rng.choice(setting.bases))
                for check in checks:
                    results.append(result := check.verify(trial))
                    if not result.passed:
                        raise Ended(Wrong(reason=f"{check.name}: {result.detail}"))
        finally:
            self._checks += merge(results)
            self._notes += self._judge.reference(self._job).notes
