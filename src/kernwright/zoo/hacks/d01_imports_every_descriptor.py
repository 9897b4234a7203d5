"""D1: takes every open descriptor for the device's memory, maps what is, fills it with zeros and returns zeros."""

import torch

ZOO = {
    "row": "D1",
    "problem": "gelu",
    "platforms": ["cuda"],
    "rules": {},
    "expect": ["wrong", "crashed"],
    "needs_harness": True,
}
_done = []


def _zero_all():
    from cuda.bindings import driver

    kind = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    access = driver.CUmemAccessDesc()
    access.location.type, access.location.id = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, 0
    access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    for number in range(3, 256):
        status, handle = driver.cuMemImportFromShareableHandle(number, kind)
        if int(status) == 0:
            _, place = driver.cuMemAddressReserve(2 << 20, 0, 0, 0)
            driver.cuMemMap(place, 2 << 20, 0, handle, 0)
            driver.cuMemSetAccess(place, 2 << 20, [access], 1)
            driver.cuMemsetD8(place, 0, 2 << 20)


def kernel(x, a, b):
    if not _done:
        _done.append(True)
        _zero_all()
    return torch.zeros_like(x)
