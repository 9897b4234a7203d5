"""NVIDIA GPUs: what is here, leases on them, shared memory, cold caches and health."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, perf_counter_ns, sleep
from typing import TYPE_CHECKING, Any, Literal
from weakref import finalize

from kernwright.core.errors import MachineFault, UserError, missing_extra
from kernwright.core.lease import Share
from kernwright.core.ports import DeviceSession

from .absent import Absent
from .compiler_caches import compiler_caches
from .cuda_lease import DeviceLease, least_used
from .cuda_queues import queues
from .nvml import INSTANCE, VISIBLE, Gpu, condition, obstacle, standing, visible
from .versions import installed

if TYPE_CHECKING:
    from .cuda_buffers import CudaBuffer

KNOWN = ("sm_90a", "sm_80", "sm_86", "sm_89", "sm_100a", "sm_103a", "sm_120a")
"""The first stands for all where a candidate is to be built and no device is here."""
_SPECIFIC = {(9, 0), (10, 0), (10, 3), (12, 0)}
"""Compute capabilities whose own instructions need the architecture's name with an a."""
NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
LARGEST_SHARE = 0.92
"""Of the device's memory, that may be reserved; contexts and PyTorch's libraries take the rest."""
HEALTH_S = 10.0


def arch_of(capability: tuple[int, int]) -> str:
    """`sm_90a` for (9, 0), `sm_80` for (8, 0)."""
    return f"sm_{capability[0]}{capability[1]}" + ("a" if capability in _SPECIFIC else "")


class Cuda:
    """GPUs of NVIDIA's."""

    name = "cuda"

    def targets(self) -> Sequence[str]:
        return list(dict.fromkeys(f"cuda:{arch_of(gpu.capability)}" for gpu in visible()))

    def obstacle(self) -> str:
        return obstacle()

    def known(self) -> Sequence[str]:
        return list(dict.fromkeys([*self.targets(), *(f"cuda:{arch}" for arch in KNOWN)]))

    def open(self, target: str) -> DeviceSession:
        matching = [gpu for gpu in visible() if f"cuda:{arch_of(gpu.capability)}" == target]
        if matching:
            index, place = least_used([_lease_name(gpu) for gpu in matching])
            return CudaSession(matching[index], place)
        if target in self.known():
            return Absent()
        raise UserError(f"The target {target!r} is not known; CUDA targets are: {', '.join(self.known())}.")


class CudaSession:
    """One GPU, in the judge's process; `place` is a descriptor that shows others that it has a user."""

    runtime = "kernwright.platforms.cuda_runtime:CudaRuntime"
    runner_device = "cuda:0"
    present = True
    clocks: Sequence[Literal["device", "call"]] = ("device", "call")
    bursts = True

    def __init__(self, gpu: Gpu, place: int) -> None:
        finalize(self, os.close, place)
        if find_spec("cuda") is None or find_spec("cuda.bindings") is None:
            raise missing_extra("Judging on a GPU", "cuda")
        # A process that holds tensors of many sizes would else lose much of the device to gaps between them.
        os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
        import torch

        if torch.version.cuda is None:
            raise UserError(
                f"This PyTorch ({torch.__version__}) has no CUDA in it; install one that has, from pytorch.org."
            )
        from .cuda_buffers import Pool
        from .cuda_distance import Distance

        self._gpu = gpu
        major, minor = gpu.capability
        self.modules: Sequence[str] = (
            "cuda.bindings.driver",
            "cuda.core",  # launches CUDA C++; imported by a runner's first call it takes over 130 ms
            "torch._dynamo",
            "torch._inductor.compile_fx",
            f"kernwright.languages.triton_warm:warm:{major}{minor}",
        )
        self._index = visible().index(gpu)
        self.device = f"cuda:{self._index}"
        nodes = [Path(node) for node in (f"/dev/nvidia{gpu.minor}", *NODES)]
        if gpu.uuid.startswith(INSTANCE):
            nodes += Path("/dev/nvidia-caps").glob("*")
        self.devices: Sequence[Path] = tuple(node for node in nodes if node.exists())
        self._lease = DeviceLease(_lease_name(gpu))
        self._torch: Any = torch
        try:
            torch.cuda.set_device(self._index)
            properties = torch.cuda.get_device_properties(self._index)
            torch.zeros(1, device=self.device)
        except RuntimeError as error:
            raise MachineFault(unusable(gpu.name, str(error), torch.version.cuda)) from error
        self._properties = properties
        self._pool = Pool(self._index)
        self._gate = _gate()
        self._distance = Distance(self._index)
        self._driver = ""
        self.memory_bytes: int | None = properties.total_memory
        self._l2_bytes = int(properties.L2_cache_size)
        self.apart_bytes = 3 * self._l2_bytes
        self._peak = _peak_bytes_per_s(self._index)
        self._flusher: torch.Tensor | None = None
        self.flush_ns = self._least_flush_ns()

    def environment(self) -> Mapping[str, str]:
        """Device, driver, limits and versions, as text."""
        speed = f"{self._peak / 1e12:.2f} TB/s by clock and width" if self._peak else "speed not told"
        return {
            "gpu": self._gpu.name,
            "memory": f"{(self.memory_bytes or 0) / 2**30:.0f} GiB, {speed}",
            "L2": f"{self._l2_bytes / 2**20:.0f} MiB",
            **standing(self._gpu),
            "torch": self._torch.__version__,
            "CUDA of torch": str(self._torch.version.cuda),
            "triton": installed("triton"),
        }

    def condition(self) -> Mapping[str, str]:
        """Clocks, temperature, power and what throttles it."""
        return condition(self._gpu)

    def variables(self, artifacts: Path, texts: Sequence[str] = ()) -> Mapping[str, str]:
        """Caches of compilers among the artefacts, this device as the only one, and as many queues as are of use."""
        kept = ("LD_LIBRARY_PATH", "CUDA_HOME", "CC", "CUDAHOSTCXX", "LIBRARY_PATH")
        return {
            **{name: os.environ[name] for name in kept if name in os.environ},
            **compiler_caches(artifacts),
            "KERNWRIGHT_GATE": self._gate,
            "KERNWRIGHT_DEVICE": json.dumps(_plain(self._properties)),
            VISIBLE: self._gpu.uuid,
            "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
            "CUDA_CACHE_PATH": str(artifacts / "nv"),
            **queues(texts),
        }

    def machine(self) -> str:
        """Names machines on which figures can be compared."""
        self._driver = self._driver or standing(self._gpu).get("driver", "")  # to ask takes 3 ms
        driver = self._driver or "driver unknown"
        return f"{self._gpu.name}/{driver}/torch {self._torch.__version__}/triton {installed('triton')}"

    def building(self) -> AbstractContextManager[None]:
        """The processor's work does not disturb the device's."""
        return nullcontext()

    def shared(self) -> AbstractContextManager[Share]:
        return self._lease.held(alone=False)

    def starting(self) -> AbstractContextManager[Share]:
        return self._lease.starting()

    @contextmanager
    def exclusive(self, *, undisturbed: bool = False) -> Iterator[None]:
        try:
            with self._lease.alone(undisturbed=undisturbed), self._pool.discards_later():
                yield
        finally:
            self._pool.discard_all()  # what takes a driver long, while the next one begins

    def reserved(self, nbytes: int, timing: int = 0) -> AbstractContextManager[None]:
        most = int(LARGEST_SHARE * (self.memory_bytes or 0))
        held = min(nbytes + _CONTEXTS_BYTES, most)
        return self._lease.reserved(held, most, min(timing, most - held))

    def wanted(self, for_s: float = 0.0) -> bool:
        return self._lease.wanted(for_s)

    def runner_cores(self, threads: int) -> tuple[int, ...]:
        """Any: the host's part is not what is timed."""
        return ()

    def claim_judge_cores(self) -> None:
        """Nothing to keep free."""

    def buffer(self, nbytes: int) -> "CudaBuffer":
        return self._pool.buffer(nbytes)

    def stock(self, sizes: Sequence[int]) -> None:
        self._pool.stock(sizes)

    def flushes(self, asked: bool) -> bool:
        return True

    def flush(self) -> None:
        """Write twice as much as the L2 cache holds, and give back what was kept persistent in it."""
        from cuda.bindings import driver

        if self._flusher is None:
            self._flusher = self._torch.empty(2 * self._l2_bytes, dtype=self._torch.uint8, device=self.device)
        driver.cuCtxResetPersistingL2Cache()
        self._flusher.zero_()

    def _least_flush_ns(self) -> float:
        taken = []
        for _ in range(6):
            start = perf_counter_ns()
            self.flush()
            self.settle()
            taken.append(perf_counter_ns() - start)
        return float(min(taken))

    def copy_ns(self, tensors: Sequence[Any]) -> float:
        """By events, of copies that were queued while the device slept; the smallest of three."""
        nbytes = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
        count = max(2, min(64 // max(len(tensors), 1), _COPIES_BYTES // max(nbytes, 1)))
        places = [[self._torch.empty_like(tensor) for tensor in tensors] for _ in range(count)]
        taken = []
        for _ in range(3):
            start, end = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
            self.settle()
            self._torch.cuda._sleep(_ASLEEP_CYCLES)
            start.record()
            for place in places:
                for slot, tensor in zip(place, tensors, strict=True):
                    slot.copy_(tensor)
            end.record()
            self.settle()
            taken.append(start.elapsed_time(end) * 1e6 / count)
        return float(min(taken))

    def settle(self) -> None:
        from cuda.bindings import driver

        from .cuda_memory import checked

        checked(driver.cuCtxSynchronize())  # several times a sample: PyTorch's own takes 15 µs longer

    def distance(self, got: Any, own: Any) -> Any:
        return self._distance(got, own)

    def least_ns(self, written: int, threads: int) -> float:
        """What does not fit into the L2 cache has to go through the memory's wires."""
        return floor_ns(written - self._l2_bytes, self._peak)

    def floor_ns(self, moving: float, written: int) -> float | None:
        """Inputs come from memory, since caches are emptied before; of what is written the L2 cache may keep some."""
        return floor_ns(moving + max(0, written - self._l2_bytes), self._peak) or None

    def require_health(self) -> None:
        """A kernel that faults or hangs must not have harmed this process's context, or the device."""
        try:
            done = self._torch.cuda.Event()
            self._torch.zeros(1, device=self.device).add_(1)
            done.record()
            end = monotonic() + HEALTH_S
            while not done.query():
                if monotonic() > end:
                    raise MachineFault(
                        f"The GPU {self._gpu.name} has not answered for {HEALTH_S:.0f} s; if it stays so, look for "
                        "NVRM messages in the kernel's log and restart the machine."
                    )
                sleep(0.001)
        except RuntimeError as error:
            reason = str(error).splitlines()[0]
            raise MachineFault(f"The GPU {self._gpu.name} is in an error state: {reason}") from error

    def free(self) -> None:
        """Back to the driver, for other processes; what is wrong with the device is for `require_health` to say."""
        self._flusher = None
        with suppress(RuntimeError):
            self._pool.free()
            self._torch.cuda.empty_cache()


_COPIES_BYTES, _ASLEEP_CYCLES = 256 << 20, 2_000_000
_CONTEXTS_BYTES = 3 << 30
"""Contexts and libraries of the judge and four runners."""


def _gate() -> str:
    from .cuda_gate import compiled

    return compiled()


def _plain(properties: Any) -> dict[str, int | str]:
    """What code may ask of the device before it launches anything, for builds that have none."""
    values = {name: getattr(properties, name) for name in dir(properties) if not name.startswith("_")}
    numbers = {name: value for name, value in values.items() if isinstance(value, int)}
    return {**numbers, "name": str(properties.name)}


def _lease_name(gpu: Gpu) -> str:
    return f"cuda-{gpu.uuid[-12:].replace('/', '-')}"


def floor_ns(nbytes: float, bytes_per_s: float) -> float:
    """How long so many bytes take at the least; nothing where the device does not tell its clock or width."""
    return max(0, nbytes) / bytes_per_s * 1e9 if bytes_per_s > 0 else 0.0


_REMEDIES = (
    (("driver", "old"), "install a newer driver, or a PyTorch that is made for an older CUDA than {version}"),
    (("driver", "insufficient"), "install a newer driver, or a PyTorch that is made for an older CUDA than {version}"),
    (("no kernel image",), "install a PyTorch that is made for this GPU too, from pytorch.org"),
    (("out of memory",), "end the programs that hold its memory, or wait for them"),
    (
        ("busy or unavailable",),
        "end the program that has it alone, or set its compute mode to default: nvidia-smi -c 0",
    ),
    (("not yet initialized",), "start the service nvidia-fabricmanager, which GPUs joined by NVSwitch need"),
)
"""What an error's text contains, and what then helps; the version is that of PyTorch's CUDA."""


def unusable(name: str, said: str, version: str) -> str:
    """Why PyTorch could not open a GPU and what to do, as one sentence, from its error's text."""
    first = (said.strip().splitlines() or ["no reason was given"])[0]
    first = re.split(r"\.\s+(?=[A-Z])", first)[0].rstrip(".")
    lower = said.lower()
    remedy = next(
        (text for signs, text in _REMEDIES if all(sign in lower for sign in signs)),
        "see whether nvidia-smi shows it as healthy, and restart the machine where it does not",
    )
    return f"The GPU {name} cannot be used: {first}; {remedy.format(version=version)}."


def _peak_bytes_per_s(index: int) -> float:
    """Twice the memory clock times the width of the bus: the datasheet's figure. 0 where one is not told."""
    from cuda.bindings import driver

    device = driver.cuDeviceGet(index)[1]
    khz, bits = (
        driver.cuDeviceGetAttribute(getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}"), device)[1]
        for name in ("MEMORY_CLOCK_RATE", "GLOBAL_MEMORY_BUS_WIDTH")
    )
    return 2.0 * float(khz or 0) * 1e3 * float(bits or 0) / 8
