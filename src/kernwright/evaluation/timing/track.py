"""Samples in ABBA blocks, with the outputs of the timed calls compared afterwards."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from time import perf_counter_ns, sleep

import torch

from kernwright.core.plan import Plan
from kernwright.core.ports import DeviceSession
from kernwright.evaluation.footprint import LATE_SHARE, kept_bytes, nbytes_of
from kernwright.evaluation.naming import naming
from kernwright.evaluation.participants.gate import patient
from kernwright.evaluation.participants.laying_out import SETS
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.probes.late_probes import MOST, Late, LateTurns, kept_probes
from kernwright.evaluation.probes.made_late import made_late
from kernwright.evaluation.probes.probe import Probe
from kernwright.evaluation.problem.cases import Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.trial import Guise

from .clocks import Clock, Clocks
from .draws import Draws
from .kept_calls import Ballots, KeptCall, compare_all
from .lasting import looks_again, require_lasting
from .race import Race, but_for_slow_baselines, settled_after
from .statistics import ABBA
from .witness import contradicted

ATTEMPTS, FUTILE = 5, 3
"""Most calls behind one sample, where the device was busy after the end of some; and where none was queued in time, as
of those that wait for the device themselves."""
CALL_BLOCKS = 3
"""Blocks of a race in which calls are timed from idle to complete too, where the device has a clock of its own."""
SLOW_BLOCKS = 3
"""On a device, where no fresh process sets follow: blocks of a baseline that is not near the fastest in any of them."""
LATE_NS = 20_000
"""From here on it was; less than this no host sees for sure."""
AMBUSHES = 2
"""Calls of a race whose inputs come once they are queued. They follow other work of the device's, so their times say
nothing; what gave up in them the work that it had begun is slower in long messages, which are all of that kind."""
KEPT_CALLS = 8
"""So many timed calls are kept to be compared later, or more where there is room for their bytes (`kept_bytes`)."""
COPIES = 9
"""Copies of a call's bytes, of which the middle one counts."""
MIXED_SHARE = 0.5
"""Of the blocks about so many have values that differ in part from the generator's."""
SHORT_NS, REST_NS = 4e6, 3e6
"""Calls of a baseline's that are shorter take longer by what caches lost since a process last ran, on a shared machine
all of it after 10 ms: 150 µs for 5. So who takes part is called as often before a sample, and after such a rest."""
WARM_CALLS = (3, 6)
"""Least and most untimed calls before the first block; the number is drawn. A baseline has one on each input set."""


@dataclass(slots=True)
class Track:
    """Runs races: who takes part, under which plan, on which device."""

    session: DeviceSession
    plan: Plan
    rng: random.Random
    cold: bool
    kept: list[KeptCall] = field(default_factory=list)
    """Timed calls that were not compared yet; how fast that is done is nobody's time."""
    kept_bytes: int = 0
    ballots: Ballots = field(default_factory=dict)
    latest_ns: int = 0
    """When the latest call was over."""
    unchecked: bool = False
    """Whether no check has called these processes, and nobody waits for the device meanwhile."""
    probes: bool = True
    """Whether some come among the timed calls."""

    def compare_kept(self) -> None:
        """Compare what is left of the timed calls; not under the exclusive lease, since that disturbs others' timing.

        Raises:
            Ended: an output is wrong.
        """
        kept, self.kept, self.kept_bytes = self.kept, [], 0
        compare_all(kept, self.rng, self.ballots)

    def race(
        self,
        setting: Setting,
        participants: Sequence[Participant],
        *,
        settle: bool,
        after_block: Callable[[Race, Participant], None] | None = None,
    ) -> Race:
        """Time all participants on one workload; the first of them is the candidate, with whom `after_block` is called.

        Where it is to `settle`, blocks go on from `plan.blocks` to as many as `settled_after` asks for. Where the
        judge's clock contradicts the candidate's they are timed once more, since others' work may have held up its
        messages; of whoever lies that says the same.

        Raises:
            Ended: the candidate failed, or the output of a timed call is wrong.
        """
        race = self._raced(setting, participants, settle, after_block)
        name = participants[0].name
        if name in race.baselines or not contradicted(race, name):
            return race
        return self._raced(setting, participants, settle, after_block)

    def _raced(
        self,
        setting: Setting,
        participants: Sequence[Participant],
        settle: bool,
        after_block: Callable[[Race, Participant], None] | None,
    ) -> Race:
        race, racers = Race(setting, frozenset(self.plan.baselines), {p.name: [] for p in participants}), participants
        for participant in participants:
            self._warm(setting, participant)
        done, wanted, ambushed = 0, self.plan.blocks, self._ambushed_blocks(participants[0], race)
        mixed = self._mixed_blocks(participants[0], race)
        late = self._late(participants[0], race, more=settle)
        # Baselines beside each other alone are there to be told of; fresh process sets need what they show.
        leaves = self.session.bursts and self.plan.process_sets == 0 and participants[0].name not in race.baselines
        while done < wanted:
            if (kind := self._kind(mixed, done)) is not None:
                race.mixed[done] = kind
            clocks = self.session.clocks if done < CALL_BLOCKS else self.session.clocks[:1]
            self._block(race, racers, clocks, kind, late, done)
            if done in ambushed:
                self._ambush(race, participants[0])
            done += 1
            racers = but_for_slow_baselines(race, participants) if leaves and done == SLOW_BLOCKS else racers
            if after_block is not None:
                after_block(race, participants[0])
            if settle and done == self.plan.blocks:
                wanted = settled_after(race, self.plan)
                for probe in late.go_on(wanted):
                    self._ask(race, participants[0], self.session.clocks[0], None, probe)
        return race

    def again(self, race: Race, participant: Participant) -> Clocks:
        """One more call, as those that were timed; it is no sample, and its result is not looked at."""
        draws = self._draws(race.setting, None)
        return self._timed(race, participant, self.rng.randrange(SETS), self.session.clocks[0], draws)

    def copy_ns(self, race: Race, participant: Participant) -> float:
        """Time to copy as many bytes as a call's inputs and outputs hold: where no gate has all calls begin alike, as
        such a call finds them, just written by another process, and to memory that is new."""
        setting, taken = race.setting, list[float]()
        if self.session.bursts:
            return participant.copy_ns(setting.index)
        for number in range(COPIES):
            participant.fill(setting.index, number % SETS, setting.bases[number % len(setting.bases)].values)
            self._cool(race)
            taken.append(participant.copy_ns(setting.index, number % SETS))
            participant.freeze()
            self.latest_ns = perf_counter_ns()
        return median(taken)

    def guise(self, race: Race, participant: Participant) -> Guise:
        """For calls that are to look like those that are timed."""
        return Guise(partial(self.again, race, participant), partial(self._cool, race))

    def _ambushed_blocks(self, candidate: Participant, race: Race) -> frozenset[int]:
        """After which blocks the inputs of a call come late; nobody outside knows."""
        if not self.session.bursts or candidate.name in race.baselines:
            return frozenset()
        return frozenset(self.rng.sample(range(self.plan.blocks), min(AMBUSHES, self.plan.blocks)))

    def _late(self, candidate: Participant, race: Race, *, more: bool) -> LateTurns:
        """What comes before each sample of the candidate's."""
        if candidate.name in race.baselines or not self.probes:
            return LateTurns([], self.plan.blocks, self.rng, more=more)
        setting, hurried = race.setting, self.session.bursts and not self.unchecked
        probes = kept_probes(setting, self.rng, MOST if hurried else None)
        probes += made_late(setting, self.rng, len(probes), hurried=hurried)
        return LateTurns(probes, self.plan.blocks, self.rng, more=more)

    def _mixed_blocks(self, candidate: Participant, race: Race) -> dict[int, str]:
        """Blocks whose values are not all the generator's, and how not: nearly half, and nobody outside knows which."""
        if race.setting.mixture is None or candidate.name in race.baselines:
            return {}
        most = max(1, int(MIXED_SHARE * self.plan.blocks))
        blocks = self.rng.sample(range(self.plan.blocks), self.rng.randint(max(1, most - 1), most))
        known = race.setting.mixture.kinds
        kinds = self.rng.sample(known, len(known))  # each of them once before any comes again
        return {block: kinds[number % len(kinds)] for number, block in enumerate(blocks)}

    def _kind(self, mixed: dict[int, str], block: int) -> str | None:
        """Of this block; beyond those of the plan a coin decides."""
        if mixed and block >= self.plan.blocks and self.rng.random() < MIXED_SHARE:
            return self.rng.choice([*mixed.values()])
        return mixed.get(block)

    def _ambush(self, race: Race, candidate: Participant) -> None:
        setting, chosen = race.setting, self.rng.randrange(SETS)
        # Values that look like any others; what was worked on before the call is let go gives their results.
        decoy = setting.drawn(self.rng) if setting.lean else setting.recombined(self.rng)
        candidate.fill(setting.index, chosen, decoy)
        draws = self._draws(setting, race.any_kind(self.rng))
        self._timed(race, candidate, chosen, "device", draws, keeps=True, late_fill=True)

    def _warm(self, setting: Setting, participant: Participant) -> None:
        trusted = participant.name in self.plan.baselines
        for number in range(SETS if trusted else self.rng.randint(*WARM_CALLS)):
            values = setting.bases[number % len(setting.bases)].values
            chosen = number % SETS
            participant.fill(setting.index, chosen, values)
            if number < SETS:
                participant.warm(setting.index, chosen, values)
            else:
                participant.call(setting.index, chosen, values)
        if not trusted:
            participant.freeze()

    def _draws(self, setting: Setting, kind: str | None, probe: Probe | None = None, *, at_once: bool = False) -> Draws:
        return Draws(setting, self.rng, kind, self.session.bursts, probe, at_once)

    def _short(self, race: Race) -> bool:
        """Whether it counts who was called just before: where no gate has all calls begin alike, for what the caches
        hold; and behind one where fresh processes are to be told apart by less than a per cent."""
        taken = [clocks[-1].device_ns for name, clocks in race.clocks.items() if name in race.baselines and clocks]
        return (self.unchecked or not self.session.bursts) and all(each < SHORT_NS for each in taken)

    def _block(
        self,
        race: Race,
        participants: Sequence[Participant],
        clocks: Sequence[Clock],
        kind: str | None,
        late: LateTurns,
        number: int,
    ) -> None:
        order = list(participants)
        self.rng.shuffle(order)
        sets = self.rng.sample(range(SETS), 2)  # those that were warmed up: candidates may do work for each address
        probes = [late.before(number, turn) for turn in range(ABBA)]
        others = [late.others(number, turn) if self._short(race) else 0 for turn in range(ABBA)]
        draws = self._draws(race.setting, kind, at_once=any(probes))
        for turn, participant in enumerate([*order, *reversed(order)]):
            chosen = sets[0] if turn < len(order) else sets[1]
            half = turn // len(order)
            if participant is participants[0]:
                for probe in probes[half]:
                    self._ask(race, participant, clocks[0], kind, probe)
            else:  # whoever was called just before finds more in the caches
                for _ in range(others[half]):
                    self._timed(race, participant, self.rng.randrange(SETS), clocks[0], draws)
            self._sample(race, participant, chosen, clocks, draws)
        self._make_room(race.setting)

    def _ask(self, race: Race, candidate: Participant, clock: Clock, kind: str | None, late: Late) -> None:
        """In a call that looks as those do that are timed; it is no sample."""
        probe = late()
        if probe is None:
            return
        # Neither where its inputs lie nor how long it took to make them tells that a sample comes next.
        chosen, draws = self.rng.randrange(SETS), self._draws(race.setting, kind, probe, at_once=True)
        with naming(race.setting.workload.name, probe.case):
            self._timed(race, candidate, chosen, clock, draws, keeps=True)

    def keep(
        self, race: Race, candidate: Participant, values: Values, outputs: list[torch.Tensor], kind: str | None
    ) -> None:
        """Compare the outputs of one more call, which is no sample, when there is time; of who is judged alone."""
        if candidate.name != next(iter(race.clocks)):
            return
        looked = torch.ones(len(values), dtype=torch.bool, device=outputs[0].device)  # nobody kept them
        self._keep(KeptCall(race.setting, candidate, 0, values, outputs, kind, looked))
        self._make_room(race.setting)

    def _keep(self, call: KeptCall) -> None:
        self.kept.append(call)
        self.kept_bytes += nbytes_of((*call.values, *call.outputs))
        if call.setting.lean:  # there is no room for it until the block is over
            self.compare_kept()

    def _make_room(self, setting: Setting) -> None:
        room = kept_bytes(self.session.memory_bytes)
        room = max(room - room // LATE_SHARE, KEPT_CALLS * setting.traffic_bytes)
        if self.kept_bytes > room or not self._looks_at_once(setting):
            self.compare_kept()

    def _sample(self, race: Race, participant: Participant, chosen: int, asked: Sequence[Clock], draws: Draws) -> None:
        """One call for each of these clocks; of the candidate's some are kept, to be compared afterwards."""
        candidate = participant.name == next(iter(race.clocks))
        clocks = dict[Clock, Clocks]()
        for clock in asked:
            attempts: list[Clocks] = []
            while not attempts or (clock != "call" and _disputed(attempts)):
                keeps = candidate and (draws.kind is not None or self.plan.compare == "all" or self.rng.random() < 0.5)
                attempts.append(self._timed(race, participant, chosen, clock, draws, keeps=keeps))
            # The middle one: whoever has samples taken again must not get the best of them.
            clocks[clock] = sorted(attempts, key=lambda c: c.device_ns)[len(attempts) // 2]
        called = clocks.get("call")
        race.clocks[participant.name].append(
            replace(
                clocks[asked[0]],
                call_ns=called.call_ns if called else None,
                judge_call_ns=called.judge_ns if called else None,
            )
        )

    @patient
    def _timed(
        self,
        race: Race,
        participant: Participant,
        chosen: int,
        clock: Clock,
        draws: Draws,
        *,
        keeps: bool = False,
        late_fill: bool = False,
    ) -> Clocks:
        """`keeps`: the call is to be compared, which nobody else knows before it is over."""
        setting, untrusted = race.setting, participant.name not in race.baselines
        values = draws.of(trusted=not untrusted)
        if not late_fill:
            # Every slot of a candidate's is poisoned: one that is not would tell it that nobody looks at this call.
            poisons = untrusted or not self.session.bursts
            participant.fill(setting.index, chosen, values, 0xFF if poisons else None)
            if participant.drop is not None:
                race.drops.setdefault(participant.name, []).append(participant.drop)
        self._cool(race)
        clocks, outputs = participant.call(setting.index, chosen, values, clock=clock, late_fill=late_fill)
        self.latest_ns = perf_counter_ns()
        if untrusted or not self.session.bursts:  # on a device, what the host of trusted code does disturbs nobody
            participant.freeze()
        if not self.session.bursts:
            race.went_on_ns.setdefault(participant.name, []).append(participant.runner.went_on_ns)
        if keeps:
            # The next fill overwrites sets that overlap; and where calls have two clocks, the second has the first's.
            again = untrusted and looks_again(setting, participant, self.rng)
            looks = draws.at_once or again or self._looks_at_once(setting)
            unchanged = participant.unchanged(setting.index, chosen, values) if looks else None
            kind = draws.kind if draws.probe is None else None
            self._keep(KeptCall(setting, participant, chosen, values, outputs, kind, unchanged, draws.probe))
            if again:
                require_lasting(setting, participant, chosen, values)
        return clocks

    def _cool(self, race: Race) -> None:
        """Empty the caches, where that is asked for; or rest, where the judge's work after one call would have the next
        one find less in them than others do."""
        if self._short(race):
            sleep(max(0.0, self.latest_ns + REST_NS - perf_counter_ns()) / 1e9)
        if self.cold:
            self.session.settle()
            start = perf_counter_ns()
            self.session.flush()
            self.session.settle()
            race.flushes_ns.append(perf_counter_ns() - start)

    def _looks_at_once(self, setting: Setting) -> bool:
        return setting.overlapping or len(self.session.clocks) > 1


def _disputed(attempts: Sequence[Clocks]) -> bool:
    """Whether more calls may show that what disturbed some of these is not the participant's doing.

    A disturbed machine looks like a busy device, but whoever leaves work behind does so every time: the middle one is
    undisturbed once most are. Their number is odd then, so that there is one in the middle.
    """
    disturbed = sum(not shown.queued or shown.late_ns >= LATE_NS for shown in attempts)
    most = ATTEMPTS if any(shown.queued for shown in attempts) else FUTILE
    return disturbed > 0 and len(attempts) < most and (len(attempts) < FUTILE or 2 * disturbed >= len(attempts))
