"""What a candidate will be called with, without the values: enough to compile for it ahead of time."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorSpec:
    """A dense tensor argument."""

    dtype: str
    """As PyTorch names it: `float32`."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSpec:
    """One workload as a build sees it."""

    init: tuple[Any, ...]
    """Plain constructor arguments, for a candidate whose entry is a class."""
    inputs: tuple[Any, ...]
    """`TensorSpec` for each tensor, as the candidate gets it; other arguments as they are."""
    nesting: Any = None
    """How inputs are nested on the way to the candidate (`core.nesting`); None: they are not."""
    cast: str | None = None
    """The dtype that a module is cast to once it is constructed, where the problem's rules name one."""
