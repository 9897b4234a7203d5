"""Calls a candidate with fake tensors, so that it launches what it will launch, on a GPU that is not there."""

import ctypes
import os
import re
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)

from kernwright.core.calls import CallSpec, TensorSpec
from kernwright.core.loading import import_file
from kernwright.core.nesting import nested

from .described_gpu import described, replaced
from .device_names import Renamed
from .gpus import Gpu

_ADDRESS = 1 << 40
"""Where every fake allocation starts; like a real one's, it is a multiple of 512."""
_CPU, _CUDA = 0, 1
"""Places in PyTorch's table of device guards: the numbers of `c10::DeviceType`."""
_DETERMINED = (NameError, AssertionError, ValueError, IndexError, ZeroDivisionError, ModuleNotFoundError)
"""Errors of Python code that do not depend on what a tensor holds or a device is."""
_AVOIDED = property(lambda mode: True)
"""PyTorch asks whether a GPU is there: if so, `torch.tensor` puts its numbers on it before they become fake."""
_COMPLAINT = re.compile(r"\b(?:error|note): |\bAssertion\b|\bUNREACHABLE\b")
_COMPLAINTS, _COMPLAINT_CHARACTERS = 20, 500
_SAID_CHARACTERS = 200
_UNKNOWN = (DataDependentOutputException, DynamicOutputShapeException)
"""What PyTorch raises where a number or a shape follows from values, which fake tensors do not have."""


@contextmanager
def fake_device(gpu: Gpu) -> Iterator[None]:
    """Within, tensors have shapes and addresses but no content, and CUDA ones can be had anywhere."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)  # imports much of PyTorch, which must not see the described GPU
    _allow_cuda_tensors()
    with (
        described(gpu),
        replaced(fake_tensor, {"init_gpu_context": _nothing}),  # would allocate on a GPU that says it is there
        replaced(FakeTensorMode, {"avoid_device_init": _AVOIDED}),
        replaced(FakeTensor, {"data_ptr": _address}),
        replaced(torch.nn.Module, {"_apply": _apply}),
        mode,
        Renamed(torch.device("cuda", 0)),
    ):
        yield


def follow(main: Path, calls: Sequence[CallSpec]) -> None:
    """Import, construct and call the candidate as a run will, for each specification. What it raises comes through."""
    module = import_file(main, "candidate")
    entry = getattr(module, "ModelNew", None) or module.kernel
    makes = isinstance(entry, type) or hasattr(module, "ModelNew")  # a function of that name makes a module too
    for call in calls:
        with torch.device("cuda", 0):
            function = entry(*call.init).eval() if makes else entry
        if makes and call.cast is not None:
            function = function.to(getattr(torch, call.cast))
        with torch.no_grad():
            nested(function, call.nesting)(*map(_argument, call.inputs))


def is_own_failure(error: BaseException, folder: Path, compiler: Sequence[str]) -> bool:
    """Whether a real call would fail in the same way, wherever that can be told.

    It would where the candidate's own code, in `folder`, raised what no stand-in causes, or where the compiler did,
    called by the candidate; `compiler` has names of folders or files. It might not where PyTorch had only fake tensors
    to work with, or where the candidate asked for something that a described GPU does not have.
    """
    if isinstance(error, SyntaxError):
        return True
    frames = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    own = max((i for i, path in enumerate(frames) if path.is_relative_to(folder)), default=None)
    if own is None:
        return False
    if own == len(frames) - 1:
        return isinstance(error, _DETERMINED)
    below = [path for path in frames[own + 1 :] if path.is_absolute()]  # others are generated code
    return bool(below) and all(any(name in path.parts for name in compiler) for path in below)


def where_it_ended(error: BaseException, folder: Path) -> str:
    """For a reader: the last line of the candidate's own, in `folder`, and what could not be followed from there."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(folder)]
    place = f"{Path(own[-1].filename).name}, line {own[-1].lineno}" if own else "a call of the candidate"
    if isinstance(error, _UNKNOWN):
        return f"{place}, which needs what a tensor holds"
    line = next(iter(str(error).replace(f"{folder}/", "").strip().splitlines()), "")
    said = re.split(r"(?<=\w)[.!?](?:\s|$)", line)[0][:_SAID_CHARACTERS]
    return f"{place}, with {type(error).__name__}" + (f": {said}" if said else "")


@contextmanager
def noted_complaints() -> Iterator[None]:
    """Errors leave here with a note of what was said on standard error: compilers raise them without a reason.

    What a process says that dies meanwhile is lost.
    """
    kept = os.dup(2)
    try:
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), 2)
            try:
                yield
            except Exception as error:
                file.seek(0)
                lines = file.read().decode(errors="replace").splitlines()
                if said := [line[:_COMPLAINT_CHARACTERS] for line in lines if _COMPLAINT.search(line)]:
                    error.add_note("\n".join(said[:_COMPLAINTS]))
                raise
            finally:
                os.dup2(kept, 2)
                file.seek(0)
                os.write(2, file.read())
    finally:
        os.close(kept)


def _argument(value: Any) -> Any:
    if not isinstance(value, TensorSpec):
        return value
    return torch.empty_strided(value.shape, value.strides, dtype=getattr(torch, value.dtype), device="cuda")


def _nothing(device: torch.device) -> None: ...


def _address(tensor: torch.Tensor) -> int:
    return _ADDRESS + int(tensor.storage_offset()) * tensor.element_size() if tensor.numel() else 0


def _apply(module: torch.nn.Module, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Any:
    """`torch.nn.Module._apply`, which cannot exchange fake tensors in place."""
    for child in module.children() if recurse else ():
        child._apply(fn)  # type: ignore[no-untyped-call]
    for name, weight in module._parameters.items():
        if weight is not None:
            module._parameters[name] = torch.nn.Parameter(fn(weight.detach()), weight.requires_grad)
    for name, buffer in module._buffers.items():
        module._buffers[name] = None if buffer is None else fn(buffer)
    return module


def _allow_cuda_tensors() -> None:
    """Let operations on CUDA tensors choose their device where there is none to choose.

    Builds of PyTorch with CUDA have a stand-in for that; those without have an empty place in the same table, into
    which the processor's own guard goes: it does nothing.
    """
    torch._C._ensureCUDADeviceGuardSet()
    library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
    guards = (ctypes.c_void_p * 2).in_dll(library, "_ZN3c104impl26device_guard_impl_registryE")
    if not guards[_CUDA]:
        guards[_CUDA] = guards[_CPU]
