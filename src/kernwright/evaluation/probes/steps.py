"""Of a wide range of integers: those beside which a result takes another value, as cube roots do at a cube.

Chance draws none of them, and who takes a float's function for an integer's is wrong there alone. Where each result is
an integer of one place's own, the step between two integers with other results is found by halves, at all places at
once, wherever it lies. Not where the reference takes floats for it: there a last digit decides where a step is.
"""

import time
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernwright.evaluation.numbers import chances, is_number
from kernwright.evaluation.problem.cases import Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .drawn import Drawn
from .powers import WIDE, Ways

LABEL = "integers beside a step"
HALVINGS, HALVING_S = 64, 1.0
"""Calls of the reference at the most, and how long all may take."""


def step_ways(setting: Setting, drawn: Drawn) -> Ways:
    """One for each such input whose shape all results have, which are integers."""
    native = drawn.base.native
    if setting.reference.problem.backward or any(t.is_floating_point() or t.is_complex() for t in native):
        return []
    wide = [n for n, (low, high) in drawn.bounds.items() if high - low > WIDE and n not in drawn.ordered]
    fits = [n for n in wide if all(t.shape == drawn.base.values[n].shape for t in native)]
    if not fits or not setting.reference.known.once(setting.workload, LABEL, partial(_is_whole, setting, drawn)):
        return []
    return [(LABEL, partial(_beside_steps, setting, drawn, n)) for n in fits]


def _is_whole(setting: Setting, drawn: Drawn) -> bool:
    """Whether all that the reference computes is integers and truth values."""
    watch = _Floats()

    def run() -> bool:
        with watch:
            setting.reference.outputs(setting.model, drawn.base.values)
        return True

    return where_possible(setting.reference, run) is True and not watch.seen


class _Floats(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen = False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        made = func(*args, **(kwargs or {}))
        self.seen = self.seen or is_number(made)
        return made


def _beside_steps(setting: Setting, drawn: Drawn, number: int) -> Values:
    """Each place on one side of a step or on the other; the base where results hang on other places too."""
    value: torch.Tensor = drawn.base.values[number]

    def results(integers: torch.Tensor) -> torch.Tensor:
        values = [integers.to(value.dtype) if n == number else v for n, v in enumerate(drawn.base.values)]
        return torch.stack([each.long() for each in setting.reference.outputs(setting.model, values)])

    other: torch.Tensor = drawn.rng.choice(drawn.draws)[number]
    near, far = value.long(), other.flatten().roll(drawn.rng.randrange(1, WIDE)).view(value.shape).long()
    own, others = results(near), results(far)
    some = chances(value, drawn.rng) < 0.5
    if not torch.equal(results(torch.where(some, far, near)), torch.where(some, others, own)):
        return drawn.base.values
    end, apart = time.monotonic() + HALVING_S, (own != others).any(0)
    for _ in range(HALVINGS):
        middle = (near & far) + ((near ^ far) >> 1)  # of any two, rounded down
        if time.monotonic() > end or not bool((apart & (middle != near) & (middle != far)).any()):
            break
        same = (results(middle) == own).all(0)
        near, far = torch.where(same, middle, near), torch.where(same, far, middle)
    beside = torch.where(chances(value, drawn.rng) < 0.5, near, far)
    made = torch.where(apart, beside, value.long()).to(value.dtype)
    return [made if n == number else v for n, v in enumerate(drawn.base.values)]
