"""Measure and confirm: from a checked candidate to `measured` or `verified`."""

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

from kernwright.core.candidate import Candidate, entry_of
from kernwright.core.jobs import EvalJob
from kernwright.core.outcome import CheckResult, Measured, Outcome, Suspicious, Timings, Verified, Wrong
from kernwright.core.plan import Plan

from .build import Calls, build
from .checks.fresh_weights import FreshWeights
from .checks.held_result import HeldResult
from .checks.own_kernels import OwnKernels
from .ended import Ended
from .giving_way import Courtesy
from .lineup import Lineup
from .participants.laying_out import SETS
from .participants.participant import Participant
from .participants.workshop import Workshop
from .problem.physics import floor_ns
from .problem.setting import Setting
from .stages import Stages
from .timing.burst_witness import count_bursts, short_call_excess
from .timing.dependence import charge_dependence
from .timing.drops import charge_drops
from .timing.filling import filling
from .timing.glances import Charge, Glances
from .timing.noise import NoiseFloor
from .timing.onlooker import Onlooker
from .timing.race import KeepOf, Race, samples_of
from .timing.steadiness import unsteady
from .timing.summary import CANDIDATE, CHAMPION, Facts, confirmations, needed, sentence, summarise, with_left_out
from .timing.track import Track
from .timing.unchecked import BLOCKS, charge_unchecked, suspects
from .timing.witness import LONG_NS, disturbed, settle_clocks, with_clock
from .trial import Trial

HELD_FOR = 1, 4
"""So many calls, at the least and at the most, come between one that was made after all samples and a look at its
result."""


class Measurement:
    """Times one candidate against its baselines and the champion."""

    def __init__(
        self,
        shop: Workshop,
        job: EvalJob,
        lineup: Lineup,
        calls: Calls,
        rng: random.Random,
        stage: Stages,
        progress: Callable[[str], None],
    ) -> None:
        self._shop, self._job, self._lineup, self._rng = shop, job, lineup, rng
        self._calls, self._stage, self._progress = calls, stage, progress
        self._cold = shop.session.flushes(job.plan.cold)
        forbidden = job.problem.rules.vendor_libraries == "forbidden"
        # A device's work cannot be looked into from its host.
        self._onlooker = Onlooker(rng) if forbidden and not shop.session.bursts else None
        self.notes: list[str] = []
        self._charged: dict[tuple[str, str, str], tuple[float, str]] = {}
        """By cause, participant and workload: the most that its calls were charged, and the note about it."""
        self._floors_ns: list[float | None] = []
        self._conditions: list[Mapping[str, str]] = []
        self.condition: dict[str, str] = {}
        """Clocks, temperature and throttling of the device, before and after the first timing."""
        if not self._cold:
            self.notes.append("the last-level cache may have been warm (llc-warm)")

    def line_up(self, stack: ExitStack, settings: Sequence[Setting]) -> list[Participant]:
        """Baselines, and the champion where the job names one, ready to run."""
        with self._stage("baselines"):
            others = list(self._lineup.warm(settings))
            self.notes += self._lineup.notes
            if self._job.champion is not None:
                others.append(self._enter(stack, CHAMPION, self._job.champion, settings))
        return others

    def measure(self, candidate: Participant, others: Sequence[Participant], settings: Sequence[Setting]) -> Outcome:
        """Blocks in this set of processes, then fresh sets where the plan asks; takes the exclusive lease itself.

        Raises:
            Ended: the candidate failed, or gave a wrong output in a timed call.
        """
        session = self._shop.session
        if candidate.delivers:
            self.notes.append("the system lets nobody read a runner's memory, so the candidate copied its own results")
        self.notes += [candidate.remark] if candidate.remark else []
        eager = next(p for p in others if p.name == "eager")
        with self._stage.leased(session.exclusive()):
            before = session.condition()
            with self._stage("measure"):
                track = Track(session, self._job.plan, self._rng, self._cold)
                glances = Glances(self._rng, self._job.problem.rules, track, self._required)
                between = partial(self._between, glances)
                # Fresh sets decide where there are any; here it only shows which baselines they need.
                settle = self._job.plan.process_sets == 0
                races = [
                    track.race(setting, [candidate, *others], settle=settle, after_block=between)
                    for setting in settings
                ]
                copies = [track.copy_ns(race, eager) for race in races]
                eager.freeze()
                doubt = self._doubts(races, [candidate, *others], glances, track)
            after = session.condition()
            self._conditions += [before, after]
            self.condition = {f"{name} before": value for name, value in before.items()}
            self.condition |= {f"{name} after": value for name, value in after.items()}
        # Once for all: whoever shares the device keeps others from timing, and waits for them, each time.
        with self._stage.leased(session.shared()) as share:
            with self._stage("check"):
                track.compare_kept()
                courtesy = Courtesy(candidate, share, session, self._stage.waited)
                self._check_again(candidate, races, track, courtesy)
            with self._stage("floor"):
                self._floors_ns = [floor_ns(session, setting, self._rng) for setting in settings]
        if settle and doubt is None:
            self._charge_unchecked(races, eager, settings)
        with self._stage("noise"):
            facts, timings = self._first_timings(races, copies)
        if doubt is not None:
            return Suspicious(reason=doubt, timings=timings)
        if self._job.plan.process_sets == 0:
            self.notes += unsteady(self._conditions, timings)
            return Measured(timings=timings, reason=sentence(timings))
        if any(setting.lean for setting in settings):  # there is no room for another set beside this one
            self._lineup.close()
            for participant in (candidate, *others):
                participant.close()
        return self._confirm(timings, settings, facts)

    def _first_timings(self, races: Sequence[Race], copies: Sequence[float]) -> tuple[Facts, Timings]:
        """What these races say, beside a noise floor of this machine."""
        floors = NoiseFloor(self._shop, self._job, self._cold)

        def beside(*, own: bool = False, old: bool = False) -> tuple[Facts, Timings]:
            facts = self._facts(copies, floors.of(races, self._rng, own=own, old=old))
            return facts, summarise(samples_of([races]), facts)

        ends = self._job.plan.process_sets == 0
        facts, timings = beside(old=ends)
        if ends and timings.speedup.low > 1:  # else no floor makes a difference
            facts, timings = beside()
        if floors.borrowed and 1 < timings.speedup.low <= 1 + timings.aa_floor:
            facts, timings = beside(own=True)
        return facts, timings

    def _charge_unchecked(self, races: Sequence[Race], eager: Participant, settings: Sequence[Setting]) -> None:
        """Where a candidate became faster once it was checked, what it takes in a process that was not counts.

        Raises:
            Ended: it fails there.
        """
        session = self._shop.session
        # Without a gate a call outside the timing says what the host's work and others' add to it.
        found = [] if session.bursts else suspects(races, CANDIDATE, eager.name)
        if not found:
            return
        timed_anew = partial(self._timed_anew, trusted=eager.name, settings=settings)
        with self._stage("measure"):
            charged = charge_unchecked(found, timed_anew, CANDIDATE, eager.name)
        for race, longer, why in charged:
            self._note_largest(("unchecked", CANDIDATE, race.setting.workload.name), longer, why)

    def _timed_anew(self, races: Sequence[Race], trusted: str, settings: Sequence[Setting]) -> list[Race]:
        """A few samples on the workloads of these races, by new processes of the candidate's and the trusted one's."""
        plan, session = replace(self._job.plan, blocks=BLOCKS, max_blocks=BLOCKS), self._shop.session
        with ExitStack() as stack:
            (eager,) = stack.enter_context(self._lineup.fresh([trusted], settings))
            fresh = self._enter(stack, CANDIDATE, self._job.candidate, settings)
            track = Track(session, plan, self._rng, self._cold, unchecked=True, probes=False)
            with self._stage.leased(session.exclusive()):
                found = [track.race(race.setting, [fresh, eager], settle=False) for race in races]
                eager.freeze()
            # Of so few messages one that is late would decide a mean.
            doubts = [settle_clocks(race, eager.name, CANDIDATE, charge=False) for race in found]
            track.compare_kept()
        if (doubt := next(filter(None, doubts), None)) is not None:
            raise Ended(Suspicious(reason=doubt, timings=None))
        return found

    def _confirm(self, first: Timings, settings: Sequence[Setting], facts: Facts) -> Outcome:
        names = needed(first, self._job.plan.baselines)
        sets: list[list[Race]] = []
        count = confirmations(first, self._job.plan)
        # Whoever comes last may be slower on a device: half of the time it is the champion, and nobody knows when.
        for number, turn in enumerate(self._rng.sample(range(count), count), 1):
            self._progress(f"confirm {number} of {count}")
            races, doubt = self._fresh_set(names, settings, champion_last=turn % 2 == 0)
            sets.append(races)
            if doubt is not None:
                return Suspicious(reason=doubt, timings=with_left_out(summarise(samples_of(sets), facts), first))
        timings = with_left_out(summarise(samples_of(sets), facts), first)
        self.notes += unsteady(self._conditions, timings)
        return Verified(timings=timings, reason=sentence(timings), confirmations=len(sets), first_samples=first.samples)

    def _fresh_set(
        self, names: Sequence[str], settings: Sequence[Setting], *, champion_last: bool
    ) -> tuple[list[Race], str | None]:
        """Races among new processes with new allocations, and what is doubtful about them."""
        plan: Plan = replace(self._job.plan, max_blocks=self._job.plan.blocks)
        session = self._shop.session
        with ExitStack() as stack:
            with self._stage("confirm"):
                # The baselines first: nothing bounds what a candidate takes of a device's memory.
                others = stack.enter_context(self._lineup.fresh(names, settings))
                untrusted = {CANDIDATE: self._job.candidate}
                if self._job.champion is not None:
                    untrusted[CHAMPION] = self._job.champion
                order = untrusted if champion_last else reversed(untrusted)
                entered = {name: self._enter(stack, name, untrusted[name], settings) for name in order}
                candidate = entered.pop(CANDIDATE)
                others += entered.values()
            with self._stage.leased(session.exclusive(undisturbed=True)), self._stage("confirm"):
                track = Track(session, plan, self._rng, self._cold, unchecked=True)
                glances = Glances(self._rng, self._job.problem.rules, track, self._required)
                races = [
                    track.race(setting, [candidate, *others], settle=False, after_block=glances.after_block)
                    for setting in settings
                ]
                doubt = self._doubts(races, [candidate, *others], glances, track)
                self._conditions.append(session.condition())
            if track.kept:
                with self._stage.leased(session.shared()), self._stage("check"):
                    track.compare_kept()
            with self._stage.leased(self._shop.ending()), self._stage("confirm"):
                stack.close()
            return races, doubt

    def _between(self, glances: Glances, race: Race, candidate: Participant) -> None:
        """After a block of samples: what a candidate does once nobody seems to check any more."""
        if self._onlooker is not None:
            self._onlooker.after_block(race, candidate)
        glances.after_block(race, candidate)

    def _check_again(self, candidate: Participant, races: Sequence[Race], track: Track, courtesy: Courtesy) -> None:
        """The same when all samples are taken.

        Raises:
            Ended: it did what the rules forbid.
        """
        if self._onlooker is not None:
            self._onlooker.settle(races, candidate, partial(filling, self._shop, self._job.plan, Path(self._job.home)))
            self.notes.append(self._onlooker.note())
            if (seen := self._onlooker.verdict()) is not None:
                raise Ended(Wrong(reason=f"own_kernels: {seen}"))
            if (likely := self._onlooker.doubt()) is not None:
                raise Ended(Suspicious(reason=f"own_kernels: {likely}", timings=None))
        checks = [FreshWeights().verify, self._holds, *([OwnKernels().verify] if self._onlooker is None else [])]
        for race in races:
            for check in checks:
                self._required(check, self._trial(candidate, race, track, courtesy))

    def _holds(self, trial: Trial) -> CheckResult:
        """Whether a result stays what it is, now that a candidate knows that all checks are over, if it does."""
        trial.keep_another()
        for _ in range(self._rng.randint(*HELD_FOR)):
            trial.run(trial.setting.drawn(self._rng))
        return HeldResult().verify(trial)

    def _trial(self, candidate: Participant, race: Race, track: Track, courtesy: Courtesy) -> Trial:
        """Beginning with whichever input set."""
        chosen, trial = self._rng.randrange(SETS), partial(Trial, race.setting, candidate, self._job.problem.rules)
        if self._shop.session.bursts:  # a gate would keep the device from others that share it
            return trial(self._rng, chosen, give_way=courtesy)
        clock, guise = self._shop.session.clocks[0], track.guise(race, candidate)
        return trial(self._rng, chosen, clock=clock, guise=guise)

    def _required(self, check: Callable[[Trial], CheckResult], trial: Trial) -> None:
        result = check(trial)
        if not result.passed:
            raise Ended(Wrong(reason=f"{result.name}, among the timed calls: {result.detail}"))
        trial.participant.freeze()

    def _enter(self, stack: ExitStack, name: str, candidate: Candidate, settings: Sequence[Setting]) -> Participant:
        language = self._job.champion_language if name == CHAMPION else self._job.language
        built = build(candidate, language, self._job, self._shop, self._calls)
        runner = self._shop.runner(
            name,
            candidate.files,
            self._job.plan,
            built=built.folder,
            precision=self._job.problem.rules.precision,
        )
        entry = entry_of(candidate)
        assert entry is not None
        with self._shop.session.shared() as share:
            participant = stack.enter_context(runner)
            courtesy = Courtesy(participant, share, self._shop.session)
            for setting in settings:
                participant.open(setting, entry)
                # Its first call loads what was compiled, which keeps nobody from timing here.
                participant.fill(setting.index, 0, setting.bases[0].values)
                participant.warm(setting.index, 0, setting.bases[0].values, courtesy.meanwhile)
            participant.freeze()
        return participant

    def _doubts(
        self,
        races: Sequence[Race],
        racers: Sequence[Participant],
        glances: Glances,
        track: Track,
    ) -> str | None:
        """Settles whose clock counts; a sentence where the candidate's, the first of the racers, cannot be believed."""
        bursts = self._shop.session.bursts
        doubts: list[str | None] = []
        # Before clocks are settled: these calls' are not.
        those = [next(racer for racer in racers if racer.name == race.trusted()) for race in races]
        later = [glances.later(race, racers[0], trusted) for race, trusted in zip(races, those, strict=True)]
        for race, trusted in zip(races, those, strict=True):
            long = median(race.times_ns(CANDIDATE)) >= LONG_NS
            doubts.append(settle_clocks(race, trusted.name, CANDIDATE, charge=long or not bursts))
            self._charge_dependence(race)
            self._charge_drops(race, racers, trusted)
        found = doubts if any(doubts) else self._burst_doubts(races, racers, those, track.keep)
        for race, charges in zip(races, later, strict=True):
            self._charge_what_is_new(race, charges)
        for race, doubt, late in zip(races, doubts, found, strict=True):
            self._note_charges(race)
            if said := doubt or late or self._impossible(race):
                return f"workload {race.setting.workload.name!r}: {said}"
        return None

    def _burst_doubts(
        self, races: Sequence[Race], racers: Sequence[Participant], those: Sequence[Participant], keep: KeepOf
    ) -> list[str | None]:
        """What many calls in one message say, of each workload."""
        session = self._shop.session
        if session.bursts:
            found = count_bursts(races, racers, self._rng, session, keep)
            return [said or disturbed(race, session.flush_ns) for race, said in zip(races, found, strict=True)]
        watched = [racer for racer in racers if racer.name not in races[0].baselines]
        each = [
            [short_call_excess(race, racer, trusted, race.setting) for racer in watched]
            for race, trusted in zip(races, those, strict=True)
        ]
        return [said[0] for said in each]

    def _note_charges(self, race: Race) -> None:
        where = race.setting.workload.name
        for name, (late, why) in race.charges.items():
            self._note_largest(("long messages", name, where), late, f"{why} (workload {where!r})")

    def _charge_dependence(self, race: Race) -> None:
        where = race.setting.workload.name
        for name in race.clocks:
            if later := charge_dependence(race, name):
                other = "values unlike the generator's" if later > 0 else "the generator's values"
                note = f"{name} is slower on workload {where!r} for {other}, by {abs(later):.0%} or so, and that counts"
                self._note_largest(("values", name, where), abs(later), note)

    def _charge_drops(self, race: Race, racers: Sequence[Participant], trusted: Participant) -> None:
        for name in (racer.name for racer in racers if racer.name not in race.baselines):
            for what, charge in charge_drops(race, name, trusted.name).items():
                self._note_largest((what, name, race.setting.workload.name), *charge)

    def _charge_what_is_new(self, race: Race, charges: Sequence[Charge]) -> None:
        where = race.setting.workload.name
        for number, (longer, why) in enumerate(charges):
            race.clocks[CANDIDATE] = [with_clock(c, "device_ns", c.device_ns + longer) for c in race.clocks[CANDIDATE]]
            self._note_largest((f"what is new {number}", CANDIDATE, where), longer, f"{why} (workload {where!r})")

    def _note_largest(self, about: tuple[str, str, str], size: float, note: str) -> None:
        """Of what several process sets say about the same the largest is said."""
        known, old = self._charged.get(about, (0.0, ""))
        if size > known:
            self._charged[about] = size, note
            self.notes = [*(each for each in self.notes if each != old), note]

    def _impossible(self, race: Race) -> str | None:
        written = sum(t.numel() * t.element_size() for t in race.setting.bases[0].native)
        least_ns = self._shop.session.least_ns(written, self._job.plan.threads)
        shown = median(race.times_ns(CANDIDATE))
        if shown >= least_ns:
            return None
        return f"{shown / 1e3:.2f} µs is less than the {least_ns / 1e3:.2f} µs that writing its outputs takes"

    def _facts(self, copies: Sequence[float], aa_log_ratios: dict[str, tuple[float, ...]]) -> Facts:
        return Facts(
            workloads=self._job.problem.timed,
            plan=self._job.plan,
            copy_ns=tuple(copies),
            floor_ns=tuple(self._floors_ns),
            aa_log_ratios=aa_log_ratios,
            cache="cold" if self._cold else "llc-warm",
        )
