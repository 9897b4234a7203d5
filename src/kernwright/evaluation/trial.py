"""What a run check may do with a candidate on one workload."""

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import torch

from kernwright.core.problem import Rules

from .errors.choices import compare_chosen
from .errors.comparison import Verdict
from .errors.named_places import with_places
from .naming import named, naming
from .participants.laying_out import SETS
from .participants.participant import Participant
from .problem.cases import Case, Values, made_whole
from .problem.setting import Setting
from .timing.clocks import Clock, Clocks

PATTERNS = (0xFF, 0x4B)
"""Poison bytes: not-a-number, and a large number, in every floating type. A platform that cannot have the first takes
another large number."""


@dataclass(frozen=True, slots=True)
class Guise:
    """How a call is made to look like others."""

    between: Callable[[], object]
    """Makes one of those."""
    cool: Callable[[], None]
    """What comes between an input and the call."""


@dataclass(slots=True)
class Trial:
    """One candidate on one workload. Calls raise `Ended` where the candidate does not survive them."""

    setting: Setting
    participant: Participant
    rules: Rules
    rng: random.Random
    chosen: int = 0
    """The input set of the latest call."""
    _unchanged: list[torch.Tensor] = field(default_factory=list, init=False)
    """Of each call what is told of its inputs when somebody asks."""
    clock: Clock | None = None
    """What calls are timed for, where they are to look as those do that are."""
    latest: Clocks | None = None
    """What the latest call showed."""
    poisons: bool = False
    """Whether fresh memory is poisoned in all calls, where few are made."""
    guise: Guise | None = None
    """What calls are to look like, where that is not what those of checks do."""
    give_way: Callable[[], object] = lambda: None
    """Done now and then between two calls, where others may wait for the device."""
    _kept: Case | None = field(default=None, init=False)
    """Of the call whose result the candidate's process keeps."""
    _kept_in: int = field(default=0, init=False)
    """The input set of that call."""

    def keep(self, case: Case) -> None:
        """Have the result of one call kept while others are made."""
        self._kept = case
        self.run(case.values, hold=True)
        self._kept_in = self.chosen

    def keep_another(self) -> None:
        """The same of values of which nothing was seen before. What the reference makes of them is for later: there is
        no pause before the call in which it could."""
        self.disguise(draws=False)
        self.keep(self.setting.another(self.rng))

    def kept(self) -> Case:
        """The case whose result is kept."""
        assert self._kept is not None
        return made_whole(self._kept)

    def disguise(self, *, draws: bool = True) -> None:
        """Where calls are to look like others, let one of those come first, and perhaps a draw: no pause tells what
        comes next."""
        if self.guise is not None:
            self.guise.between()
            if draws:
                self.setting.drawn(self.rng)

    def run(
        self,
        values: Values,
        *,
        move: bool = True,
        poison: int | None = None,
        hold: bool = False,
        twice: bool = False,
    ) -> list[torch.Tensor]:
        """Outputs of one call; `move` puts the inputs at other addresses than the call before.

        `twice`: of a problem that asks for gradients, another forward call comes before the backward one.
        """
        self.give_way()
        index = self.setting.index
        poison = self.rng.choice(PATTERNS) if self.poisons and poison is None else poison
        self.chosen = (self.chosen + 1) % SETS if move else self.chosen
        self.participant.fill(index, self.chosen, values, self.rng.choice(PATTERNS))
        if self.guise is not None:
            self.guise.cool()
        self.latest, outputs = self.participant.call(
            index, self.chosen, values, poison=poison, hold=hold, twice=twice, clock=self.clock
        )
        self._unchanged.append(self.participant.unchanged(index, self.chosen, values))
        if self.guise is None and any(values is base.values for base in self.setting.bases):
            self.setting.early_ns.append(self.latest.judge_ns)
        return outputs

    def changed_input(self) -> int | None:
        """The first input whose bytes a call so far has changed."""
        told = torch.stack(self._unchanged).all(0).tolist() if self._unchanged else []
        return told.index(False) if False in told else None

    def run_case(self, case: Case, *, move: bool = True) -> list[torch.Tensor]:
        """The same of a case's values; an end names them."""
        with naming(self.setting.workload.name, case):
            return self.run(case.values, move=move)

    def held(self, *, restored: bool = False) -> list[torch.Tensor]:
        """The result that was kept, as it is now; it is given once. The inputs of its call are others by then, or, if
        `restored`, lie where they lay, so that what shares memory with one is what it was."""
        assert self._kept is not None
        values = self._kept.values
        self.participant.fill(self.setting.index, self._kept_in, values if restored else [*map(unlike, values)])
        return self._held()

    def _held(self) -> list[torch.Tensor]:
        self.participant.held(self.setting.index)
        return self.participant.outputs(self.setting.index)

    def moving_with(self, case: Case, inputs: Collection[int]) -> list[int]:
        """Outputs of a call that change when the judge writes other numbers to these of its inputs: they share memory.

        Nothing is called between the two looks at them, so that this is no word of the candidate's.
        """
        values = case.values
        made = self.run(values, hold=True)
        changed = [unlike(v) if n in inputs else v for n, v in enumerate(values)]
        self.participant.fill(self.setting.index, self.chosen, changed)
        return [n for n, (was, now) in enumerate(zip(made, self._held(), strict=True)) if _differ(was, now)]

    def judge(
        self, outputs: list[torch.Tensor], case: Case, rule: Callable[[list[torch.Tensor]], Verdict] | None = None
    ) -> Verdict:
        """Compare by the rule of error, or by another, naming workload, case and seed where it fails."""
        verdict = rule(outputs) if rule else compare_chosen(outputs, case, self.setting)
        verdict = with_places(verdict, outputs, case, self.setting)
        if verdict.passed:
            return verdict
        return Verdict(
            passed=False, ratio=verdict.ratio, detail=f"{named(self.setting.workload.name, case)}: {verdict.detail}"
        )


def _differ(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(((one != other) & ~(one.isnan() & other.isnan())).any())


def unlike(value: Any) -> Any:
    """Zeros, or ones where it begins with a zero, that take no memory; a value that is no tensor stays."""
    if not isinstance(value, torch.Tensor) or not value.numel():
        return value
    return value.new_full((), float(not value[(0,) * value.dim()])).expand(value.shape)
