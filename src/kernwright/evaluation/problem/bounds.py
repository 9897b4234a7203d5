"""What an operator's numbers may be, looked at before it is called: beyond that a processor's operator raises, where a
device's ends all use of the device by its process."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

Asked = tuple[torch.Tensor, float, float]
"""Numbers, and the least and the most that each may be."""
_ATEN = torch.ops.aten


class Bounds:
    """Of a module's operators on one device."""

    def __init__(self, device: str) -> None:
        self._mode = None if device == "cpu" else _Within()

    def watched(self) -> AbstractContextManager[Any]:
        """Within it an operator that is asked for what is not there raises IndexError."""
        return self._mode or nullcontext()

    def learn(self) -> None:
        """A module that was called, and has no operator that could be, is watched no longer."""
        if self._mode is not None and not self._mode.any:
            self._mode = None


class _Within(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.any = False
        """Whether there was an operator that could have."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if (asked := _ASKED.get(func.overloadpacket)) is not None:
            self.any = True
            with _disable_current_modes():  # of no concern to whoever else watches
                for numbers, least, most in asked(*args, **(kwargs or {})):
                    _require(func, numbers, least, most)
        return func(*args, **(kwargs or {}))


def _require(func: Any, numbers: torch.Tensor, least: float, most: float) -> None:
    if not numbers.numel():
        return
    low, high = (each.item() for each in torch.aminmax(numbers.detach()))
    if not (least <= low and high <= most):  # of nan neither is true
        wrong = low if not least <= low else high
        raise IndexError(f"{func.overloadpacket.__name__} is asked for {wrong}, which is not in {least} to {most}")


def _along(tensor: torch.Tensor, dim: int, index: torch.Tensor, *_: Any, **__: Any) -> Iterator[Asked]:
    yield index, 0, _length(tensor, dim) - 1


def _along_from_the_end(tensor: torch.Tensor, dim: int, index: torch.Tensor, *_: Any, **__: Any) -> Iterator[Asked]:
    yield index, -_length(tensor, dim), _length(tensor, dim) - 1


def _length(tensor: torch.Tensor, dim: int) -> int:
    return tensor.shape[dim] if tensor.dim() else 1


def _in_all(tensor: torch.Tensor, index: torch.Tensor, *_: Any, **__: Any) -> Iterator[Asked]:
    yield index, -tensor.numel(), tensor.numel() - 1


def _by_dimensions(tensor: torch.Tensor, indices: Sequence[torch.Tensor | None], *_: Any, **__: Any) -> Iterator[Asked]:
    """A mask takes as many dimensions as it has, and cannot leave them."""
    dim = 0
    for index in indices:
        if index is not None and index.dtype in (torch.bool, torch.uint8):
            dim += index.dim()
            continue
        if index is not None:
            yield index, -tensor.shape[dim], tensor.shape[dim] - 1
        dim += 1


def _rows(weight: torch.Tensor, indices: torch.Tensor, *_: Any, **__: Any) -> Iterator[Asked]:
    yield indices, 0, weight.shape[0] - 1


def _classes(
    scores: torch.Tensor, target: torch.Tensor, weight: Any, reduction: int, ignored: int, *_: Any, **__: Any
) -> Iterator[Asked]:
    yield target[target != ignored], 0, scores.shape[1 if scores.dim() > 1 else 0] - 1


def _shares(shares: torch.Tensor, *_: Any, **__: Any) -> Iterator[Asked]:
    yield shares, 0, 1


def _shares_beside(_: torch.Tensor, shares: Any, *__: Any, **___: Any) -> Iterator[Asked]:
    yield torch.as_tensor(shares), 0, 1


def _odds(weights: torch.Tensor, *_: Any, **__: Any) -> Iterator[Asked]:
    yield weights, 0, torch.finfo(weights.dtype).max
    yield weights.sum(-1), math.nextafter(0, 1), math.inf


def _counts(repeats: torch.Tensor, *_: Any, **__: Any) -> Iterator[Asked]:
    yield repeats, 0, math.inf


_ASKED: Mapping[Any, Callable[..., Iterator[Asked]]] = {
    **dict.fromkeys((_ATEN.index, _ATEN._unsafe_index, _ATEN.index_put, _ATEN.index_put_), _by_dimensions),
    **dict.fromkeys((_ATEN._index_put_impl_, _ATEN._unsafe_index_put), _by_dimensions),
    **dict.fromkeys((_ATEN.gather, _ATEN.index_select), _along),
    **dict.fromkeys((_ATEN.scatter, _ATEN.scatter_, _ATEN.scatter_add, _ATEN.scatter_add_), _along),
    **dict.fromkeys((_ATEN.scatter_reduce, _ATEN.scatter_reduce_), _along),
    **dict.fromkeys((_ATEN.index_add, _ATEN.index_add_, _ATEN.index_copy, _ATEN.index_copy_), _along),
    **dict.fromkeys((_ATEN.index_reduce, _ATEN.index_reduce_), _along),
    **dict.fromkeys((_ATEN.index_fill, _ATEN.index_fill_), _along_from_the_end),
    **dict.fromkeys((_ATEN.take, _ATEN.put, _ATEN.put_), _in_all),
    **dict.fromkeys((_ATEN.embedding, _ATEN._embedding_bag, _ATEN._embedding_bag_forward_only), _rows),
    **dict.fromkeys((_ATEN.nll_loss_forward, _ATEN.nll_loss2d_forward), _classes),
    **dict.fromkeys((_ATEN.binary_cross_entropy, _ATEN.bernoulli), _shares),
    _ATEN.bernoulli_: _shares_beside,
    _ATEN.multinomial: _odds,
    _ATEN.repeat_interleave: _counts,
}
