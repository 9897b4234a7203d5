"""The reference once more, with every operator's result rounded the other way now and then.

PyTorch's own error says what rounding may do, but it is one sample. Where softmax is 1 to the last digit, its gradient
is a difference of equal numbers: PyTorch's happens to be 0, and another order of the same additions leaves the last
digits of large terms. Rounding at random (Monte Carlo arithmetic: D. S. Parker, UCLA CSD-970002, 1997) shows it.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from kernwright.core.errors import UserError
from kernwright.evaluation.numbers import is_number, widened
from kernwright.evaluation.problem.cases import Asked, Case

RUNS = 3
_EVEN = 0.5
_SINGLE = torch.finfo(torch.float32).eps
_NEXT = 0.6
"""So many last digits of 1 away a number of any size is nearest to its neighbour."""
USUAL_DIGITS, ALL_DIGITS = 64.0, 2.0**22
"""So many last digits of a float32 an exponential loses at most, by the exponents that draws lead to, and by any. In
narrower types it is computed in float32 too."""
_FUNCTIONS = frozenset(
    "acos acosh asin asinh atan atan2 atanh celu cos cosh digamma elu erf erfc erfinv exp exp2 expm1 gelu lgamma log "
    "log10 log1p log2 log_sigmoid_forward log_softmax logcumsumexp logit logsumexp mish pow rsqrt sigmoid silu sin "
    "sinh softmax softplus special_entr tan tanh".split()
)
"""Of which no implementation promises the last digit: what they give is moved by it even where nothing was rounded."""

_EXPONENTIALS = frozenset({"exp", "exp2", "expm1", "cosh", "sinh", "softmax"})
"""What loses as many last digits as its argument is large: exp(x) is exp2(x log2(e)) and exp(x - m) exp(m) too."""


def rounded_at_random(case: Case, most: float = USUAL_DIGITS) -> Iterator[list[torch.Tensor]]:
    """What the reference makes of the same values under other roundings, a few times; fewer where it cannot.

    `most`: exponentials lose no more last digits of a float32 than this.
    """
    if not isinstance(case, Asked) or case.again is None:
        return
    for number in range(RUNS):
        try:
            with _RandomRounding(case.seed + number, most):
                outputs = case.again(case.values)
        except UserError:
            return
        if [t.shape for t in outputs] == [t.shape for t in case.native]:
            yield outputs


class _RandomRounding(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Results of operators, computed in float64 and rounded up or down, the nearer the likelier; exact ones stay."""

    def __init__(self, seed: int, most: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._seed, self._most = seed, most * _SINGLE
        self._generators: dict[torch.device, torch.Generator] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        native = func(*args, **kwargs)
        if not _rounds(func, native):
            return native
        try:
            wide = func(*tree_map(widened, args), **tree_map(widened, kwargs))
        except (RuntimeError, TypeError):  # an operator that knows no float64
            wide = native
        digits = _digits(func.overloadpacket.__name__.strip("_"), args)
        moved = iter([self._rounded(n, w, digits) for n, w in zip(_leaves(native), _leaves(wide), strict=True)])
        return tree_map(lambda each: next(moved) if isinstance(each, torch.Tensor) else each, native)

    def _rounded(self, native: torch.Tensor, wide: torch.Tensor, digits: torch.Tensor | None) -> torch.Tensor:
        if not is_number(native) or wide.shape != native.shape:
            return native
        if native.is_complex():
            parts = torch.view_as_real(native.resolve_conj()), torch.view_as_real(wide.resolve_conj())
            return torch.view_as_complex(self._rounded(*parts, None))
        number, eps = native.double(), torch.finfo(native.dtype).eps
        off = wide.double() - number
        larger = (off > 0) == (number > 0) if digits is None else self._random(native) < _EVEN
        share = _NEXT * (eps if digits is None else eps + (digits * _SINGLE).clamp(max=self._most))
        beside = (number * (1 + torch.where(larger, share, -share))).to(native.dtype)
        chance = off.abs() / (beside.double() - number).abs() if digits is None else _EVEN
        moves = (self._random(native) < chance) & native.isfinite() & beside.isfinite()
        return torch.where(moves, beside, native)

    def _random(self, like: torch.Tensor) -> torch.Tensor:
        if like.device not in self._generators:
            self._generators[like.device] = torch.Generator(like.device).manual_seed(self._seed)
        return torch.rand(like.shape, generator=self._generators[like.device], device=like.device)


def _digits(name: str, args: tuple[Any, ...]) -> torch.Tensor | None:
    """How many last digits of a float32 results lose beside their own; None where only rounding moves them."""
    if name not in _FUNCTIONS:
        return None
    return args[0].abs().double() if name in _EXPONENTIALS else torch.zeros(())


def _rounds(func: Any, native: Any) -> bool:
    """Whether it is an operator whose result is new numbers, and the same ones each time."""
    if torch.Tag.nondeterministic_seeded in func.tags or any(r.alias_info is not None for r in func._schema.returns):
        return False
    return any(is_number(leaf) for leaf in _leaves(native))


def _leaves(result: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
