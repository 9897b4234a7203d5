"""A GPU that is not there, as far as Inductor asks: code for a chip is then written on any machine.

Nothing here runs on a device. `pretended` is entered in the compiler operator's child process only, and is undone at
its end.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
import torch._dynamo.device_interface as device_interface
import torch._subclasses.fake_tensor as fake_tensor
from torch._inductor.fx_passes import joint_graph
from torch._inductor.runtime.hints import DeviceProperties
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from .inductor_file import Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """What Inductor's choices depend on, as the driver reports it on the chip."""

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    shared_bytes: int
    """The largest that one block may opt in to."""
    shared_bytes_per_multiprocessor: int
    l2_bytes: int
    memory_bytes: int
    registers: int = 65536
    """Of 32 bits, per multiprocessor."""
    threads: int = 2048
    """Per multiprocessor."""
    warp_size: int = 32


CHIPS = {
    "sm_80": Chip(
        name="NVIDIA A100-SXM4-80GB",
        capability=(8, 0),
        multiprocessors=108,
        shared_bytes=166912,
        shared_bytes_per_multiprocessor=167936,
        l2_bytes=40 << 20,
        memory_bytes=80 << 30,
    ),
    "sm_90a": Chip(
        name="NVIDIA H200",
        capability=(9, 0),
        multiprocessors=132,
        shared_bytes=232448,
        shared_bytes_per_multiprocessor=233472,
        l2_bytes=60 << 20,
        memory_bytes=139 << 30,
    ),
    "sm_100a": Chip(
        name="NVIDIA B200",
        capability=(10, 0),
        multiprocessors=148,
        shared_bytes=232448,
        shared_bytes_per_multiprocessor=233472,
        l2_bytes=126 << 20,
        memory_bytes=178 << 30,
    ),
}


def chip_of(target: str) -> Chip:
    """The chip of a target such as `cuda:sm_90a`.

    Raises:
        Refused: its properties are not known here.
    """
    architecture = target.partition(":")[2]
    if architecture not in CHIPS:
        raise Refused(f"the properties of {architecture!r} are not known; known are {', '.join(CHIPS)}")
    return CHIPS[architecture]


def fake_mode() -> Any:
    """A mode in which tensors have sizes and no values, as `torch.export` wants it."""
    return fake_tensor.FakeTensorMode(shape_env=ShapeEnv(tracked_fakes=[]), allow_non_fake_inputs=True)


@contextmanager
def pretended(chip: Chip, *, tf32: bool) -> Iterator[None]:
    """Let PyTorch believe that it has this chip, alone.

    Raises:
        Refused: Triton is not installed, without which Inductor writes no code for GPUs.
    """
    driver = _triton_driver(chip)
    major, minor = chip.capability
    properties = _properties(chip)
    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "_lazy_init": lambda: None,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "synchronize": lambda device=None: None,
        "get_device_properties": lambda device=None: properties,
        "get_device_capability": lambda device=None: (major, minor),
        "get_device_name": lambda device=None: chip.name,
        "get_arch_list": lambda: [f"sm_{major}{minor}"],
        "is_bf16_supported": lambda including_emulation=True: True,
        "is_tf32_supported": lambda: True,
        "mem_get_info": lambda device=None: (chip.memory_bytes, chip.memory_bytes),
        "get_rng_state": lambda device="cuda": torch.zeros(16, dtype=torch.uint8),
        "set_rng_state": lambda state, device="cuda": None,
        "device": lambda device: nullcontext(),
    }
    with ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(patch.object(torch.cuda, name, answer))
        stack.enter_context(patch.object(torch.version, "cuda", torch.version.cuda or "13.0"))
        # Patterns are traced with values on the device; they are found in any graph, wherever they were traced.
        known = joint_graph.lazy_init
        stack.enter_context(patch.object(joint_graph, "lazy_init", lambda *_: known(torch.device("cpu"))))
        stack.enter_context(_folding())
        stack.enter_context(patch.object(torch._C, "_conv_determine_backend_memory_format", _convolution_format))
        # It would make a tensor on the device, to wake the driver.
        stack.enter_context(patch.object(fake_tensor, "init_gpu_context", lambda *_: None))
        stack.enter_context(_interface(properties))
        stack.enter_context(_driver(driver))
        stack.enter_context(_precision(tf32))
        DeviceProperties.create.cache_clear()
        yield


def _convolution_format(image: torch.Tensor, weight: torch.Tensor, backend: object) -> torch.memory_format:
    """The memory format that cuDNN's convolutions return: channels last where either operand has it."""
    wanted = {4: torch.channels_last, 5: torch.channels_last_3d}.get(weight.dim())
    if wanted is None or torch.float64 in (image.dtype, weight.dtype):
        return torch.contiguous_format
    found = {torch._prims_common.suggest_memory_format(tensor) for tensor in (image, weight)}
    return wanted if wanted in found else torch.contiguous_format


class _OnProcessor(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """What would be made on a device is made on the processor."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        processor = torch.device("cpu")
        args, kwargs = pytree.tree_map_only(torch.device, lambda _: processor, (args, kwargs or {}))
        return func(*args, **kwargs)


@contextmanager
def _folding() -> Iterator[None]:
    """Inductor finds out which tensors hold one value everywhere by computing them with one element."""
    known = joint_graph.UniformValueConstantFolder.run

    def run(self: Any) -> Any:
        with _OnProcessor():  # type: ignore[no-untyped-call]
            return known(self)

    with patch.object(joint_graph.UniformValueConstantFolder, "run", run):
        yield


def _properties(chip: Chip) -> SimpleNamespace:
    major, minor = chip.capability
    return SimpleNamespace(
        name=chip.name,
        major=major,
        minor=minor,
        multi_processor_count=chip.multiprocessors,
        regs_per_multiprocessor=chip.registers,
        max_threads_per_multi_processor=chip.threads,
        max_threads_per_block=1024,
        shared_memory_per_block=48 << 10,
        shared_memory_per_block_optin=chip.shared_bytes,
        shared_memory_per_multiprocessor=chip.shared_bytes_per_multiprocessor,
        L2_cache_size=chip.l2_bytes,
        total_memory=chip.memory_bytes,
        warp_size=chip.warp_size,
        is_integrated=0,
        is_multi_gpu_board=0,
    )


@contextmanager
def _interface(properties: SimpleNamespace) -> Iterator[None]:
    """The device as Dynamo and Inductor see it; theirs took its functions from `torch.cuda` when it was defined."""

    answers: dict[str, Any] = {
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "get_device_properties": lambda device=None: properties,
    }
    more: dict[str, Any] = {
        "device_count": lambda: 1,
        "synchronize": lambda device=None: None,
        "exchange_device": lambda device: 0,
        "maybe_exchange_device": lambda device: 0,
        "is_bf16_supported": lambda including_emulation=False: True,
        "device": lambda device: nullcontext(),
    }
    worker = type("Worker", (), {name: staticmethod(answer) for name, answer in answers.items()})
    known = {name: staticmethod(answer) for name, answer in (answers | more).items()}
    pretended = type("Pretended", (device_interface.CudaInterface,), {**known, "Worker": worker})
    names = ("cuda", "cuda:0")
    device_interface.get_registered_device_interfaces()  # fills the table, which would replace this entry later
    table = device_interface.device_interfaces
    before = {name: table[name] for name in names if name in table}
    for name in names:
        table[name] = pretended
    try:
        yield
    finally:
        table.update(before)


def _triton_driver(chip: Chip) -> Any:
    try:
        target = import_module("triton.backends.compiler").GPUTarget
    except ImportError:
        raise Refused(
            "Inductor writes Triton code for this target, and Triton is not installed: pip install triton"
        ) from None
    major, minor = chip.capability
    limits = {
        "max_shared_mem": chip.shared_bytes,
        "max_num_regs": chip.registers,
        "multiprocessor_count": chip.multiprocessors,
        "warpSize": chip.warp_size,
    }
    return SimpleNamespace(
        get_current_target=lambda: target("cuda", 10 * major + minor, chip.warp_size),
        get_current_device=lambda: 0,
        get_current_stream=lambda device=None: 0,
        get_active_torch_device=lambda: torch.device("cuda", 0),
        utils=SimpleNamespace(get_device_properties=lambda device: limits),
    )


@contextmanager
def _driver(driver: Any) -> Iterator[None]:
    known = import_module("triton.runtime").driver
    before = vars(known).get("_active")
    known.set_active(driver)
    try:
        yield
    finally:
        known.set_active(before)


@contextmanager
def _precision(tf32: bool) -> Iterator[None]:
    """How float32 matrix products and convolutions are to be computed; the text only says what Triton's own do."""
    backends: tuple[Any, ...] = (torch.backends.cuda.matmul, torch.backends.cudnn)
    before = [backend.allow_tf32 for backend in backends]
    for backend in backends:
        backend.allow_tf32 = tf32
    try:
        yield
    finally:
        for backend, value in zip(backends, before, strict=True):
            backend.allow_tf32 = value
