"""What there is to say of a problem: repeatable, degenerate, its baselines, and what there is to win."""

import math
import secrets
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from statistics import median

from kernwright.core.errors import UserError
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import Interval
from kernwright.core.report import Finding, ProblemReport, WorkloadReport
from kernwright.core.resolve import resolve

from .ended import Ended
from .footprint import memory_needed, nbytes_of
from .lineup import Lineup
from .participants.participant import Participant
from .participants.workshop import Workshop
from .problem import physics
from .problem.degeneracy import findings
from .problem.place import place_of
from .problem.reference import Reference
from .problem.setting import Setting, prepare
from .problem.shortage import where_possible
from .room import Room
from .stages import Stages
from .timing.statistics import block_log_ratios, t_interval, weighted_mean
from .timing.track import Track

NOTHING = 1.1
"""Where the faster baseline takes no more than this many times a copy, there is nothing to win."""


def report(job: EvalJob, progress: Callable[[str], None], shop: Workshop | None = None) -> ProblemReport:
    """Look at the problem of a job; its candidate plays no part. A workshop that is given is used and left open.

    Raises:
        UserError: the problem cannot be judged.
        MachineFault: the machine is at fault.
    """
    return _Look(job, progress, shop).run()


class _Look:
    def __init__(self, job: EvalJob, progress: Callable[[str], None], shop: Workshop | None) -> None:
        self._job = job
        self._shop = shop
        self._rng = Random(secrets.randbits(64))
        self._stage = Stages(progress)
        self._findings: list[Finding] = []
        self._notes: list[str] = []

    def run(self) -> ProblemReport:
        shop = self._shop or Workshop(resolve(self._job.platform)(), self._job.target)
        try:
            with self._stage("load"):
                place = place_of(shop.session)
                reference = Reference(self._job.problem, self._job.plan.limits.reference_s, place)
                needed = memory_needed(reference, shop.session.apart_bytes)
            room = Room(shop.session, empty=lambda: None)
            try:
                return room.made(needed, self._stage.leased, lambda: self._looked(shop, reference, room))
            finally:
                reference.close()
                room.leave()
        finally:
            if shop is not self._shop:
                shop.close()

    def _looked(self, shop: Workshop, reference: Reference, room: Room) -> ProblemReport:
        reference.has_all_memory = room.has_all
        with self._stage("prepare"), shop.session.shared():
            settings = self._settings(reference)
        with self._stage("degenerate?"), shop.session.shared():
            self._findings = _merged([f for setting in settings for f in findings(setting)])
        self._notes += reference.notes
        if settings[0].state:
            self._notes.append("the module ran in eval() mode")
        return self._timed(shop, settings)

    def _settings(self, reference: Reference) -> list[Setting]:
        # Weights stay as the module makes them: whoever reads the report has to see what zeros do.
        return [
            prepare(reference, workload, index, self._rng, vary=False)
            for index, workload in enumerate(self._job.problem.workloads)
        ]

    def _timed(self, shop: Workshop, settings: Sequence[Setting]) -> ProblemReport:
        timed = [setting for setting in settings if not setting.workload.held_out]
        cold = shop.session.flushes(self._job.plan.cold)
        lineup = Lineup(shop, self._job)
        try:
            with self._stage("baselines"):
                others = lineup.warm(timed)
            rows = self._rows(shop, lineup, others, settings)
        except Ended as error:
            reason = getattr(error.outcome, "reason", error.outcome.kind)
            raise UserError(
                f"problem {self._job.problem.name!r} does not run as it did in the judge's process: {reason}."
            ) from error
        finally:
            lineup.close()
        return ProblemReport(
            problem=self._job.problem.id,
            name=self._job.problem.name,
            target=self._job.target,
            machine=shop.machine,
            threads=self._job.plan.threads,
            cache="cold" if cold else "llc-warm",
            isolation=shop.isolation,
            workloads=tuple(rows),
            findings=tuple(self._findings),
            to_win=_to_win(rows),
            notes=tuple(dict.fromkeys([*self._notes, *lineup.notes])),
            environment=dict(shop.session.environment()),
            stage_s=self._stage.seconds(),
        )

    def _rows(
        self, shop: Workshop, lineup: Lineup, others: list[Participant], settings: Sequence[Setting]
    ) -> list[WorkloadReport]:
        """Once more without the baseline that died, where one did."""
        track = Track(shop.session, self._job.plan, self._rng, shop.session.flushes(self._job.plan.cold))
        try:
            with self._stage("measure"), shop.session.exclusive():
                rows = [self._workload(shop, setting, others, track) for setting in settings]
            with self._stage("check"), shop.session.shared():
                track.compare_kept()
        except Ended as error:
            return self._rows(shop, lineup, lineup.without_dead(error, others), settings)
        return rows

    def _workload(
        self, shop: Workshop, setting: Setting, others: Sequence[Participant], track: Track
    ) -> WorkloadReport:
        written = nbytes_of(setting.bases[0].native)
        times: dict[str, float] = {}
        against: Interval | None = None
        copy_ns = floor_ns = None
        if not setting.workload.held_out:
            eager = next(p for p in others if p.name == "eager")
            moved = partial(physics.floor_ns, shop.session, setting, self._rng)
            floor_ns = where_possible(setting.reference, moved)
            floor_ns = floor_ns or shop.session.least_ns(written, self._job.plan.threads)
            if not setting.reference.mutates:  # whoever changes its inputs is no honest competitor
                # Eager first: whoever is first has its outputs compared.
                race = track.race(setting, [eager, *(p for p in others if p is not eager)], settle=True)
                times = {name: median(race.times_ns(name)) for name in race.clocks}
                copy_ns = track.copy_ns(race, eager)
                if "compile" in times:
                    ratios = block_log_ratios(race.times_ns("compile"), race.times_ns("eager"))
                    against = t_interval(ratios, first=self._job.plan.blocks)
        return WorkloadReport(
            workload=setting.workload.name,
            weight=setting.workload.weight,
            held_out=setting.workload.held_out,
            input_bytes=nbytes_of(setting.bases[0].values),
            weight_bytes=nbytes_of(setting.state.values()),
            output_bytes=written,
            eager_ns=times.get("eager"),
            compile_ns=times.get("compile"),
            compile_speedup=against,
            copy_ns=copy_ns,
            floor_ns=floor_ns,
        )


def _to_win(rows: Sequence[WorkloadReport]) -> str:
    known = [(math.log(row.headroom), row.weight) for row in rows if row.headroom]
    if not known:
        return "What there is to win is not known: the baselines were not timed."
    most = math.exp(weighted_mean([log for log, _ in known], [weight for _, weight in known]))
    if most <= NOTHING:
        return f"Nothing to win here: the faster baseline takes {most:.2f} times as long as copying as many bytes."
    return (
        f"At most about {most:.1f}x to win: so much longer than a copy of as many bytes does the faster baseline take; "
        "arithmetic may leave less."
    )


def _merged(found: Sequence[Finding]) -> list[Finding]:
    """One finding for each name and sentence, with all its workloads."""
    places: dict[tuple[str, str], list[str]] = {}
    for each in found:
        places.setdefault((each.name, each.sentence), []).append(each.workload)
    return [
        Finding(name=name, sentence=sentence, workload=", ".join(workloads))
        for (name, sentence), workloads in places.items()
    ]
