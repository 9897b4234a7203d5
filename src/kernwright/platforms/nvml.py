"""What the driver's management library says of a GPU. Needs neither a CUDA context nor PyTorch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_NODES = ("/dev/nvidiactl", "/dev/dxg")
_REASONS = {
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}
"""Bits of nvmlDeviceGetCurrentClocksEventReasons that slow a GPU down (NVML API reference)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU as the driver numbers them."""

    index: int
    uuid: str
    name: str
    capability: tuple[int, int]
    minor: int
    """Of its device node, /dev/nvidia<minor>."""


@cache
def gpus() -> tuple[Gpu, ...]:
    """The GPUs here; none where there is no driver. Without the package nvidia-ml-py the driver is asked itself."""
    if not any(Path(node).exists() for node in _NODES):
        return ()
    library = _library()
    if library is None:
        return _by_driver()
    try:
        count = library.nvmlDeviceGetCount()
        return tuple(_gpu(library, index) for index in range(count))
    except library.NVMLError:
        return _by_driver()


def _gpu(library: Any, index: int) -> Gpu:
    handle = library.nvmlDeviceGetHandleByIndex(index)
    return Gpu(
        index=index,
        uuid=_text(library.nvmlDeviceGetUUID(handle)),
        name=_text(library.nvmlDeviceGetName(handle)),
        capability=tuple(library.nvmlDeviceGetCudaComputeCapability(handle)),
        minor=int(library.nvmlDeviceGetMinorNumber(handle)),
    )


def standing(gpu: Gpu) -> Mapping[str, str]:
    """What stays as it is: driver, power limit, ECC, persistence, compute mode. What is not permitted is left out."""
    library = _library()
    if library is None:
        return {"nvml": "not available"}
    return _asked(
        library,
        gpu,
        {
            "driver": lambda _: _text(library.nvmlSystemGetDriverVersion()),
            "power limit": lambda h: f"{library.nvmlDeviceGetEnforcedPowerLimit(h) / 1000:.0f} W",
            "largest SM clock": lambda h: f"{library.nvmlDeviceGetMaxClockInfo(h, library.NVML_CLOCK_SM)} MHz",
            "ECC": lambda h: "on" if library.nvmlDeviceGetEccMode(h)[0] else "off",
            "persistence": lambda h: "on" if library.nvmlDeviceGetPersistenceMode(h) else "off",
            "compute mode": lambda h: str(library.nvmlDeviceGetComputeMode(h)),
        },
    )


def condition(gpu: Gpu) -> Mapping[str, str]:
    """What changes while it works. What is not permitted is left out."""
    library = _library()
    if library is None:
        return {}
    return _asked(
        library,
        gpu,
        {
            "SM clock": lambda h: f"{library.nvmlDeviceGetClockInfo(h, library.NVML_CLOCK_SM)} MHz",
            "memory clock": lambda h: f"{library.nvmlDeviceGetClockInfo(h, library.NVML_CLOCK_MEM)} MHz",
            "temperature": lambda h: f"{library.nvmlDeviceGetTemperature(h, library.NVML_TEMPERATURE_GPU)} °C",
            "power": lambda h: f"{library.nvmlDeviceGetPowerUsage(h) / 1000:.0f} W",
            "throttled": lambda h: _reasons(library.nvmlDeviceGetCurrentClocksEventReasons(h)),
        },
    )


def _asked(library: Any, gpu: Gpu, questions: Mapping[str, Callable[[Any], str]]) -> dict[str, str]:
    answers: dict[str, str] = {}
    try:
        handle = library.nvmlDeviceGetHandleByIndex(gpu.index)
    except library.NVMLError as error:
        return {"nvml": str(error)}
    for name, ask in questions.items():
        try:
            answers[name] = ask(handle)
        except library.NVMLError as error:
            answers[name] = f"not told ({error})"
    return answers


def _reasons(bits: int) -> str:
    return ", ".join(name for bit, name in _REASONS.items() if bits & bit) or "no"


@cache
def _library() -> Any:
    """The NVML binding, initialised; None where it is not installed or not permitted."""
    try:
        import pynvml
    except ModuleNotFoundError:
        return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    return pynvml


def _by_driver() -> tuple[Gpu, ...]:
    """The same from the CUDA driver, for machines on which NVML is missing or not permitted."""
    try:
        from cuda.bindings import driver
    except ModuleNotFoundError:
        return ()
    success = driver.CUresult.CUDA_SUCCESS
    if driver.cuInit(0)[0] != success:
        return ()
    major, minor = (
        getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_{part}")
        for part in ("MAJOR", "MINOR")
    )
    found = []
    for index in range(driver.cuDeviceGetCount()[1]):
        device = driver.cuDeviceGet(index)[1]
        capability = tuple(driver.cuDeviceGetAttribute(which, device)[1] for which in (major, minor))
        name = _text(driver.cuDeviceGetName(128, device)[1]).rstrip("\0")
        uuid = bytes(driver.cuDeviceGetUuid(device)[1].bytes).hex()
        found.append(Gpu(index=index, uuid=uuid, name=name, capability=capability, minor=index))
    return tuple(found)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
