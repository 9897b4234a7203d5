"""On a device an operator that would leave its bounds is a sentence too, as PyTorch's own is on a processor."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional as F  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from kernwright.core.errors import UserError  # noqa: E402
from kernwright.evaluation.problem.bounds import Bounds  # noqa: E402

X = torch.linspace(-2, 2, 20).reshape(5, 4)
SHARES = X.sigmoid()


def _of(*numbers: int) -> Any:
    return torch.tensor(numbers)


CALLS: dict[str, Callable[[Any], Any]] = {
    "index": lambda at: X[at],
    "index of columns": lambda at: X[:, at],
    "index beside a mask": lambda at: X[X[:, 0] > 1, at],
    "mask alone": lambda at: X[at < X],
    "index_put": lambda at: X.clone().index_put_((at,), X[0]),
    "gather": lambda at: X.gather(1, at.reshape(1, 1)),
    "take_along_dim": lambda at: torch.take_along_dim(X, at.reshape(1, 1), 1),
    "scatter": lambda at: X.scatter(1, at.reshape(1, 1), 1.0),
    "scatter_add": lambda at: X.scatter_add(1, at.reshape(1, 1), X),
    "scatter_reduce": lambda at: X.scatter_reduce(1, at.reshape(1, 1), X, "amax"),
    "index_select": lambda at: X.index_select(0, at),
    "index_add": lambda at: X.index_add(0, at, X[:1]),
    "index_copy": lambda at: X.index_copy(0, at, X[:1]),
    "index_fill": lambda at: X.index_fill(0, at, 1.0),
    "take": lambda at: X.take(at),
    "put": lambda at: X.put(at, X[0, :1]),
    "embedding": lambda at: F.embedding(at, X),
    "embedding_bag": lambda at: F.embedding_bag(at.reshape(1, 1), X),
    "cross_entropy": lambda at: F.cross_entropy(X[:1], at),
    "cross_entropy in two dimensions": lambda at: F.cross_entropy(X[None, :, :1, None], at.reshape(1, 1, 1)),
    "repeat_interleave": lambda at: torch.repeat_interleave(X[:1], at, dim=0),
}
SHARED: dict[str, Callable[[Any], Any]] = {
    "binary_cross_entropy": lambda shares: F.binary_cross_entropy(shares, SHARES),
    "bernoulli": torch.bernoulli,
    "bernoulli_": lambda shares: torch.empty_like(shares).bernoulli_(shares),
    "multinomial": lambda shares: torch.multinomial(shares, 1),
}


def _error(call: Callable[[], Any], *, watched: bool) -> Exception | None:
    with Bounds("cuda").watched() if watched else nullcontext():
        try:
            call()
        except (IndexError, RuntimeError) as error:
            return error
    return None


def _require_alike(call: Callable[[], Any]) -> None:
    """Refused under watch, before PyTorch does, where PyTorch refuses it on a processor."""
    error = _error(call, watched=True)
    assert (error is None) == (_error(call, watched=False) is None)
    assert error is None or "which is not in" in str(error)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("at", [0, 3, 4, 5, 20, -1, -5, -6, -20, -21, -100, -(2**63)])
def test_an_index_is_refused_where_a_processor_refuses_it(name: str, at: int) -> None:
    call = CALLS[name]
    _require_alike(lambda: call(_of(at)))


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("shares", [SHARES, X, SHARES + 1, X * 0, X * 0 + 1, X / 0, X * float("nan")])
def test_so_is_a_share(name: str, shares: Any) -> None:
    call = SHARED[name]
    _require_alike(lambda: call(shares))


class _Seen(TorchDispatchMode):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def test_who_else_watches_sees_the_modules_operators_alone() -> None:
    with _Seen() as alone:
        F.embedding(_of(1), X)
    with _Seen() as beside, Bounds("cuda").watched():
        F.embedding(_of(1), X)
    assert beside.names == alone.names


def test_a_module_without_such_operators_is_watched_no_longer() -> None:
    for call, watched in ((lambda: X * 2, False), (lambda: X[_of(0)], True)):
        bounds = Bounds("cuda")
        with bounds.watched():
            call()
        bounds.learn()
        assert isinstance(bounds.watched(), nullcontext) != watched


GAINS = """
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        gains = torch.ones(5, device=x.device)
        return x * gains[(x / x.norm(dim=1, keepdim=True)).long().clamp(max=4)]


def get_inputs():
    return [torch.randn(8, 16)]
"""


def test_a_reference_that_leaves_its_bounds_is_a_sentence(prepared: Callable[..., Any]) -> None:
    """Of rows of zeros it makes nan, and of that the least of all integers."""
    setting = prepared(GAINS)
    reference = setting.reference
    reference._bounds = Bounds("cuda")
    with pytest.raises(UserError, match="index is asked for -9223372036854775808"):
        reference.outputs(setting.model, [torch.zeros(8, 16)])
    reference.outputs(setting.model, setting.bases[0].values)
