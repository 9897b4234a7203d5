"""Timed calls whose outputs are compared when the timing is over."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

import torch

from kernwright.core.outcome import Wrong
from kernwright.evaluation.ended import Ended
from kernwright.evaluation.errors.breaking_ties import beside_any_choice
from kernwright.evaluation.errors.choices import compare_chosen
from kernwright.evaluation.errors.comparison import Verdict
from kernwright.evaluation.errors.gross import merely_unstable
from kernwright.evaluation.errors.inputs_last_digits import excused
from kernwright.evaluation.errors.named_places import with_places
from kernwright.evaluation.errors.nearness import Nearness, nearness
from kernwright.evaluation.errors.positions import with_positions
from kernwright.evaluation.errors.short_operands import AGAIN, Ballot, asks
from kernwright.evaluation.errors.slices import NEAR, parts_met, parts_near
from kernwright.evaluation.naming import named
from kernwright.evaluation.participants.participant import Participant
from kernwright.evaluation.probes.probe import Probe
from kernwright.evaluation.problem.cases import Asked, Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

CLOSE_SHARE = 0.25
"""Of the timed calls with the generator's values that are compared, about so many have their parts looked at too."""


@dataclass(frozen=True, slots=True)
class KeptCall:
    """What a participant's call was given, and what it gave."""

    setting: Setting
    participant: Participant
    chosen: int
    values: Values
    outputs: list[torch.Tensor]
    kind: str | None
    """In what way its values differ from the generator's."""
    unchanged: torch.Tensor | None
    """Of each input whether it is as it was before; None where that is looked at when outputs are compared."""
    probe: Probe | None = None
    """Whose values it was given, where its outputs are compared by another rule."""


@dataclass(slots=True)
class _Look:
    """At one call: what its device has to tell of its inputs and its outputs, and what was told."""

    call: KeptCall
    closely: bool
    """Whether parts are looked at too."""
    unchanged: torch.Tensor
    near: Nearness | None
    """None where what decides is not known beforehand."""
    case: Case | None = None
    """None where a probe knows it."""
    _stood: list[float] = field(default_factory=list)
    is_near: bool = False
    doubtful: bool = False
    """Whether parts of outputs that are near may not be."""

    def told(self) -> list[torch.Tensor]:
        """All of it, in float64."""
        return [self.unchanged.double(), *([self.near.told] if self.near else ())]

    def read(self, numbers: Iterator[float]) -> None:
        """Take as many of these as it told."""
        self._stood = [*islice(numbers, len(self.unchanged))]
        if self.near is not None:
            told = [*islice(numbers, len(self.near.told))]
            self.is_near = self.near.ratio(told, self.call.setting.reference.problem) is not None
            # Where no number is off by more of its own size, no part is.
            self.doubtful = self.is_near and self.closely and self.near.most_off(told) > NEAR

    def settle(self) -> None:
        """What follows from what was told. Raises Ended where the call is wrong."""
        setting = self.call.setting
        if 0.0 in self._stood:
            changed = f"a timed call changed input {self._stood.index(0.0)} of workload {setting.workload.name!r}"
            raise Ended(Wrong(reason=changed))
        if self.call.probe is not None:
            _require_stood(self.call, self.call.probe)
        elif not self.is_near or self.doubtful:
            require_right(setting, self.call.values, self.call.outputs, self.call.kind, closely=self.closely)


Ballots = dict[str, Ballot]
"""What is known of the operands of each participant's products, by its name."""


def compare_all(calls: Sequence[KeptCall], rng: random.Random, ballots: Ballots) -> None:
    """Compare all of them. Nearly all are near PyTorch's own results, and of those a device tells all at once: beside
    others' work each wait for it is for a turn.

    Raises:
        Ended: an output is wrong, or a call changed an input.
    """
    looks = [_look(call, rng) for call in calls]
    told = [part for look in looks for part in look.told()]
    numbers = iter(torch.cat(told).tolist() if told else ())
    for look in looks:
        look.read(numbers)
    _look_at_parts([look for look in looks if look.doubtful])
    for look in looks:
        look.settle()
        if look.case is not None and look.call.kind is None:
            _require_whole_operands(look.call, look.case, rng, ballots)


def _look_at_parts(looks: Sequence[_Look]) -> None:
    """What remains doubtful of these, whose cases are known."""
    near = [parts_near(look.case, look.call.outputs) for look in looks if look.case is not None]
    for look, all_are in zip(looks, torch.stack(near).tolist() if near else (), strict=True):
        look.doubtful = not all_are


def _require_whole_operands(call: KeptCall, case: Case, rng: random.Random, ballots: Ballots) -> None:
    setting = call.setting
    if setting.lean or not asks(setting):
        return
    name = call.participant.name
    if name in ballots and not ballots[name].open and rng.random() > AGAIN:
        return
    verdict = ballots.setdefault(name, Ballot()).take(setting, case, call.outputs, rng)
    if not verdict.passed:
        raise Ended(Wrong(reason=f"timed calls on workload {setting.workload.name!r}: {verdict.detail}"))


def _look(call: KeptCall, rng: random.Random) -> _Look:
    setting, unchanged = call.setting, call.unchanged
    if unchanged is None:
        unchanged = call.participant.unchanged(setting.index, call.chosen, call.values)
    if call.probe is not None:
        return _Look(call, False, unchanged, None)
    closely = call.kind is None and not setting.lean and rng.random() < CLOSE_SHARE
    case, near = _case(setting, call.values), None
    if isinstance(case, Asked) and not _has_positions(setting, call.kind):
        near = nearness(call.outputs, case, setting.reference.problem)
    return _Look(call, closely, unchanged, near, case)


def _require_stood(call: KeptCall, probe: Probe) -> None:
    verdict = where_possible(call.setting.reference, partial(probe.compare, call.outputs))
    if verdict is not None:
        verdict = with_places(verdict, call.outputs, probe.case, call.setting)
    if verdict is not None and not verdict.passed:
        raise Ended(Wrong(reason=f"timed call, {named(call.setting.workload.name, probe.case)}: {verdict.detail}"))


def require_right(
    setting: Setting,
    values: Values,
    outputs: list[torch.Tensor],
    kind: str | None = None,
    *,
    closely: bool = False,
) -> None:
    """Compare the outputs of a timed call, `closely` their parts too. Raises Ended where they are wrong."""
    require_met(setting, _case(setting, values), outputs, kind, closely=closely)


def require_met(
    setting: Setting, case: Case, outputs: list[torch.Tensor], kind: str | None = None, *, closely: bool = False
) -> None:
    """The same where it is known what the reference makes of the values."""
    verdict = beside_any_choice(partial(_met, setting, outputs, kind), case, setting)
    verdict = with_places(verdict, outputs, case, setting)
    if _has_positions(setting, kind):
        outputs = with_positions(outputs, case, setting)
    if verdict.passed and closely:
        verdict = parts_met(setting, case, outputs)
    if kind is not None:  # draws may keep to what these do not, and the reference may hang on it
        verdict = excused(verdict, outputs, case, setting)
    made_up = kind is not None and setting.reference.problem.backward
    if not verdict.passed and not (made_up and merely_unstable(outputs, case.native, case.oracle)):
        what = f", part of whose values were not the generator's ({kind})" if kind is not None else ""
        raise Ended(Wrong(reason=f"timed call on workload {setting.workload.name!r}{what}: {verdict.detail}"))


def _met(setting: Setting, outputs: list[torch.Tensor], kind: str | None, case: Case) -> Verdict:
    if _has_positions(setting, kind):
        outputs = with_positions(outputs, case, setting)
    return compare_chosen(outputs, case, setting)


def _case(setting: Setting, values: Values) -> Case:
    return setting.case(values, "timed call", setting.bases[0].seed)


def _has_positions(setting: Setting, kind: str | None) -> bool:
    """Whether more integers are equal than were drawn, so that other places may be named."""
    return kind is not None and setting.mixture is not None and bool(setting.mixture.ranged)
