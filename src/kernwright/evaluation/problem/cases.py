"""Arguments of a call with what the reference makes of them."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import torch

Values = list[Any]
"""Arguments of one call: tensors, and plain values between them."""


class Case(Protocol):
    """Arguments with what the reference makes of them."""

    @property
    def values(self) -> Values: ...
    @property
    def native(self) -> list[torch.Tensor]:
        """The reference's outputs in the problem's own precision."""

    @property
    def oracle(self) -> list[torch.Tensor]:
        """The same in float64 where the reference runs in it and there is room, else `native`."""

    @property
    def label(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def fan_in(self) -> tuple[float, ...]:
        """Input elements behind an element of each output; empty where that is not known."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A case whose outputs are at hand."""

    values: Values
    native: list[torch.Tensor]
    oracle: list[torch.Tensor]
    label: str
    seed: int
    fan_in: tuple[float, ...] = ()


@dataclass(slots=True)
class Asked:
    """A case whose oracle is made when it is asked for: an output that is near PyTorch's own needs none."""

    values: Values
    native: list[torch.Tensor]
    label: str
    seed: int
    _make: Callable[[], list[torch.Tensor]]
    fan_in: tuple[float, ...] = ()
    wide: Callable[[Values], list[torch.Tensor]] | None = None
    """What the wider reference makes of other values."""
    again: Callable[[Values], list[torch.Tensor]] | None = None
    """What the reference makes of other values in the problem's own precision."""
    altered: bool = False
    """Whether its reference runs `under` something."""
    _oracle: list[torch.Tensor] | None = None

    @property
    def oracle(self) -> list[torch.Tensor]:
        """What the wider reference makes of the values."""
        if self._oracle is None:
            self._oracle = self._make()
        return self._oracle

    def under(self, around: Callable[[], AbstractContextManager[Any]]) -> "Asked":
        """The same values where the reference runs in such a context each time, a new one; now and whenever later.

        Raises:
            UserError: it does not bear that.
        """
        if self.again is None:
            return self
        again = partial(_within, around, self.again)
        wide = None if self.wide is None else partial(_within, around, self.wide)
        make = partial(_within, around, self._make)
        return replace(self, native=again(self.values), _make=make, wide=wide, again=again, altered=True, _oracle=None)


def _within(around: Callable[[], AbstractContextManager[Any]], call: Callable[..., Any], *given: Any) -> Any:
    with around():
        return call(*given)


@dataclass(slots=True)
class Later:
    """A case of which the reference makes nothing until somebody asks."""

    values: Values
    label: str
    seed: int
    _make: Callable[[], Case]
    _made: Case | None = None

    def made(self) -> Case:
        """The whole case."""
        if self._made is None:
            self._made = self._make()
        return self._made

    @property
    def native(self) -> list[torch.Tensor]:
        """What the reference makes of the values."""
        return self.made().native

    @property
    def oracle(self) -> list[torch.Tensor]:
        """What the wider one does."""
        return self.made().oracle

    @property
    def fan_in(self) -> tuple[float, ...]:
        """As the whole case's."""
        return self.made().fan_in


def made_whole(case: Case) -> Case:
    """With what the reference makes of it, if nobody has asked for that before."""
    return case.made() if isinstance(case, Later) else case
