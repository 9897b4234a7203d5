"""Integers and truth values in orders, and as small or large, as no generator draws them."""

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

import torch

from kernwright.core.outcome import CheckResult
from kernwright.evaluation.drawing.freedom import Freedom, alike, as_numbers, higher, holds_integers, lower
from kernwright.evaluation.errors.breaking_ties import beside_any_choice
from kernwright.evaluation.errors.choices import compare_decided
from kernwright.evaluation.errors.comparison import Verdict, compare
from kernwright.evaluation.errors.gross import merely_unstable
from kernwright.evaluation.errors.positions import with_positions
from kernwright.evaluation.numbers import chances
from kernwright.evaluation.probes.chains import chained_integers
from kernwright.evaluation.probes.coincidences import coincidences
from kernwright.evaluation.probes.jointly import is_joint, with_what_follows
from kernwright.evaluation.probes.late_probes import asked
from kernwright.evaluation.probes.neighbours import BITS, NEAR
from kernwright.evaluation.probes.probe import Probe
from kernwright.evaluation.probes.stretches import FOLLOWING
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible
from kernwright.evaluation.problem.spending import Spending
from kernwright.evaluation.problem.unmoved import Unmoved
from kernwright.evaluation.trial import Trial

Change = Callable[[int, Freedom], torch.Tensor]
ALIKE, JOINED = "equal integers", ("smaller integers", "larger integers")
ARRANGED = "rearranged", "the largest integers last", "the smallest integers last", NEAR, BITS, FOLLOWING
"""What has no more equal numbers than were drawn."""
CHOICES: tuple[tuple[str, Callable[[torch.Tensor, random.Random], torch.Tensor]], ...] = (
    ("the largest", lambda value, rng: as_numbers(value).max()),
    ("the two largest", lambda value, rng: _two_largest(value, rng)),
    ("the smallest", lambda value, rng: as_numbers(value).min()),
    ("others", lambda value, rng: as_numbers(value).flatten()[rng.randrange(value.numel())]),
)
"""Which numbers all elements of an input are."""
MOST_AXES, LARGE = 2, 1 << 26
"""Along so many of an input's axes are numbers brought into order, the longest first; along one alone where there are
so many numbers that sorting them takes long."""


class Integers:
    """Threat model, A7, A10: partial work, thresholds and capacities that the generator's integers never show.

    Only inputs whose draws show no order and no place of its own; all their values are some draw's.
    """

    name = "integers"

    def verify(self, trial: Trial) -> CheckResult:
        count, worst = 0, 0.0
        spending = Spending(slowed=trial.setting.reference.place.slowed)
        unmoved = Unmoved(trial.setting)
        for case in cases(trial.setting, trial.rng, spending):
            unmoved.see(case)
            probe = Probe(case, spending.counted(partial(compared, trial.setting, case)))
            verdict = where_possible(trial.setting.reference, partial(asked, trial, probe))
            if verdict is None:
                continue
            if not verdict.passed:
                return CheckResult(name=self.name, passed=False, detail=verdict.detail)
            count, worst = count + 1, max(worst, verdict.ratio)
        unmoved.tell()
        return CheckResult(name=self.name, passed=True, evidence={"error_ratio": worst, "cases": float(count)})


def cases(setting: Setting, rng: random.Random, spending: Spending) -> Iterator[Case]:
    """Every way that the inputs allow and the reference bears, in any order, for as long as there is time."""
    if setting.lean:  # each of its bases is a draw of its own
        return
    if not setting.free and not holds_integers(setting.bases[0].values):
        return
    base, draws = rng.choice(setting.bases), [known.values for known in setting.bases]
    origins = setting.reference.origins(setting.workload)
    same = alike(draws, setting.free, origins) if len(draws) > 1 else ()
    groups = frozenset(same) - setting.free.keys()

    def by_size(rank: int, largest_last: bool, number: int, freedom: Freedom) -> torch.Tensor:
        value, lines = base.values[number], freedom.lines
        return freedom.by_size(value, rng, lines[rank % len(lines)], largest_last=largest_last) if lines else value

    def shuffled(number: int, freedom: Freedom) -> torch.Tensor:
        return freedom.shuffled(base.values[number], rng)

    def joined(join: Callable[[list[torch.Tensor]], torch.Tensor], number: int, freedom: Freedom) -> torch.Tensor:
        return join([values[number] for values in draws]) if freedom.exchange else base.values[number]

    ways: list[tuple[str, Change]] = [(ARRANGED[0], shuffled)]
    large = sum(base.values[number].numel() for number in setting.free) > LARGE
    ranks = max((len(freedom.lines) for freedom in setting.free.values()), default=0)
    for rank in range(min(1 if large else MOST_AXES, ranks)):
        ways += [
            (ARRANGED[1], partial(by_size, rank, True)),
            (ARRANGED[2], partial(by_size, rank, False)),
        ]
    if any(freedom.exchange for freedom in setting.free.values()):
        ways += [(label, partial(joined, join)) for label, join in zip(JOINED, (lower, higher), strict=True)]
    made: list[tuple[str, Callable[[], Values]]] = [
        (label, partial(_changed, setting, base, change)) for label, change in ways if setting.free
    ]
    made += [
        (f"{ALIKE}: {which}", partial(_same, same, groups, base, choose, rng)) for which, choose in CHOICES if same
    ]
    made += [*coincidences(setting, base, draws, rng), *chained_integers(setting, base, rng)]
    rng.shuffle(made)
    for label, make in made:
        if spending.over:
            return
        with spending:
            case = _case(setting, base, label, make)
        if case is not None:
            yield case


def _changed(setting: Setting, base: Case, change: Change) -> Values:
    values: Values = list(base.values)
    for number, freedom in setting.free.items():
        values[number] = change(number, freedom)
    return values


def _same(
    numbers: Sequence[int],
    groups: Collection[int],
    base: Case,
    choose: Callable[[torch.Tensor, random.Random], torch.Tensor],
    rng: random.Random,
) -> Values:
    """Of each of these inputs all elements are one or two that were drawn; `groups` are in order as ever, and keep the
    first and the last."""
    values: Values = list(base.values)
    for number in numbers:
        value: torch.Tensor = values[number]
        chosen = choose(value, rng).expand(value.shape).contiguous()
        if number in groups:  # offsets among few entries look the same, and begin and end where they always do
            chosen = chosen.sort(dim=-1).values
            chosen[..., 0], chosen[..., -1] = value[..., 0], value[..., -1]
        values[number] = chosen.view(value.dtype)
    return values


def _two_largest(value: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """At random: sums of one number alone may be exact where those of two are not."""
    numbers = as_numbers(value)
    largest = numbers.max()
    others = torch.where(numbers == largest, numbers.min(), numbers)
    return torch.where(chances(value, rng) < 0.5, largest, others.max())


def _case(setting: Setting, base: Case, label: str, make: Callable[[], Values]) -> Case | None:
    case = where_possible(setting.reference, lambda: setting.case(make(), label, base.seed))
    if case is None:
        return None
    known = [_is_known(made, usual) for made, usual in zip(case.native, base.native, strict=False)]
    return case if len(case.native) == len(base.native) and all(known) else None


def compared(setting: Setting, case: Case, outputs: list[torch.Tensor]) -> Verdict:
    """The rule of error for one of these cases; where numbers are equal, for what is decided."""
    return beside_any_choice(partial(_compared, setting, outputs), case, setting)


def _compared(setting: Setting, outputs: list[torch.Tensor], case: Case) -> Verdict:
    if is_joint(case):
        outputs = with_what_follows(outputs, case, setting)
    elif not case.label.startswith(ARRANGED):
        outputs = with_positions(outputs, case, setting)
    verdict = compare(outputs, case, setting.reference.problem, setting.names)
    if verdict.passed or not setting.free or case.label.startswith((*ARRANGED, *JOINED)):
        return verdict
    if is_joint(case) and (decided := compare_decided(outputs, case, setting)).passed:
        return decided  # floats are equal there too
    # So many more numbers than usual may be added up at one place.
    return Verdict(passed=True, ratio=1.0) if merely_unstable(outputs, case.native, case.oracle) else verdict


def _is_known(made: torch.Tensor, usual: torch.Tensor) -> bool:
    """Whether it has numbers alone, or what is none as drawn too; what stands for an empty row is a number, if only an
    infinite one."""
    return made.shape == usual.shape and (not bool(made.isnan().any()) or bool(usual.isnan().any()))
