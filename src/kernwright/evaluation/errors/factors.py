"""Where a reference takes matrices apart, and what comes out is one of many: of a matrix that has not full rank, or two
equal eigenvalues, some vectors may point anywhere, and rounding decides."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernwright.evaluation.numbers import by_parts, is_number
from kernwright.evaluation.problem.cases import Case, Values
from kernwright.evaluation.problem.setting import Setting
from kernwright.evaluation.problem.shortage import where_possible

from .choices import FEW_DIGITS, compare_chosen, settled
from .comparison import Verdict

TAKES_APART = frozenset(
    """
    _linalg_svd linalg_svd linalg_qr geqrf _linalg_eigh linalg_eigh linalg_eig linalg_lu linalg_lu_factor_ex
    linalg_ldl_factor_ex linalg_lstsq linalg_pinv
    """.split()
)
"""Operators of PyTorch."""
MOVES = 6
"""So many times numbers are moved by last digits, each up or down by chance, and each time the other way too: a sign
that hangs on a number next to 0 is another one then."""
LEAP = 0.05
"""Share of a result's size, many thousand last digits, by which nothing moves that such a move says anything of."""


def compare_factored(
    outputs: list[torch.Tensor], case: Case, setting: Setting, floors: Sequence[float] | None = None
) -> Verdict:
    """As `compare_chosen`; where that fails and the reference takes matrices apart, but for those of which results leap
    when numbers move by last digits, exact zeros and equal ones too. There they have to be numbers.

    For values that the judge makes up, whose matrices may be such as no draw has. What numbers that are moved agree in
    is compared, as is what holds for one number alone, such as `x == -1`.
    """
    verdict = compare_chosen(outputs, case, setting, floors)
    if verdict.passed:
        return verdict
    batches = where_possible(setting.reference, partial(_batches, setting, case.values))
    at = _where_firm(setting, case, batches) if batches else None
    if at is None or all(bool(here.all()) for here in at):
        return verdict
    at = [here | _is_none(got, own) for here, got, own in zip(at, outputs, case.native, strict=True)]
    return compare_chosen(settled(outputs, case, at), case, setting, floors)


def _is_none(got: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    return own.isfinite() & ~got.isfinite()


def _batches(setting: Setting, values: Values) -> set[torch.Size]:
    """Of the matrices that the reference takes apart on its way from these values, in what shapes they come."""
    watch = _Watch()
    with watch:
        setting.reference.outputs(setting.model, values)
    return watch.seen


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen = set[torch.Size]()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func.overloadpacket.__name__ in TAKES_APART:
            self.seen.add(args[0].shape[:-2])
        return func(*args, **(kwargs or {}))


def _where_firm(setting: Setting, case: Case, batches: set[torch.Size]) -> list[torch.Tensor] | None:
    """For each result where it does not leap; nowhere in what belongs to a matrix where it does anywhere."""
    found: list[torch.Tensor] = []
    first: list[torch.Tensor] = []
    for number, way in product(range(MOVES), (1, -1)):
        move = partial(_moved, case.seed + number, way)
        moved = [by_parts(move, v) if is_number(v) else v for v in case.values]
        values = setting.kept(moved, case.values, apart=True)
        outputs = where_possible(setting.reference, partial(setting.reference.outputs, setting.model, values))
        if outputs is None:
            return None
        first = first or outputs
        alike = [~_leaps(*each) for each in zip(first, outputs, case.native, strict=True)]
        found = [a & b for a, b in zip(found, alike, strict=True)] if found else alike
    return [_of_all(here, batches) for here in found]


def _of_all(firm: torch.Tensor, batches: set[torch.Size]) -> torch.Tensor:
    """Matrix by matrix, where a result has as many parts."""
    fitting = [len(batch) for batch in batches if firm.shape[: len(batch)] == batch]
    if not fitting or min(fitting) == firm.dim():
        return firm
    parts = firm.flatten(min(fitting)).all(-1)
    return parts.view(*parts.shape, *[1] * (firm.dim() - parts.dim())).expand(firm.shape)


def _leaps(one: torch.Tensor, other: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    if not is_number(own):
        return one != other
    sizes = own.abs().double()
    usual = sizes.where(sizes.isfinite(), 0).square().mean().sqrt()
    return ((one - other).abs() > LEAP * usual) | (one.isfinite() != other.isfinite())


def _moved(seed: int, way: int, value: torch.Tensor) -> torch.Tensor:
    """By a few last digits of its own size, or of the usual one where that is larger."""
    generator = torch.Generator(value.device).manual_seed(seed)
    steps = torch.randint(-FEW_DIGITS, FEW_DIGITS, value.shape, generator=generator, device=value.device)
    steps = way * (steps + (steps >= 0))
    wide = value.double()
    sizes = wide.abs().where(wide.isfinite(), 0)
    return (wide + steps * sizes.clamp(min=sizes.square().mean().sqrt()) * torch.finfo(value.dtype).eps).to(value.dtype)
