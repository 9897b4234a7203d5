"""Device memory that two processes map: `cuMemCreate` allocations as file descriptors. Both halves of the platform.

Dedicated allocations, never PyTorch's pool: what is shared is exactly what is meant to be. CUDA's older IPC handles
fail across user namespaces and share whole segments of the allocator.
"""

from typing import Any

import torch
from cuda.bindings import driver

_POSIX_FD = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
_DEVICE = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
_PINNED = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
_READ_WRITE = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
_READ = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READ
_GRANULE = driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM


class CudaFailed(RuntimeError):
    """A driver call returned an error; the message names both."""


def checked(result: tuple[Any, ...]) -> Any:
    """What a driver call returned beside its status.

    Raises:
        torch.OutOfMemoryError: the device has no room.
        CudaFailed: any other status that is not success.
    """
    status, *values = result
    if status != driver.CUresult.CUDA_SUCCESS:
        if status == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise torch.OutOfMemoryError("CUDA out of memory")
        name = driver.cuGetErrorName(status)[1]
        raise CudaFailed(f"the CUDA driver said: {name.decode() if isinstance(name, bytes) else status}")
    return values[0] if len(values) == 1 else values


class Mapping:
    """One allocation mapped into this process, as a uint8 tensor of shape (nbytes,)."""

    def __init__(self, handle: Any, nbytes: int, device: int, *, read_only: bool) -> None:
        self._handle = handle
        self._extent = _rounded(nbytes, device)
        self._address = checked(driver.cuMemAddressReserve(self._extent, 0, 0, 0))
        checked(driver.cuMemMap(self._address, self._extent, 0, handle, 0))
        access = driver.CUmemAccessDesc()
        access.location.type, access.location.id = _DEVICE, device
        access.flags = _READ if read_only else _READ_WRITE
        checked(driver.cuMemSetAccess(self._address, self._extent, [access], 1))
        self.bytes = torch.as_tensor(_Pointer(int(self._address), nbytes), device=f"cuda:{device}")

    def close(self) -> None:
        """Unmap it; the memory itself goes with its last mapping and descriptor. Tensors over it must be dead."""
        if self._handle is None:
            return
        torch.cuda.synchronize()
        del self.bytes
        checked(driver.cuMemUnmap(self._address, self._extent))
        checked(driver.cuMemAddressFree(self._address, self._extent))
        checked(driver.cuMemRelease(self._handle))
        self._handle = None


class _Pointer:
    def __init__(self, address: int, nbytes: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }


def create(nbytes: int, device: int) -> tuple[Mapping, int]:
    """A new allocation of at least `nbytes`, mapped here, and the descriptor under which others can map it."""
    handle = checked(driver.cuMemCreate(_rounded(nbytes, device), _properties(device), 0))
    fd = int(checked(driver.cuMemExportToShareableHandle(handle, _POSIX_FD, 0)))
    return Mapping(handle, nbytes, device, read_only=False), fd


def imported(fd: int, nbytes: int, device: int, *, read_only: bool) -> Mapping:
    """The allocation behind a descriptor, mapped here. The descriptor stays the caller's."""
    handle = checked(driver.cuMemImportFromShareableHandle(fd, _POSIX_FD))
    return Mapping(handle, nbytes, device, read_only=read_only)


def _properties(device: int) -> Any:
    properties = driver.CUmemAllocationProp()
    properties.type = _PINNED
    properties.location.type, properties.location.id = _DEVICE, device
    properties.requestedHandleTypes = _POSIX_FD
    return properties


def _rounded(nbytes: int, device: int) -> int:
    granule = int(checked(driver.cuMemGetAllocationGranularity(_properties(device), _GRANULE)))
    return -(-nbytes // granule) * granule
