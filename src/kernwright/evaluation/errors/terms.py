"""What the additions of a reference may move its results by: each reduction's terms, moved by what it may lose of them.

Terms are seen where they are added up, not by what moves an input: an exponential of a large number moves by much more
than its own last digit, and no sum loses that.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernwright.evaluation.numbers import by_parts, is_number

Chain = Callable[[tuple[Any, ...], torch.Tensor], float]
"""How many terms one element of the result has, by the operator's arguments and its result."""


def _per_result(args: tuple[Any, ...], result: torch.Tensor) -> float:
    return float(args[0].numel() / max(result.numel(), 1))


def _last(place: int) -> Chain:
    return lambda args, result: float(args[place].shape[-1])


def _taps(args: tuple[Any, ...], result: torch.Tensor) -> float:
    weight, transposed = args[1], bool(args[6])
    return float(weight.numel() / weight.shape[1 if transposed else 0])


def _added(args: tuple[Any, ...], result: torch.Tensor) -> float:
    return float(max(1.0, args[3].numel() / max(result.numel(), 1)))


def _longest(args: tuple[Any, ...], result: torch.Tensor) -> float:
    return float(max(args[0].shape, default=1))


_FACTORS = (
    "linalg_cholesky_ex linalg_det linalg_eigh linalg_inv_ex linalg_lu_factor_ex linalg_qr linalg_slogdet "
    "linalg_solve_ex linalg_solve_triangular linalg_svd cholesky_solve triangular_solve"
)
"""Backward stable: what they give is right for operands that differ in their last digits."""
_ADDED_UP: tuple[tuple[str, int, Chain], ...] = (
    ("sum mean nansum avg_pool2d avg_pool3d", 0, _per_result),
    ("mm bmm mv dot vdot trace", 0, _last(0)),
    ("addmm baddbmm addbmm addmv", 1, _last(1)),
    ("index_add scatter_add", 3, _added),
    ("convolution", 0, _taps),
    ("trilinear", 1, lambda args, result: args[1].numel() / args[1].shape[0]),
    ("linalg_cross", 0, lambda args, result: 2.0),
    ("cumsum fft_r2c fft_c2c fft_c2r cosine_similarity", 0, _longest),
    (_FACTORS, 0, _last(0)),
)
REDUCTIONS = {name: (place, chain) for names, place, chain in _ADDED_UP for name in names.split()}
"""Of each operator that adds up terms which may cancel, the argument that is moved, and how many terms there are."""


class MovedTerms(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Each term of a sum differs by a share of itself, either way; how large a share, `share(terms)` says.

    Terms that differ by shares s of themselves, each in its own way, move a sum by s of the root of the sum of their
    squares: the size of what honest additions have on their way.
    """

    def __init__(self, seed: int, share: Callable[[float], float]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._seed, self._share = seed, share
        self._generators: dict[torch.device, torch.Generator] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        known = REDUCTIONS.get(func.overloadpacket.__name__.strip("_"))
        if known is None or not is_number(args[known[0]]):
            return func(*args, **kwargs)
        place, chain = known
        result = args[0] if func._schema.is_mutable else func(*args, **kwargs)  # what is added to must be so once
        share = self._share(chain(args, result[0] if isinstance(result, tuple) else result))
        moved = by_parts(lambda part: part * (1 + share * self._either_way(part)), args[place])
        return func(*args[:place], moved, *args[place + 1 :], **kwargs)

    def _either_way(self, like: torch.Tensor) -> torch.Tensor:
        if like.device not in self._generators:
            self._generators[like.device] = torch.Generator(like.device).manual_seed(self._seed)
        noise = torch.empty(like.shape, dtype=like.dtype, device=like.device)
        return noise.bernoulli_(0.5, generator=self._generators[like.device]).mul_(2).sub_(1)
