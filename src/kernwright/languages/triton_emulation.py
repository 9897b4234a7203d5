"""Makes a process run Triton kernels by Triton's interpreter, on tensors in the processor's memory."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import torch
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import GridExecutor, InterpretedFunction, InterpreterBuilder
from triton.runtime.jit import JITFunction

from .described_gpu import described
from .device_names import Renamed
from .gpus import gpu_of
from .triton_cache import emulation_variables, is_generated
from .triton_driver import DescribedDriver, active

_PREPARED = ExitStack()
_RIGHT = frozenset({torch.float32, torch.float16, torch.float64})
"""Floating-point types with which the interpreter computes as a GPU does. It adds bfloat16 as if it were integers."""


def prepare(target: str, text: str) -> None:
    """From here on this process takes `@triton.jit` functions for Python, and its tensors say they are on a GPU.

    Call it once, before the candidate is imported, with the text of its main file; whether Triton was imported before
    does not matter.

    Raises:
        ValueError: no GPU is known by this target's name.
    """
    gpu = gpu_of(target)
    if gpu is None:
        raise ValueError(f"no GPU is known by the name {target!r}")
    os.environ.update(emulation_variables())
    if is_generated(text):
        from .triton_inductor import undriven

        _PREPARED.enter_context(undriven(gpu))
    _interpret_what_is_imported()
    GridExecutor.__call__ = _refusing(GridExecutor.__call__)
    interpreter._patch_lang_tensor = _with_index(interpreter._patch_lang_tensor)
    for name in ("bf16", "fp8e4nv", "fp8e4b15", "fp8e4b8", "fp8e5", "fp8e5b16"):
        setattr(InterpreterBuilder, f"get_{name}_ty", _refusal(name))
    _PREPARED.enter_context(described(gpu))
    _PREPARED.enter_context(active(DescribedDriver(gpu, None), benchmark=_first_is_best))
    _PREPARED.enter_context(Renamed(torch.device("cpu")))


def _interpret_what_is_imported() -> None:
    """Triton's own kernel functions (`tl.sum`, `tl.softmax`) were decided upon when they were imported."""
    made: dict[int, Any] = {}
    modules = [m for name, m in list(sys.modules.items()) if name.startswith(("triton.", "torch._inductor."))]
    for owner in (*modules, tl.tensor):
        for name, value in list(vars(owner).items()):
            if isinstance(value, JITFunction):
                interpreted = made.setdefault(id(value), InterpretedFunction(value.fn))
                setattr(owner, name, interpreted)


def _first_is_best(call: Callable[[], object], *args: Any, quantiles: Sequence[float] = (), **kwargs: Any) -> Any:
    return [1.0] * len(quantiles) if quantiles else 1.0


def _with_index(patch: Callable[..., None]) -> Callable[..., None]:
    """NumPy since 2.4 makes no integer of an array of one element, which is what the interpreter's scalars are."""

    def patched(tensor: Any, scope: Any) -> None:
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    return patched


def _refusing(execute: Callable[..., None]) -> Callable[..., None]:
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        for value in (*args, *kwargs.values()):
            if isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype not in _RIGHT:
                raise _unsupported(str(value.dtype).removeprefix("torch."))
        execute(self, *args, **kwargs)

    return checked


def _refusal(name: str) -> Callable[[Any], Any]:
    def refuse(builder: Any) -> Any:
        raise _unsupported(name)

    return refuse


def _unsupported(name: str) -> TypeError:
    return TypeError(f"Triton's interpreter computes in float32 and float16, not in {name}: this needs the real device")
