"""Whether sums that are added, times little, to something large are in a result at all.

The rule of error goes by the size of a result and by the root of the number of terms, whatever a sum is multiplied by
before it is added: the forces of a small time step may be less than that allows. Which numbers are off, and which way,
tells: a reference without its sums is off by the very same, and errors of rounding are as often the other way.
"""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernwright.evaluation.numbers import is_number, real
from kernwright.evaluation.problem.cases import Asked, Case
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible
from kernwright.evaluation.trial import Trial

from .allowance import chains_of, rounding, unavoidable
from .comparison import Verdict, spot
from .short_operands import PASSED, some_of, without_common
from .terms import REDUCTIONS

SHARE, DEVIATIONS = 0.3, 5.0
"""Of its sums, from which on they are left out, beyond so many standard errors of that share."""
VISIBLE, HIDDEN = 4.0, 4.0
"""Sums are asked about that move a result by so many of its last digits at the least, and at the most by so many times
what the rule of error allows: it sees more by itself."""
MANY = 256
"""Numbers of a result, from which on a share of its errors is no chance."""
CALLS = 2
"""That have to agree."""
FEW = 4
"""Where an operator is called so many times at the most, each of its calls is asked about too."""
_NOT_ADDED = frozenset({"trace", "dot", "vdot", "linalg_cross", "cosine_similarity"})
_ATTENTION = "flash_attention_for_cpu flash_attention efficient_attention cudnn_attention"
_ADD_WITHIN = frozenset(
    "_softmax _log_softmax logsumexp logcumsumexp var std var_mean std_mean linalg_vector_norm prod cumprod "
    "_cdist_forward native_layer_norm native_group_norm native_batch_norm".split()
) | {f"_scaled_dot_product_{kind}" for kind in _ATTENTION.split()}
"""Operators that add up terms, or multiply them, on the way to what they give."""
_ASKED = (REDUCTIONS.keys() | _ADD_WITHIN) - _NOT_ADDED


def sums_met(trial: Trial) -> Verdict:
    """For a candidate that met the rule of error."""
    setting = trial.setting
    for sums in _little_ones(setting):
        for number in range(CALLS):
            case = setting.bases[number % len(setting.bases)]
            verdict = _met(setting, case, trial.run_case(case), sums, trial.rng)
            if verdict.passed:
                break
        else:
            return verdict
    return PASSED


@dataclass(frozen=True, slots=True, order=True)
class _Sums:
    """All that an operator gives, or what its call of this number does."""

    name: str
    number: int = 0
    """From 1 on; 0 for all."""


def _little_ones(setting: Setting) -> tuple[_Sums, ...]:
    """Operators that add up what moves results by no more than errors may; found out once for each workload."""
    problem = setting.reference.problem
    if setting.lean or problem.backward or problem.tolerance.reduction or rounding(problem):
        return ()
    base = setting.bases[0]

    def found() -> tuple[_Sums, ...]:
        if not isinstance(base, Asked) or base.wide is None:
            return ()
        watch = _Without(None)
        with watch:
            where_possible(setting.reference, partial(base.wide, base.values))
        some = [_Sums(name) for name in watch.seen]
        some += [_Sums(name, n + 1) for name, count in watch.seen.items() if 1 < count <= FEW for n in range(count)]
        return tuple(sums for sums in sorted(some) if _is_little(setting, base, sums))

    return setting.reference.known.once(setting.workload, "added little", found)


def _is_little(setting: Setting, base: Case, sums: _Sums) -> bool:
    problem, moved = setting.reference.problem, _without_sums(setting, base, sums)
    if moved is None:
        return False
    for native, oracle, other, chain in zip(base.native, base.oracle, moved, chains_of(base, problem), strict=True):
        if not _is_asked(native):
            continue
        shift, size, own = _rms(other - oracle), _rms(oracle), _rms(native - oracle)
        least = VISIBLE * torch.finfo(native.dtype).eps * size
        most = max(unavoidable(problem, native.dtype, chain) * size, problem.tolerance.rms_ratio * own)
        if least <= shift <= HIDDEN * most:
            return True
    return False


def _met(setting: Setting, case: Case, outputs: Sequence[torch.Tensor], sums: _Sums, rng: random.Random) -> Verdict:
    moved = _without_sums(setting, case, sums)
    if moved is None:
        return PASSED
    for index, (got, native, oracle, other) in enumerate(zip(outputs, case.native, case.oracle, moved, strict=True)):
        if not _is_asked(native):
            continue
        left_out = _share(*(t.double() for t in some_of([*map(real, (got, native, oracle, other))], rng)))
        if left_out > SHARE:
            what = f"{left_out:.0%} of what `{sums.name}` adds is left out"
            detail = f"{spot(setting.names[index], got, native, oracle)}; {what}"
            return Verdict(passed=False, ratio=left_out / SHARE, detail=detail)
    return PASSED


def _share(got: torch.Tensor, native: torch.Tensor, oracle: torch.Tensor, other: torch.Tensor) -> float:
    """How much of the way to the reference without its sums a result is, surely; both less what errors have in common
    with each other and with sizes."""
    both = torch.stack([got - native, other - oracle])
    known = both.isfinite().all(0) & oracle.isfinite()
    scale = torch.where(known, oracle.abs(), 0.0)
    both = torch.where(known, both, 0.0)
    common = torch.where(known, torch.stack([torch.ones_like(oracle), oracle, scale]), 0.0)
    error, shift = without_common(common, both)
    squares = float(shift.square().sum())
    if squares == 0.0:
        return 0.0
    share = float((error * shift).sum()) / squares
    deviation = math.sqrt(float((error - share * shift).square().mean()) / squares)
    return share - DEVIATIONS * deviation


def _without_sums(setting: Setting, case: Case, sums: _Sums) -> list[torch.Tensor] | None:
    if not isinstance(case, Asked) or case.wide is None:
        return None
    with _Without(sums):
        made = where_possible(setting.reference, partial(case.wide, case.values))
    if made is None or [t.shape for t in made] != [t.shape for t in case.oracle]:
        return None
    return made if all(bool(t.isfinite().all()) for t in made if is_number(t)) else None


def _is_asked(native: torch.Tensor) -> bool:
    return is_number(native) and native.numel() >= MANY


def _rms(tensor: torch.Tensor) -> float:
    return float(torch.linalg.vector_norm(tensor)) / math.sqrt(tensor.numel())


class _Without(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees which operators add up terms, and how often; what `sums` are is 0."""

    def __init__(self, sums: _Sums | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._sums, self.seen = sums, Counter[str]()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        made, name = func(*args, **(kwargs or {})), func.overloadpacket.__name__
        first = made[0] if isinstance(made, tuple) and made else made
        if name not in _ASKED or not is_number(first):
            return made
        self.seen[name] += 1
        if self._sums is None or name != self._sums.name or self._sums.number not in (0, self.seen[name]):
            return made
        return (torch.zeros_like(first), *made[1:]) if isinstance(made, tuple) else torch.zeros_like(first)
